#include "host/pools/held_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace muster::pools {
namespace {

using WorkerTypes = std::vector<std::string>;

// Nothing if the text does not say, or cannot be understood.
std::optional<WorkerTypes> worker_types_of(const rules::SourceFile& file) {
  if (std::filesystem::path(file.name).filename() == rules::facts_file_name) return WorkerTypes();
  if (!file.unreadable.empty()) return std::nullopt;
  const rules::Parsed parsed = rules::parse_document(file.text, file.name);
  const auto& document = parsed.document ? parsed.document : parsed.incomplete;
  if (!document || document->worker_types.empty()) return std::nullopt;
  WorkerTypes types;
  for (const rules::WorkerType& type : document->worker_types) types.push_back(type.name);
  return types;
}

bool contains(const WorkerTypes& types, const std::string& type) {
  return std::ranges::find(types, type) != types.end();
}

class Selecting {
 public:
  Selecting(Builder& builder, const SourceFiles& newest,
            const std::vector<rules::SourceFile>& last_good, const ProviderContext& context,
            const Expand& expand)
      : builder_(builder), newest_(newest), context_(context), expand_(expand) {
    for (const rules::SourceFile& file : last_good) candidates_[file.name].good = &file;
    for (const rules::SourceFile& file : newest.files) candidates_[file.name].newest = &file;
    const bool changed = std::ranges::any_of(
        candidates_, [](const auto& entry) { return entry.second.has_changed(); });
    if (changed) find_owners();  // else nothing can have moved
  }

  // Each round that does not end takes one version at least out of the race, so there is an end.
  Selection run() {
    Selection selection;
    rules::Problems problems;
    for (bool first = true, changed = true; changed; first = false) {
      selection.serving = files();
      selection.outcome =
          builder_.build(selection.serving, newest_.revision, context_, expand_, owners_);
      if (first) problems = selection.outcome.problems;
      changed = step_back(selection.outcome) || hold_takers() || hold_dependents();
    }
    selection.outcome.problems = std::move(problems);
    finish(selection);
    return selection;
  }

 private:
  enum class Use { newest, last_good, nothing };
  struct Candidate {
    const rules::SourceFile* newest = nullptr;  // null: it was removed
    const rules::SourceFile* good = nullptr;    // null: it has never served
    WorkerTypes good_types = {};
    Use use = Use::newest;
    std::string reason = {};

    bool has_changed() const {
      return !newest || !good || newest->text != good->text ||
             newest->unreadable != good->unreadable;
    }
    const rules::SourceFile* used() const {
      return use == Use::newest ? newest : use == Use::last_good ? good : nullptr;
    }
  };

  void find_owners() {
    for (auto& [name, candidate] : candidates_) {
      if (!candidate.good) continue;
      candidate.good_types = worker_types_of(*candidate.good).value_or(WorkerTypes());
      for (const std::string& type : candidate.good_types) owners_.emplace(type, name);
    }
  }

  std::vector<rules::SourceFile> files() const {
    std::vector<rules::SourceFile> all;
    for (const auto& [name, candidate] : candidates_)
      if (const rules::SourceFile* file = candidate.used()) all.push_back(*file);
    return all;
  }

  // The version that is used cannot be: the one before it, if there is one that differs.
  bool step_back(Candidate& candidate, const std::string& reason) {
    if (candidate.use == Use::nothing) return false;
    const bool has_other =
        candidate.use == Use::newest && candidate.good && candidate.has_changed();
    if (candidate.reason.empty())
      candidate.reason = reason;
    else
      candidate.reason += "; its last good version cannot serve either: " + reason;
    candidate.use = has_other ? Use::last_good : Use::nothing;
    return true;
  }

  bool step_back(const Outcome& outcome) {
    std::map<std::string, std::string> reasons;
    for (const rules::Problem& problem : outcome.problems)
      if (problem.severity == rules::Severity::error)
        reasons.try_emplace(problem.position.file, reason_of(problem));
    for (const std::string& file : outcome.undecided)
      reasons.try_emplace(file, "waits for the provider " +
                                    outcome.waits.front().provider_id.str() + ": " +
                                    outcome.waits.front().reason);
    bool changed = false;
    for (const auto& [file, reason] : reasons)
      if (const auto found = candidates_.find(file); found != candidates_.end())
        changed |= step_back(found->second, reason);
    return changed;
  }

  // The worker type may be another file's only because that one is held back.
  std::string reason_of(const rules::Problem& problem) const {
    std::string text = rules::to_string(problem);
    if (problem.code != "duplicateWorkerType" && problem.code != "duplicateConfigurationId")
      return text;
    for (const auto& [name, candidate] : candidates_)
      if (candidate.use != Use::newest && problem.reason.find(name) != std::string::npos)
        text += " (" + name + " is held back)";
    return text;
  }

  // The worker types of a file of which nothing can serve now are not free: its pools are there.
  bool hold_takers() {
    bool changed = false;
    for (auto& [name, candidate] : candidates_) {
      if (candidate.use != Use::newest || !candidate.newest || !candidate.has_changed()) continue;
      for (const std::string& type : types_now(*candidate.newest)) {
        const auto owner = owners_.find(type);
        if (owner == owners_.end() || owner->second == name ||
            candidates_.at(owner->second).use != Use::nothing)
          continue;
        changed |= step_back(candidate, "claims the worker type " + rules::in_quotes(type) +
                                            " of " + owner->second + ", which is held back");
        break;
      }
    }
    return changed;
  }

  // A worker type that moves from one file to another must not end because the other file is bad:
  // then the file that it leaves is held back, too, also if it is gone.
  bool hold_dependents() {
    const auto is_held = [](const auto& entry) { return entry.second.use != Use::newest; };
    if (std::ranges::none_of(candidates_, is_held)) return false;
    WorkerTypes serving;
    for (const auto& [name, candidate] : candidates_)
      if (const rules::SourceFile* file = candidate.used(); file)
        for (std::string& type : types_now(*file)) serving.push_back(std::move(type));
    bool changed = false;
    for (auto& [name, candidate] : candidates_) {
      if (candidate.use != Use::newest || !candidate.good) continue;
      for (const std::string& type : candidate.good_types) {
        if (contains(serving, type)) continue;
        const std::string taker = taker_of(type);
        if (taker.empty()) continue;
        changed |= step_back(candidate, taker);
        break;
      }
    }
    return changed;
  }

  static WorkerTypes types_now(const rules::SourceFile& file) {
    return worker_types_of(file).value_or(WorkerTypes());
  }

  // Which file that is held back takes over the worker type, or may do so, in words; empty: none.
  std::string taker_of(const std::string& type) const {
    for (const auto& [name, candidate] : candidates_) {
      if (candidate.use == Use::newest || !candidate.newest) continue;
      const auto types = worker_types_of(*candidate.newest);
      if (types && contains(*types, type))
        return "gives the worker type " + rules::in_quotes(type) + " to " + name +
               ", which is held back";
      if (!types)
        return "gives up the worker type " + rules::in_quotes(type) + ", and " + name +
               ", which is held back, may be where it goes";
    }
    return {};
  }

  void finish(Selection& selection) const {
    std::set<std::string> untouched;
    bool any = false;
    for (const auto& [name, candidate] : candidates_) {
      any |= candidate.used() != nullptr;
      if (const rules::SourceFile* good =
              candidate.use == Use::nothing ? candidate.good : candidate.used())
        selection.last_good.push_back(*good);
      if (candidate.use == Use::newest) continue;
      selection.held.push_back({name, candidate.reason, candidate.use == Use::last_good});
      if (candidate.use == Use::nothing) untouched.insert(name);
    }
    // Nothing at all can serve: then nothing changes, as when there is no configuration yet.
    if (!any && !selection.held.empty()) selection.outcome.configuration.reset();
    if (!selection.outcome.configuration || untouched.empty()) return;
    auto changed = std::make_shared<fleet::Configuration>(*selection.outcome.configuration);
    changed->untouched_origins = std::move(untouched);
    selection.outcome.configuration = std::move(changed);
  }

  Builder& builder_;
  const SourceFiles& newest_;
  const ProviderContext& context_;
  const Expand& expand_;
  std::map<std::string, Candidate> candidates_;  // by the file's name
  rules::WorkerTypeOwners owners_;
};

}  // namespace

Selection select_files(Builder& builder, const SourceFiles& newest,
                       const std::vector<rules::SourceFile>& last_good,
                       const ProviderContext& provider_context, const Expand& expand) {
  return Selecting(builder, newest, last_good, provider_context, expand).run();
}

}  // namespace muster::pools
