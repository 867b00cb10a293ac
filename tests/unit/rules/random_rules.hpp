// Random worker configurations and facts that meet often, and an evaluator written from the
// language's description in the most naive way, over plain JSON.
#pragma once

#include <random>

#include <muster/json.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules::testing {

using Random = std::mt19937;

json::object random_rule(Random& random, int number);
json::object random_document(Random& random, std::size_t rules);
Facts random_facts(Random& random);

bool naive_matches(const json::value& conditions, const Facts& facts);
json::object naive_evaluate(const json::object& document, const Facts& facts);

}  // namespace muster::rules::testing
