#include <muster/rules/lint.hpp>

namespace muster::rules {

Problems find_secrets(const Document&) {
  return {};
}

Problems lint(const Document& document, const ConfigurationSet&) {
  Problems problems = find_secrets(document);
  for (std::size_t i = 0; i < document.rules.size(); ++i) {
    const Rule& rule = document.rules[i];
    if (rule.description.empty())
      problems.push_back({Severity::warning, document.at(rule.position),
                          "rules[" + std::to_string(i) + "].description",
                          "the rule \"" + rule.rule_id + "\" has no description",
                          "say in a few words what it is for", "missingDescription"});
  }
  return problems;
}

}  // namespace muster::rules
