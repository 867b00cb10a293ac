#include "cli/rules/target.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "cli/exit_code.hpp"
#include "cli/rules/problems.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& folder) {
  return folder == "." ? "this folder" : folder.string();
}

// Whether a folder holds worker configurations, and not just TOML of some other program.
bool looks_like_configurations(const fs::path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (!rules::is_configuration_file(entry.path().string()) || !entry.is_regular_file(code))
      continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string head(65536, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(in.gcount()));
    if (head.find("workerTypes") != std::string::npos ||
        head.find("[[rules]]") != std::string::npos)
      return true;
  }
  return false;
}

// Worker configurations: all but facts.toml.
std::vector<std::string> file_stems(const Folder& folder) {
  std::vector<std::string> stems;
  for (const auto& file : folder.files)
    if (const fs::path path(file.name); path.filename() != rules::facts_file_name)
      stems.push_back(path.stem().string());
  return stems;
}

std::vector<std::string> worker_type_names(const Folder& folder) {
  std::vector<std::string> names;
  for (const auto& [id, document] : folder.set.documents())
    for (const auto& type : document->worker_types) names.push_back(type.name);
  return names;
}

bool is_path(const std::string& name) {
  std::error_code code;
  return (name.find('/') != std::string::npos && !name.starts_with("worker-manager/")) ||
         ((name.ends_with(".toml") || name.ends_with(".json")) && fs::exists(name, code));
}

const rules::SourceFile* find_source(const Folder& folder, std::string_view stem) {
  for (const auto& file : folder.files)
    if (const fs::path path(file.name);
        path.stem() == stem && path.filename() != rules::facts_file_name)
      return &file;
  return nullptr;
}

// The id (and then maybe worker type) of a name in one folder.
std::optional<std::string> id_in(const Folder& folder, const std::string& name, bool worker_types) {
  if (find_source(folder, name)) return name;
  if (!worker_types) return std::nullopt;
  if (const auto* document = folder.set.find_by_worker_type(name)) return document->id;
  return std::nullopt;
}

[[noreturn]] void fail_unknown(const std::string& name, const std::vector<Folder>& folders,
                               bool worker_types, bool as_json) {
  if (folders.empty())
    fail(exit_usage, "No worker configurations here; go to their folder or name it with --dir.",
         as_json);
  std::vector<std::string> known;
  std::string places;
  for (const auto& folder : folders) {
    for (auto& stem : file_stems(folder)) known.push_back(std::move(stem));
    if (worker_types)
      for (auto& type : worker_type_names(folder)) known.push_back(std::move(type));
    places += (places.empty() ? "" : " or ") + shown(folder.path);
  }
  std::string sentence = std::string("No worker configuration ") +
                         (worker_types ? "or worker type " : "") + "`" + name + "` in " + places;
  const auto near = rules::nearest_name(name, known);
  if (!near.empty()) {
    sentence += "; did you mean `" + near + "`?";
  } else {
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    sentence += "; there is ";
    for (std::size_t i = 0; i < known.size() && i < 8; ++i) sentence += (i ? ", " : "") + known[i];
    sentence += known.size() > 8 ? ", ..." : ".";
  }
  fail(exit_usage, sentence, as_json);
}

struct FoundFolder {
  Folder folder;
  std::string id;
};

std::string read(const fs::path& path, bool as_json) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(exit_failed, "Cannot read " + path.string() + ".", as_json);
  std::string text(rules::Limits().max_file_bytes + 1, '\0');  // more than allowed is enough
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// `build` for `build.toml`, and the worker type of a whole `worker-manager/build-opt`.
std::string plain_name(std::string name) {
  constexpr std::string_view pool = "worker-manager/";
  if (name.starts_with(pool)) return name.substr(pool.size());
  if (name.ends_with(".toml") || name.ends_with(".json")) name.resize(name.size() - 5);
  return name;
}

FoundFolder find_by_path(const std::string& name, bool as_json) {
  std::error_code code;
  const fs::path path(name);
  if (fs::is_directory(path, code))
    fail(exit_usage, name + " is a folder; name one worker configuration in it.", as_json);
  if (!fs::exists(path, code)) fail(exit_usage, "There is no file " + name + ".", as_json);
  if (!rules::is_configuration_file(name))
    fail(exit_usage, name + " is not a worker configuration: its name must end in .toml or .json.",
         as_json);
  if (!fs::is_regular_file(path, code)) fail(exit_usage, name + " is not a file.", as_json);
  // Only this file and the facts beside it: what else stands there is not asked for.
  const auto parent = path.parent_path();
  std::vector<rules::SourceFile> files = {{tidy(path), read(path, as_json)}};
  if (const auto facts = parent / rules::facts_file_name;
      path.filename() != rules::facts_file_name && fs::is_regular_file(facts, code))
    files.push_back({tidy(facts), read(facts, as_json)});
  auto set = rules::ConfigurationSet::from_files(files);
  return {{tidy(parent), std::move(files), std::move(set)}, path.stem().string()};
}

FoundFolder find_name(const std::string& typed, const std::string& dir, bool worker_types,
                      bool as_json) {
  if (is_path(typed)) return find_by_path(typed, as_json);
  const auto name = plain_name(typed);
  std::vector<Folder> folders;
  const auto paths = dir.empty() ? usual_folders() : std::vector<fs::path>{dir};
  for (const auto& path : paths) {
    auto folder = load_folder(path, as_json);
    if (auto id = id_in(folder, name, worker_types)) return {std::move(folder), std::move(*id)};
    folders.push_back(std::move(folder));
  }
  fail_unknown(name, folders, worker_types, as_json);
}

}  // namespace

void fail(int code, std::string_view sentence, bool as_json) {
  throw CommandFailure{code, std::string(sentence), code == exit_usage ? "usage" : "failed",
                       as_json};
}

std::string tidy(const fs::path& path) {
  auto text = path.lexically_normal().string();
  return text.empty() ? "." : text;
}

Folder load_folder(const fs::path& typed, bool as_json) {
  const fs::path path = typed.empty() ? "." : typed;
  std::error_code code;
  if (!fs::exists(path, code)) fail(exit_usage, "There is no folder " + tidy(path) + ".", as_json);
  if (!fs::is_directory(path, code)) fail(exit_usage, tidy(path) + " is not a folder.", as_json);
  auto files = rules::read_folder(path);
  if (!files) fail(exit_failed, files.error().message + ".", as_json);
  for (auto& file : *files) file.name = tidy(file.name);
  auto set = rules::ConfigurationSet::from_files(*files);
  return {tidy(path), std::move(*files), std::move(set)};
}

std::vector<fs::path> usual_folders() {
  std::error_code code;
  // Relative paths, so that messages name files as a person would. Above the current folder only
  // what belongs to the same checkout counts: elsewhere could be anybody's files.
  std::vector<fs::path> levels = {"."};
  for (fs::path above = "."; !fs::exists(above / ".git", code);) {
    if (fs::equivalent(above, above / "..", code) || levels.size() > 64) {
      levels.resize(1);
      break;
    }
    above = above == "." ? fs::path("..") : above / "..";
    levels.push_back(above);
  }
  std::vector<fs::path> found;
  for (const auto& level : levels) {
    for (const char* below : {"", "workers", "configs/workers", "configs"})
      if (const auto folder = *below ? level / below : level;
          fs::is_directory(folder, code) && looks_like_configurations(folder))
        found.push_back(folder.lexically_normal());
    if (!found.empty()) break;
  }
  return found;
}

fs::path default_folder(bool as_json) {
  const auto folders = usual_folders();
  if (folders.empty())
    fail(exit_usage,
         "No worker configurations in this folder, ./configs/workers or ./configs; name their "
         "folder.",
         as_json);
  return folders.front();
}

Target find_target(const std::string& name, const std::string& dir, bool worker_types,
                   bool as_json) {
  auto found = find_name(name, dir, worker_types, as_json);
  Target target{std::move(found.folder), nullptr, std::nullopt};
  target.document = target.folder.set.find(found.id);
  if (!target.document) {
    const auto* source = find_source(target.folder, found.id);
    const auto file = source ? source->name : name;
    auto problems = target.folder.set.problems();
    std::erase_if(problems, [&](const auto& problem) {
      return problem.position.file != file || problem.severity != rules::Severity::error;
    });
    if (problems.empty()) fail(exit_failed, file + " cannot be used.", as_json);
    if (as_json)
      print_json({{"problems", problems_json(problems)}});
    else
      std::fputs(problems_text(problems, target.folder.files, Style::of_stderr()).c_str(), stderr);
    throw Exit{exit_failed};
  }
  const auto& types = target.document->worker_types;
  const auto plain = plain_name(name);
  if (found.id != plain && target.folder.set.find_by_worker_type(plain) == target.document)
    target.worker_type = plain, target.names_worker_type = true;
  else if (types.size() == 1)
    target.worker_type = types.front().name;
  return target;
}

fs::path find_file(const std::string& name, const std::string& dir, bool as_json) {
  const auto found = find_name(name, dir, false, as_json);
  const auto* source = find_source(found.folder, found.id);
  if (!source) fail(exit_usage, name + " is not a worker configuration.", as_json);
  return source->name;
}

rules::Facts parse_facts(const std::vector<std::string>& texts, bool as_json) {
  rules::Facts facts;
  for (const auto& text : texts) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0)
      fail(exit_usage,
           "A fact is written name=value, such as region=us-east-1; not `" + text + "`.", as_json);
    const auto name = text.substr(0, at), value = text.substr(at + 1);
    if (!facts.emplace(name, value).second)
      fail(exit_usage, "The fact `" + name + "` is given twice.", as_json);
  }
  return facts;
}

void note_unknown_facts(const rules::Facts& facts, const Target& target) {
  std::set<std::string> names(rules::general_fact_names().begin(),
                              rules::general_fact_names().end());
  if (target.folder.set.known())
    for (auto& name : target.folder.set.known()->fact_names()) names.insert(name);
  for (const auto& rule : target.document->rules)
    for (const auto& clause : rule.any_of)
      for (const auto& condition : clause.all_of) names.insert(condition.fact);
  const std::vector<std::string> known(names.begin(), names.end());
  for (const auto& [name, value] : facts) {
    if (names.contains(name)) continue;
    if (const auto near = rules::nearest_name(name, known); !near.empty())
      std::fprintf(stderr, "muster: no condition asks for the fact `%s`; did you mean `%s`?\n",
                   name.c_str(), near.c_str());
  }
}

}  // namespace muster::cli
