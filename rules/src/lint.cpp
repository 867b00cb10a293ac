#include <algorithm>

#include <muster/rules/lint.hpp>
#include <muster/rules/pool_settings.hpp>

#include "lint_parts.hpp"

namespace muster::rules {
namespace {

bool is_usual_worker_type(std::string_view name) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto allowed = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= 38 && lower(name.front()) && name.back() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

// Whether the rule can apply while only the worker type is known.
bool reaches_pool_settings(const Rule& rule) {
  return rule.any_of.empty() ||
         std::any_of(rule.any_of.begin(), rule.any_of.end(), [](const Clause& clause) {
           return std::all_of(clause.all_of.begin(), clause.all_of.end(),
                              [](const Condition& c) { return c.fact == "workerType"; });
         });
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// All names that a section may have; empty if a provider did not say which plugin it is.
std::vector<std::string> section_names(const KnownFacts& known) {
  std::vector<std::string> names = pool_setting_names();
  names.insert(names.end(), {"workerManager", "workerConfig"});
  for (const Provider& provider : known.providers) {
    if (provider.plugin.empty()) return {};
    names.push_back(provider.plugin);
    names.push_back(provider.provider_id);
  }
  return names;
}

}  // namespace

void lint_text(Warnings& warnings) {
  const Document& document = warnings.document();
  for (std::size_t i = 0; i < document.worker_types.size(); ++i) {
    const WorkerType& type = document.worker_types[i];
    if (!is_usual_worker_type(type.name))
      warnings.add(type.position, "workerTypes[" + std::to_string(i) + "]",
                   "Taskcluster's clients will refuse the worker type " + in_quotes(type.name),
                   "use at most 38 lower-case letters, digits and -, beginning with a letter",
                   "unusualWorkerType");
  }
  for (std::size_t i = 0; i < document.rules.size(); ++i) {
    const Rule& rule = document.rules[i];
    if (rule.description.empty())
      warnings.add(rule.position, rule_key(i) + ".description",
                   "the rule " + in_quotes(rule.rule_id) + " has no description",
                   "say in a few words what it is for", "missingDescription");
    if (rule.unset.empty() && rule.values.table()->empty())
      warnings.add(rule.position, rule_key(i),
                   "the rule " + in_quotes(rule.rule_id) + " sets nothing and unsets nothing",
                   "give it values, or remove it", "emptyRule");
  }
}

void lint_sections(Warnings& warnings, const KnownFacts* known) {
  const Document& document = warnings.document();
  const std::vector<std::string> sections =
      known ? section_names(*known) : std::vector<std::string>{};
  for (std::size_t i = 0; i < document.rules.size(); ++i) {
    const bool for_pools = reaches_pool_settings(document.rules[i]);
    for (const Member& member : *document.rules[i].values.table()) {
      const auto key = [&] { return rule_key(i) + ".values." + format_path({member.name}); };
      if (!for_pools && is_pool_setting(member.name))
        warnings.add(member.node.key, key(),
                     "it is a setting of the whole pool, for which only workerType is known, so "
                     "this rule's conditions never hold",
                     member.name == "maxCapacity"
                         ? "move it to a rule that asks for no more than workerType, or set "
                           "workerManager.maxCapacity"
                         : "move it to a rule that asks for no more than workerType",
                     "conditionalPoolSetting");
      if (sections.empty() || contains(sections, member.name)) continue;
      const std::string nearest = nearest_name(member.name, sections);
      warnings.add(member.node.key, key(), "neither muster nor a known provider reads this key",
                   nearest.empty() ? "remove it, or put it under workerConfig"
                                   : "did you mean " + nearest + "?",
                   "unknownSection");
    }
  }
}

Problems find_secrets(const Document& document) {
  Warnings warnings(document);
  lint_secrets(warnings);
  return warnings.take();
}

Problems lint(const Document& document, const ConfigurationSet& set) {
  const KnownFacts* known = set.known() ? &*set.known() : nullptr;
  Warnings warnings(document);
  lint_text(warnings);
  lint_sections(warnings, known);
  lint_conditions(warnings, known);
  lint_reach(warnings, known, set.limits());
  lint_secrets(warnings);
  Problems problems = warnings.take();
  sort_problems(problems);
  return problems;
}

}  // namespace muster::rules
