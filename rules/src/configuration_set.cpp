#include <algorithm>

#include <muster/rules/configuration_set.hpp>

#include "parallel.hpp"

namespace muster::rules {
namespace {

namespace fs = std::filesystem;

std::string base_name(std::string_view file) {
  return fs::path(file).filename().string();
}

bool claims_nothing_of_others(const Document& document, const WorkerTypeOwners& owners) {
  return std::ranges::all_of(document.worker_types, [&](const WorkerType& type) {
    const auto owner = owners.find(type.name);
    return owner == owners.end() || owner->second == document.file;
  });
}

}  // namespace

bool is_configuration_file(std::string_view file_name) {
  const std::string name = base_name(file_name);
  return !name.starts_with('.') && (name.ends_with(".toml") || name.ends_with(".json")) &&
         name != "host.toml" && name != "muster.toml" && name != "simulation.toml";
}

ConfigurationSet ConfigurationSet::from_files(std::span<const SourceFile> files,
                                              const Limits& limits, std::optional<KnownFacts> known,
                                              const WorkerTypeOwners& owners) {
  ConfigurationSet set;
  set.limits_ = limits;
  set.known_ = std::move(known);
  for (const SourceFile& file : files) {
    if (!file.unreadable.empty())
      set.report({{Severity::error, {file.name, {}}, "", file.unreadable, "", "unreadableFile"}});
    if (base_name(file.name) != facts_file_name || set.known_ || !file.unreadable.empty()) continue;
    ParsedKnownFacts parsed = parse_known_facts(file.text, file.name, limits);
    if (!has_errors(parsed.problems)) set.known_ = std::move(parsed.known);
    set.report(std::move(parsed.problems));
  }
  std::vector<Parsed> parsed(files.size());
  for_each_index(files.size(), [&](std::size_t i) {
    if (base_name(files[i].name) != facts_file_name && files[i].unreadable.empty())
      parsed[i] = parse_document(files[i].text, files[i].name, limits);
  });
  // Those that claim what is another file's come last.
  std::ranges::stable_partition(parsed, [&](const Parsed& each) {
    return !each.document || claims_nothing_of_others(*each.document, owners);
  });
  for (Parsed& each : parsed) {
    set.report(std::move(each.problems));
    if (each.document) set.add(std::move(each.document));
  }
  for (Parsed& each : parsed)
    if (each.incomplete) set.add_incomplete(std::move(each.incomplete));
  sort_problems(set.problems_);
  return set;
}

void ConfigurationSet::report(Problems problems) {
  problems_.insert(problems_.end(), std::make_move_iterator(problems.begin()),
                   std::make_move_iterator(problems.end()));
}

// What keeps the document from being used beside those that are in the set.
Problems ConfigurationSet::conflicts_of(const Document& document) const {
  Problems problems = known_ ? check_condition_names(document, *known_) : Problems{};
  if (const Document* other = find(document.id))
    problems.push_back(
        {Severity::error, document.at({}), "",
         "the configuration id " + in_quotes(other->id) + " is taken by " + other->file,
         "rename one of the files", "duplicateConfigurationId"});
  for (const WorkerType& type : document.worker_types)
    if (const Document* other = find_by_worker_type(type.name))
      problems.push_back(
          {Severity::error, document.at(type.position), "workerTypes",
           "the worker type " + in_quotes(type.name) + " stands in " + other->file + " too",
           "worker types are unique over all files: remove it from one", "duplicateWorkerType"});
  return problems;
}

void ConfigurationSet::add_incomplete(std::shared_ptr<const Document> document) {
  report(conflicts_of(*document));
  incomplete_.push_back(std::move(document));
}

// The first of two files that claim the same keeps it.
void ConfigurationSet::add(std::shared_ptr<const Document> document) {
  Problems problems = conflicts_of(*document);
  const bool usable = !has_errors(problems);
  report(std::move(problems));
  if (!usable) return rejected_.push_back(std::move(document));
  for (const WorkerType& type : document->worker_types)
    worker_types_.emplace(type.name, document->id);
  documents_.emplace(document->id, std::move(document));
}

const Document* ConfigurationSet::find(std::string_view id) const {
  const auto found = documents_.find(id);
  return found == documents_.end() ? nullptr : found->second.get();
}

const Document* ConfigurationSet::find_by_worker_type(std::string_view worker_type) const {
  const auto found = worker_types_.find(worker_type);
  return found == worker_types_.end() ? nullptr : find(found->second);
}

Result<ConfigurationSet> load_folder(const fs::path& folder, const Limits& limits) {
  auto files = read_folder(folder, limits);
  if (!files) return files.error();
  return ConfigurationSet::from_files(*files, limits);
}

}  // namespace muster::rules
