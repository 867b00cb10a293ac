#include "host/outcome_health/evidence.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace muster::outcome_health {
namespace {

constexpr double baseline_deviations = 2;
// The slow rate is worth so many outcomes of the last minutes.
constexpr double prior_outcomes = 10;

// The middle of the interval and how far its ends are from it.
std::pair<double, double> wilson(const Counts& counts, double z) {
  const double n = counts.total;
  const double variance = n > 0 ? counts.failed * (n - counts.failed) / n : 0;
  return {(counts.failed + z * z / 2) / (n + z * z),
          z * std::sqrt(variance + z * z / 4) / (n + z * z)};
}

}  // namespace

double upper_end(const Counts& counts, double deviations) {
  const auto [middle, spread] = wilson(counts, deviations);
  return middle + spread;
}

double lower_end(const Counts& counts, double deviations) {
  const auto [middle, spread] = wilson(counts, deviations);
  return middle - spread;
}

double baseline(const Counts& slow, const Counts& fast) {
  const double recent =
      (fast.failed + prior_outcomes * slow.rate()) / (fast.total + prior_outcomes);
  return std::clamp(std::max(upper_end(slow, baseline_deviations), recent), least_baseline,
                    greatest_baseline);
}

double expected_of_faulty(double baseline, const Settings& settings) {
  return baseline + (1 - baseline) * settings.effect;
}

double score_of(bool failed, double baseline, const Settings& settings) {
  const double faulty = expected_of_faulty(baseline, settings);
  return failed ? std::log(faulty / baseline) : std::log((1 - faulty) / (1 - baseline));
}

double accused_at(std::size_t subjects, const Settings& settings) {
  return std::log(static_cast<double>(std::max<std::size_t>(subjects, 1)) / settings.false_alarm);
}

double healthy_at(const Settings& settings) {
  return std::log(settings.missed);
}

std::int64_t failures_needed(double baseline, std::size_t subjects, const Settings& settings) {
  return static_cast<std::int64_t>(
      std::ceil(accused_at(subjects, settings) / score_of(true, baseline, settings)));
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share < 0.0995 && share > 0 ? "%.1f %%" : "%.0f %%",
                share * 100);
  return text;
}

}  // namespace muster::outcome_health
