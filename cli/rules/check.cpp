// `muster check`: is everything in this folder right?
#include <algorithm>
#include <memory>

#include <muster/plural.hpp>

#include "cli/command.hpp"
#include "cli/rules/commands.hpp"
#include "cli/rules/judge.hpp"
#include "cli/rules/problems.hpp"
#include "cli/rules/target.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::string path;
  std::string format = "text";
  bool json = false;
  bool strict = false;
  JudgeOptions judge = {};
};

struct Counts {
  std::size_t files = 0, worker_types = 0, launch_configurations = 0, errors = 0, warnings = 0;
};

// `only` given: of that file.
Counts count(const Folder& folder, const rules::Problems& problems, const std::string& only) {
  Counts counts;
  for (const auto& file : folder.files)
    counts.files += fs::path(file.name).filename() != rules::facts_file_name &&
                    (only.empty() || file.name == only);
  for (const auto& [id, document] : folder.set.documents()) {
    if (!only.empty() && document->file != only) continue;
    counts.worker_types += document->worker_types.size();
    counts.launch_configurations += folder.set.count_combinations(*document);
  }
  for (const auto& problem : problems)
    ++(problem.severity == rules::Severity::error ? counts.errors : counts.warnings);
  return counts;
}

std::string summary(const Counts& counts, const Style& style) {
  if (counts.errors + counts.warnings == 0) {
    std::string text = count_of(counts.files, "worker configuration") + ", " +
                       count_of(counts.worker_types, "worker type");
    if (counts.launch_configurations > 0)
      text += ", " + count_of(counts.launch_configurations, "launch configuration");
    return style(Look::green, "ok:") + " " + text + "\n";
  }
  std::string text;
  if (counts.errors > 0) text += count_of(counts.errors, "error");
  if (counts.errors > 0 && counts.warnings > 0) text += " and ";
  if (counts.warnings > 0) text += count_of(counts.warnings, "warning");
  return style(counts.errors > 0 ? Look::red : Look::yellow, text) + " in " +
         count_of(counts.files, "worker configuration") + "\n";
}

json::object to_json(const Counts& counts, const Judgement& judgement) {
  return {{"ok", counts.errors == 0},
          {"errors", counts.errors},
          {"warnings", counts.warnings},
          {"configurations", counts.files},
          {"workerTypes", counts.worker_types},
          {"launchConfigurations", counts.launch_configurations},
          {"problems", problems_json(judgement.problems)},
          {"notes", json::array(judgement.notes.begin(), judgement.notes.end())}};
}

void run(const CheckOptions& options) {
  const bool as_json = options.json || options.format == "json";
  std::error_code code;
  const bool one_file = !options.path.empty() && fs::is_regular_file(options.path, code);
  if (one_file && !rules::is_configuration_file(options.path))
    fail(exit_usage,
         options.path +
             " is not a worker configuration: its name must end in .toml or "
             ".json.",
         as_json);
  const auto path = one_file               ? fs::path(options.path).parent_path()
                    : options.path.empty() ? default_folder(as_json)
                                           : fs::path(options.path);
  const auto folder = load_folder(path, as_json);
  Judgement judgement = judge(folder.files, options.judge, as_json);
  rules::Problems& problems = judgement.problems;
  const auto only = one_file ? tidy(options.path) : "";
  if (one_file)
    std::erase_if(problems, [&](const auto& problem) { return problem.position.file != only; });
  const auto counts = count(folder, problems, only);
  if (counts.files == 0 && !one_file)
    fail(exit_failed,
         "No worker configurations in " +
             (folder.path == "." ? "this folder" : folder.path.string()) + ".",
         as_json);
  const auto style = Style::of_stdout();
  if (as_json) {
    print_json(to_json(counts, judgement));
  } else if (options.format == "github") {
    print(problems_github(problems));
    print(summary(counts, style));
  } else {
    print(problems_text(problems, folder.files, style));
    print(summary(counts, style));
  }
  if (!as_json)
    for (const std::string& note : judgement.notes)
      std::fprintf(stderr, "muster: not everything is checked: %s\n", note.c_str());
  if (counts.errors > 0 || (options.strict && (counts.warnings > 0 || !judgement.notes.empty())))
    throw Exit{exit_failed};
}

}  // namespace

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  auto* command = app.add_subcommand("check", "Check worker configurations");
  command->footer(
      "What a host would refuse is an error here: the schemas are those of the plugins that come "
      "with\n"
      "muster. A plugin of your own gives its schema with --plugins. --host asks a host that runs, "
      "which\n"
      "judges with all its providers and changes nothing.\n"
      "\n"
      "Exit code: 0 no errors, 1 errors found, 2 wrong command line.\n"
      "Example: muster check configs/workers --format=github");
  command->add_option("path", options->path,
                      "Folder with worker configurations, or one of its files "
                      "[default: ., ./configs/workers or ./configs]");
  command->add_option("--format", options->format, "text, github (annotations) or json")
      ->check(CLI::IsMember({"text", "github", "json"}));
  command->add_flag("--json", options->json, "Print JSON; the same as --format=json");
  command->add_flag("--strict", options->strict,
                    "Exit with 1 on warnings too, and if something could not be checked");
  auto* plugins =
      command->add_option("--plugins", options->judge.plugin_folders,
                          "Folder with plugins of your own, whose sections are checked too");
  command
      ->add_option("--host", options->judge.host.url,
                   "Let this host judge: its address, such as http://127.0.0.1:8600")
      ->excludes(plugins);
  command->add_option("--token", options->judge.host.token, "Token for the host [MUSTER_TOKEN]");
  command->add_option("--ca-file", options->judge.host.ca_file,
                      "Certificates that the host's may be signed by [MUSTER_CA_FILE]");
  command->callback([options] { run(*options); });
}

}  // namespace muster::cli
