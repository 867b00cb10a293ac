#include "cli/rules/effects.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <muster/rules/pool_settings.hpp>

namespace muster::cli {
namespace {

using rules::Document;
using rules::Evaluation;
using rules::Facts;
using rules::Leaf;

bool is_pool_setting(const rules::Path& path) {
  return !path.empty() && rules::is_pool_setting(path.front());
}

// Which rule an effect is put down to.
struct Cause {
  std::string rule, file;
  std::uint32_t line = 0;
  bool removed = false;  // the rule is no longer there
  friend auto operator<=>(const Cause&, const Cause&) = default;
};

const rules::Deletion* find_deletion(const Evaluation& evaluation, const rules::Path& path) {
  const auto found = std::find_if(evaluation.deleted.begin(), evaluation.deleted.end(),
                                  [&](const auto& deletion) { return deletion.path == path; });
  return found == evaluation.deleted.end() ? nullptr : &*found;
}

// One path that differs between two evaluations.
struct Difference {
  const Document &before, &after;
  const Evaluation &was, &is;
  const rules::Path& path;
  const Leaf *old_leaf, *new_leaf;  // one may be null

  // A value may show because it was set, or because what hid it is gone: then the rule that hid it
  // is what changed.
  Cause cause() const {
    if (new_leaf && !surfaced()) return of_new(new_leaf->rule, new_leaf->position);
    if (const auto* deletion = find_deletion(is, path); deletion && !new_leaf)
      return of_new(deletion->rule, deletion->position);
    if (old_leaf) return of_old(old_leaf->rule, old_leaf->position);
    const auto* deletion = find_deletion(was, path);
    return of_old(deletion->rule, deletion->position);
  }

 private:
  // Whether the new value stood there before, under another.
  bool surfaced() const {
    const auto* deletion = old_leaf ? nullptr : find_deletion(was, path);
    if (!old_leaf && !deletion) return false;
    const auto& hidden = old_leaf ? old_leaf->earlier : deletion->earlier;
    return std::any_of(hidden.begin(), hidden.end(), [&](const auto& change) {
      return change.value == new_leaf->value && change.path == path &&
             before.rules[change.rule].rule_id == after.rules[new_leaf->rule].rule_id;
    });
  }

  Cause of_new(std::size_t rule, rules::Position position) const {
    return {after.rules[rule].rule_id, after.file, position.line};
  }
  Cause of_old(std::size_t rule, rules::Position position) const {
    const auto& id = before.rules[rule].rule_id;
    return {id, before.file, position.line, !after.find_rule(id)};
  }
};

using Key = std::tuple<Cause, std::string, std::string, std::string>;  // path, before, after

struct FoundEffect {
  Effect effect;
  std::vector<std::size_t> cases;
};

// Collects the differences of one worker configuration over its cases.
class Comparison {
 public:
  Comparison(const Document& before, const Document& after, std::string noun, bool pool_settings)
      : before_(before),
        after_(after),
        was_(before),
        is_(after),
        noun_(std::move(noun)),
        pool_settings_(pool_settings) {}

  void add(std::size_t index, const Facts& facts) {
    const auto& was = was_(facts);
    const auto& is = is_(facts);
    const auto& changes = changes_of(was, is);
    for (auto* found : changes) found->cases.push_back(index);
  }

  void take(std::vector<Effect>& effects, const std::vector<Facts>& all) {
    std::vector<const FoundEffect*> ordered;
    for (const auto& [key, found] : found_) ordered.push_back(&found);
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
      return std::tie(a->effect.line, a->effect.key) < std::tie(b->effect.line, b->effect.key);
    });
    for (const auto* found : ordered) {
      effects.push_back(found->effect);
      effects.back().count = found->cases.size();
      effects.back().all = all.size();
      if (found->cases.size() < all.size()) effects.back().where = describe(found->cases, all);
    }
  }

 private:
  // The same two evaluations differ in the same way in every place.
  const std::vector<FoundEffect*>& changes_of(const Evaluation& was, const Evaluation& is) {
    const auto [at, added] = known_.try_emplace({&was, &is});
    if (!added) return at->second;
    for (const auto& leaf : was.leaves) {
      const auto* now = is.find(leaf.path);
      if (!now || now->value != leaf.value)
        note(at->second, {before_, after_, was, is, leaf.path, &leaf, now});
    }
    for (const auto& leaf : is.leaves)
      if (!was.find(leaf.path))
        note(at->second, {before_, after_, was, is, leaf.path, nullptr, &leaf});
    return at->second;
  }

  void note(std::vector<FoundEffect*>& changes, const Difference& difference) {
    if (is_pool_setting(difference.path) != pool_settings_) return;
    const auto *old_leaf = difference.old_leaf, *new_leaf = difference.new_leaf;
    const auto cause = difference.cause();
    const auto key = rules::format_path(difference.path);
    auto& found = found_[{cause, key, old_leaf ? json::canonical(old_leaf->value) : "",
                          new_leaf ? json::canonical(new_leaf->value) : ""}];
    auto& effect = found.effect;
    effect.configuration = after_.id;
    effect.rule = cause.rule;
    effect.rule_removed = cause.removed;
    effect.file = cause.file;
    effect.line = cause.line;
    effect.key = key;
    if (old_leaf) effect.before = old_leaf->value;
    if (new_leaf) effect.after = new_leaf->value;
    effect.noun = noun_;
    changes.push_back(&found);
  }

  const Document &before_, &after_;
  Evaluations was_, is_;
  std::string noun_;
  bool pool_settings_;
  std::map<Key, FoundEffect> found_;
  std::map<std::pair<const Evaluation*, const Evaluation*>, std::vector<FoundEffect*>> known_;
};

std::set<std::string> type_names(const Document& document) {
  std::set<std::string> names;
  for (const auto& type : document.worker_types) names.insert(type.name);
  return names;
}

std::size_t count_of_type(const FactSets& cases, const std::string& type) {
  if (!cases.known) return 0;
  return static_cast<std::size_t>(
      std::count_if(cases.facts.begin(), cases.facts.end(), [&](const auto& facts) {
        const auto found = facts.find("workerType");
        return found != facts.end() && found->second == type;
      }));
}

// Launch configurations that came or went for worker types that stayed: providers opted in or out,
// placements opened or closed.
void compare_places(const FactSets& was, const FactSets& is, const std::set<std::string>& stayed,
                    const std::string& id, std::vector<Arrival>& arrivals) {
  if (!was.known || !is.known) return;
  const auto only_in = [&](const FactSets& here, const FactSets& there, bool added) {
    const std::set<Facts> others(there.facts.begin(), there.facts.end());
    std::vector<std::size_t> group;
    for (std::size_t i = 0; i < here.facts.size(); ++i)
      if (!others.contains(here.facts[i]) && stayed.contains(here.facts[i].at("workerType")))
        group.push_back(i);
    for (const auto& box : describe(group, here.facts))
      arrivals.push_back({Arrival::What::combination, added, id, to_string(box), box.count});
  };
  only_in(was, is, false);
  only_in(is, was, true);
}

void compare_documents(const rules::ConfigurationSet& old_set, const Document& before,
                       const rules::ConfigurationSet& new_set, const Document& after,
                       Effects& effects) {
  const auto was_cases = fact_sets_of(old_set, before, &after);
  auto is_cases = fact_sets_of(new_set, after, &before);
  const auto old_types = type_names(before), new_types = type_names(after);
  std::set<std::string> stayed;
  for (const auto& type : new_types) {
    if (old_types.contains(type))
      stayed.insert(type);
    else
      effects.arrivals.push_back(
          {Arrival::What::worker_type, true, after.id, type, count_of_type(is_cases, type)});
  }
  for (const auto& type : old_types)
    if (!new_types.contains(type))
      effects.arrivals.push_back(
          {Arrival::What::worker_type, false, after.id, type, count_of_type(was_cases, type)});
  compare_places(was_cases, is_cases, stayed, after.id, effects.arrivals);

  std::vector<Facts> pools;
  for (const auto& type : stayed) pools.push_back({{"workerType", type}});
  Comparison of_pools(before, after, "worker pool", true);
  for (std::size_t i = 0; i < pools.size(); ++i) of_pools.add(i, pools[i]);
  of_pools.take(effects.effects, pools);

  const std::set<Facts> old_facts(was_cases.facts.begin(), was_cases.facts.end());
  std::erase_if(is_cases.facts, [&](const Facts& facts) {
    return !stayed.contains(facts.at("workerType")) || !old_facts.contains(facts);
  });
  Comparison of_launches(before, after, is_cases.noun(), false);
  for (std::size_t i = 0; i < is_cases.facts.size(); ++i) of_launches.add(i, is_cases.facts[i]);
  of_launches.take(effects.effects, is_cases.facts);
}

// Configurations with errors have no document; to tell that from a file that is not there, the
// problems are asked.
std::set<std::string> broken_files(const rules::ConfigurationSet& set) {
  std::set<std::string> ids;
  for (const auto& problem : set.problems())
    if (problem.severity == rules::Severity::error)
      ids.insert(std::filesystem::path(problem.position.file).stem().string());
  return ids;
}

}  // namespace

Effects compare(const rules::ConfigurationSet& before, const rules::ConfigurationSet& after) {
  Effects effects;
  auto broken = broken_files(before);
  broken.merge(broken_files(after));
  std::set<std::string> ids;
  for (const auto& [id, document] : before.documents()) ids.insert(id);
  for (const auto& [id, document] : after.documents()) ids.insert(id);
  effects.skipped.assign(broken.begin(), broken.end());
  for (const auto& id : ids) {
    if (broken.contains(id)) continue;
    const auto *was = before.find(id), *is = after.find(id);
    if (was && is) {
      compare_documents(before, *was, after, *is, effects);
    } else {
      const auto& set = is ? after : before;
      const auto& document = is ? *is : *was;
      effects.arrivals.push_back(
          {Arrival::What::configuration, is != nullptr, id, "", set.count_combinations(document)});
    }
  }
  return effects;
}

}  // namespace muster::cli
