// `muster diff`: what does this change do to the fleet?
#include <cstdio>
#include <memory>
#include <set>

#include <muster/plural.hpp>

#include "cli/command.hpp"
#include "cli/rules/commands.hpp"
#include "cli/rules/effects.hpp"
#include "cli/rules/problems.hpp"
#include "cli/rules/revision.hpp"
#include "cli/rules/target.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct DiffOptions {
  std::vector<std::string> words;  // REV1 [REV2] [DIR], or two folders
  bool json = false;
  bool exit_code = false;
};

struct Side {
  std::string name;  // revision, or the folder's path
  std::vector<rules::SourceFile> files;
  rules::ConfigurationSet set;
};

struct Sides {
  Side before, after;
};

bool is_folder(const std::string& name) {
  std::error_code code;
  return fs::is_directory(name, code);
}

Side from_files(std::string name, std::vector<rules::SourceFile> files) {
  auto set = rules::ConfigurationSet::from_files(files);
  return {std::move(name), std::move(files), std::move(set)};
}

Side from_folder(const fs::path& path, bool as_json) {
  auto folder = load_folder(path, as_json);
  return {folder.path.string(), std::move(folder.files), std::move(folder.set)};
}

Side from_revision(const Repository& repository, const std::string& revision,
                   const fs::path& folder, bool as_json) {
  const auto commit = repository.commit(revision);
  if (!commit)
    fail(exit_usage,
         "There is no revision `" + revision + "`" +
             (is_folder(revision) ? " (it is a folder; compare two folders or two "
                                    "revisions)."
                                  : "."),
         as_json);
  auto files = repository.read(*commit, folder);
  if (!files) fail(exit_failed, files.error().message, as_json);
  return from_files(revision, std::move(*files));
}

// `a..b` is `a b`, as for git.
std::vector<std::string> split_range(std::vector<std::string> words) {
  const auto dots = words.front().find("..");
  if (dots == std::string::npos || is_folder(words.front())) return words;
  const auto first = words.front();
  words[0] = dots == 0 ? "HEAD" : first.substr(0, dots);
  auto second = first.substr(first.find_first_not_of('.', dots) == std::string::npos
                                 ? first.size()
                                 : first.find_first_not_of('.', dots));
  words.insert(words.begin() + 1, second.empty() ? "HEAD" : second);
  return words;
}

Sides sides_of(const DiffOptions& options) {
  auto words = split_range(options.words);
  const auto here = Repository::around(".");
  const auto is_revision = [&](const std::string& name) { return here && here->commit(name); };
  const bool folders = is_folder(words[0]) && !is_revision(words[0]);
  if (folders && words.size() <= 2)
    return {from_folder(words[0], options.json),
            from_folder(words.size() == 2 ? fs::path(words[1]) : default_folder(options.json),
                        options.json)};
  if (words.size() > 3)
    fail(exit_usage, "At most two revisions and a folder can be named.", options.json);

  const bool last_is_folder =
      words.size() == 3 || (words.size() == 2 && is_folder(words[1]) && !is_revision(words[1]));
  fs::path folder;
  if (last_is_folder) {
    folder = words.back();
    words.pop_back();
  } else {
    folder = default_folder(options.json);
  }
  const auto repository = Repository::around(folder);
  if (!repository) fail(exit_failed, repository.error().message, options.json);
  auto before = from_revision(*repository, words[0], folder, options.json);
  if (words.size() == 2)
    return {std::move(before), from_revision(*repository, words[1], folder, options.json)};
  return {std::move(before), from_folder(folder, options.json)};
}

std::string verb(const Effect& effect) {
  const std::string actor = effect.rule_removed ? "removal of " + effect.rule : effect.rule;
  const std::string what = !effect.before ? " added " : !effect.after ? " removed " : " changed ";
  return actor + what;
}

std::string change_text(const Effect& effect) {
  if (!effect.before) return show(*effect.after);
  if (!effect.after) return "was " + show(*effect.before);
  return show(*effect.before) + " → " + show(*effect.after);
}

std::string effect_text(const Effect& effect, const Style& style) {
  const auto look = !effect.before ? Look::green : !effect.after ? Look::red : Look::yellow;
  std::string noun = effect.noun + (effect.all == 1 ? "" : "s");
  std::string text = "  " + style(look, verb(effect)) + style(Look::bold, effect.key) + " for " +
                     std::to_string(effect.count) + " of " + std::to_string(effect.all) + " " +
                     noun + ": " + style(Look::plain, change_text(effect)) + "  " +
                     style(Look::dim, effect.file + ":" + std::to_string(effect.line)) + "\n";
  constexpr std::size_t shown = 6;
  for (std::size_t i = 0; i < effect.where.size() && i < shown; ++i)
    text += "      " + style(Look::cyan, to_string(effect.where[i])) + "\n";
  if (effect.where.size() > shown)
    text +=
        "      " +
        style(Look::dim, "and " + std::to_string(effect.where.size() - shown) + " more groups") +
        "\n";
  return text;
}

std::string arrival_text(const Arrival& arrival, const Style& style) {
  const auto look = arrival.added ? Look::green : Look::red;
  const std::string sign = arrival.added ? "  + " : "  - ";
  const auto size = count_of(arrival.launch_configurations, "launch configuration");
  switch (arrival.what) {
    case Arrival::What::configuration:
      return style(look, sign + (arrival.added ? "new configuration" : "configuration is gone")) +
             (arrival.launch_configurations ? " (" + size + ")" : "") + "\n";
    case Arrival::What::worker_type:
      return style(look, sign + "worker type " + arrival.name) +
             (arrival.launch_configurations ? " (" + size + ")" : "") + "\n";
    default:
      return style(look, sign + size) + ": " + style(Look::cyan, arrival.name) + "\n";
  }
}

std::string effects_text(const Effects& effects, const Style& style) {
  std::string out;
  std::string configuration;
  const auto heading = [&](const std::string& id) {
    if (id == configuration) return;
    out += (out.empty() ? "" : "\n") + style(Look::bold, id) + "\n";
    configuration = id;
  };
  std::set<std::string> ids;
  for (const auto& arrival : effects.arrivals) ids.insert(arrival.configuration);
  for (const auto& effect : effects.effects) ids.insert(effect.configuration);
  for (const auto& id : ids) {
    heading(id);
    for (const auto& arrival : effects.arrivals)
      if (arrival.configuration == id) out += arrival_text(arrival, style);
    for (const auto& effect : effects.effects)
      if (effect.configuration == id) out += effect_text(effect, style);
  }
  return out;
}

json::value to_json(const Effects& effects, const Sides& sides) {
  json::array arrivals, changes, skipped;
  for (const auto& arrival : effects.arrivals) {
    json::object object = {{"configuration", arrival.configuration},
                           {"change", arrival.added ? "added" : "removed"},
                           {"launchConfigurations", arrival.launch_configurations}};
    switch (arrival.what) {
      case Arrival::What::configuration:
        object["what"] = "configuration";
        break;
      case Arrival::What::worker_type:
        object["what"] = "workerType";
        object["workerType"] = arrival.name;
        break;
      default:
        object["what"] = "launchConfigurations";
        object["where"] = arrival.name;
    }
    arrivals.push_back(std::move(object));
  }
  for (const auto& effect : effects.effects) {
    json::array where;
    for (const auto& box : effect.where) where.push_back(json::value(to_string(box)));
    json::object object = {{"configuration", effect.configuration},
                           {"rule", effect.rule},
                           {"ruleRemoved", effect.rule_removed},
                           {"file", effect.file},
                           {"line", effect.line},
                           {"key", effect.key},
                           {"of", effect.noun},
                           {"count", effect.count},
                           {"all", effect.all},
                           {"where", std::move(where)}};
    if (effect.before) object["before"] = *effect.before;
    if (effect.after) object["after"] = *effect.after;
    changes.push_back(std::move(object));
  }
  for (const auto& id : effects.skipped) skipped.push_back(json::value(id));
  return {{"before", sides.before.name},
          {"after", sides.after.name},
          {"arrivals", arrivals},
          {"changes", changes},
          {"skipped", skipped}};
}

// Errors of either side, each once, on stderr. True if there are any.
bool report_errors(const Sides& sides) {
  bool any = false;
  for (const auto* side : {&sides.before, &sides.after}) {
    auto problems = side->set.problems();
    std::erase_if(problems, [](const auto& p) { return p.severity != rules::Severity::error; });
    if (problems.empty()) continue;
    any = true;
    std::fprintf(stderr, "muster: %s cannot be compared in full:\n", side->name.c_str());
    std::fputs(problems_text(problems, side->files, Style::of_stderr()).c_str(), stderr);
  }
  return any;
}

void run(const DiffOptions& options) {
  const auto sides = sides_of(options);
  if (sides.before.files.empty() && sides.after.files.empty())
    fail(exit_failed, "There are no worker configurations on either side.", options.json);
  for (const auto* side : {&sides.before, &sides.after})
    if (side->files.empty())
      std::fprintf(stderr, "muster: there are no worker configurations in %s\n",
                   side->name.c_str());
  const auto effects = compare(sides.before.set, sides.after.set);
  const bool differs = !effects.arrivals.empty() || !effects.effects.empty();
  const bool errors = report_errors(sides);
  if (options.json)
    print_json(to_json(effects, sides));
  else if (differs)
    print(effects_text(effects, Style::of_stdout()));
  else if (!errors)
    print("no effective difference\n");
  if (errors || (options.exit_code && differs)) throw Exit{exit_failed};
}

}  // namespace

void add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  auto* command =
      app.add_subcommand("diff", "Show what a change does to the evaluated worker configurations");
  command->footer(
      "REV1 is compared with REV2, or with the files as they are now.\n"
      "Examples: muster diff HEAD\n"
      "          muster diff main..my-branch\n"
      "          muster diff origin/main HEAD configs/workers");
  command
      ->add_option("revisions", options->words,
                   "REV1 [REV2] [DIR]: git revisions and a folder; or two folders")
      ->required();
  command->add_flag("--exit-code", options->exit_code, "Exit with 1 if something differs");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { run(*options); });
}

}  // namespace muster::cli
