#include "host/fleet/bidding/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <muster/plural.hpp>

namespace muster::bidding {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr milliseconds patience = minutes(30);  // nobody doubts a worker that boots for so long
constexpr milliseconds despair = minutes(60);   // and everybody one that boots for so long

std::string in_words(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string of(std::int64_t part, std::int64_t whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

struct Factor {
  double value = 1;
  std::string words = {};
};

// Alone, a configuration competes with nobody.
Factor share(const WeightInput& input, std::int64_t running, std::size_t siblings) {
  if (running == 0 || siblings < 2) return {};
  // One that has all of the workers is the last choice, but a choice: its siblings may be held.
  if (input.running == running)
    return {minimal_weight,
            in_words(minimal_weight) + " (it has all " + std::to_string(running) + " running)"};
  const double part = static_cast<double>(input.running) / static_cast<double>(running);
  return {1 - part, "(1 − " + of(input.running, running) + " running)"};
}

Factor health(const WeightInput& input) {
  const HealthCounts& counts = input.health;
  if (counts.tried == 0) return {};
  const std::int64_t failed = std::min(counts.failed, counts.tried);
  const bool none_registered = counts.registered == 0 && input.running == 0;
  if (none_registered && counts.errors() > 0)
    return {0, "0 (" + std::to_string(counts.tried) + " created, none registered, " +
                   count_of(counts.errors(), "error") + " in the last hour)"};
  if (none_registered && input.oldest_unregistered > patience) {
    const milliseconds waited = std::min(*input.oldest_unregistered, despair);
    const double left = static_cast<double>((despair - waited).count()) /
                        static_cast<double>((despair - patience).count());
    return {left, in_words(left) + " (none registered for " +
                      count_of(std::chrono::floor<minutes>(*input.oldest_unregistered).count(),
                               "minute") +
                      ")"};
  }
  if (failed == 0) return {};
  return {1 - static_cast<double>(failed) / static_cast<double>(counts.tried),
          "(1 − " + of(failed, counts.tried) + " failed)"};
}

// The least likely to fail; of equals the one that was tried least.
std::size_t healthiest(std::span<const WeightInput> inputs) {
  const auto rank = [&](std::size_t i) {
    return std::pair(-health(inputs[i]).value * inputs[i].outcomes.value * inputs[i].initial_weight,
                     inputs[i].health.tried);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (rank(i) < rank(best)) best = i;
  return best;
}

Weight weigh(const WeightInput& input, std::int64_t running, std::size_t siblings) {
  const Factor factors[] = {
      share(input, running, siblings), health(input), {input.outcomes.value, input.outcomes.words}};
  Weight weight;
  weight.value = std::clamp(input.initial_weight, 0.0, 1.0);
  weight.arithmetic = weight.value == 1 ? "" : in_words(weight.value) + " initially";
  for (const Factor& factor : factors) {
    if (factor.words.empty()) continue;
    weight.value *= factor.value;
    weight.arithmetic += (weight.arithmetic.empty() ? "" : " × ") + factor.words;
  }
  weight.value = std::clamp(weight.value, 0.0, 1.0);
  weight.arithmetic = weight.arithmetic.empty()
                          ? "no recent failures"
                          : weight.arithmetic + " = " + in_words(weight.value);
  return weight;
}

}  // namespace

std::vector<Weight> weights(std::span<const WeightInput> inputs) {
  std::int64_t running = 0;
  for (const WeightInput& input : inputs) running += input.running;
  std::vector<Weight> result;
  result.reserve(inputs.size());
  for (const WeightInput& input : inputs) result.push_back(weigh(input, running, inputs.size()));
  const bool all_zero =
      std::ranges::all_of(result, [](const Weight& weight) { return weight.value == 0; });
  if (!result.empty() && all_zero) {
    Weight& kept = result[healthiest(inputs)];
    kept.value = minimal_weight;
    kept.arithmetic += "; all would be zero, so the healthiest keeps " + in_words(minimal_weight);
  }
  return result;
}

}  // namespace muster::bidding
