// Warnings: what is allowed and most likely not meant.
#pragma once

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

// Codes: neverMatches, overwritten, shadowedCondition, shadowedClause, secret, missingDescription,
// emptyRule, conditionalPoolSetting, unknownSection, bracesInPattern, unusualWorkerType,
// unverifiedFact. Duplicates are errors and found on loading.
Problems lint(const Document& document, const ConfigurationSet& set);

// Only the search for secrets, which needs no known facts.
Problems find_secrets(const Document& document);

}  // namespace muster::rules
