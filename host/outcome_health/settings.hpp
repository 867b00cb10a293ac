// The numbers of the test by task outcomes: its error rates, and what follows from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace muster::outcome_health {

struct Settings {
  bool enabled = true;     // outcomes are counted, and lower weights
  bool quarantine = true;  // false: evidence only lowers weights and is told
  // The probability that one round of tests, one for each watched subject of a pool of which all
  // are healthy, accuses any of them.
  double false_alarm = 1e-4;
  // The probability that one test calls a subject healthy that has the minimal effect.
  double missed = 0.05;
  // What is to be found: the subject fails this share of the tasks that others would complete.
  double effect = 0.5;
  // At most this share of a pool's workers, images or launch configurations is in quarantine by
  // outcomes at once; one of each may be always.
  double largest_share = 0.2;
  std::chrono::milliseconds first_quarantine =
      std::chrono::minutes(30);  // each further one doubles
  std::chrono::milliseconds longest_quarantine = std::chrono::hours(24);
};

// Others' outcomes of the same hours are the baseline: older ones count less and less.
inline constexpr std::chrono::milliseconds slow_half_life = std::chrono::hours(2);
// What happens everywhere now is seen by these.
inline constexpr std::chrono::milliseconds fast_half_life = std::chrono::minutes(10);
// With fewer outcomes of others, nothing can be compared.
inline constexpr double fewest_others = 5;
// Nobody is blamed for failing more than others who never fail.
inline constexpr double least_baseline = 0.01;
inline constexpr double greatest_baseline = 0.95;
// An accusation needs so many tasks of others that began after the subject's first failure and
// completed, or so many times the evidence: the tasks of a bad push may all meet the one worker
// that is idle.
inline constexpr std::int64_t witnesses_needed = 2;
inline constexpr double without_witnesses = 3;
// The weight of what is on trial: so little is launched until its canary is back.
inline constexpr double canary_weight = 0.1;
// Of one pool. One that has had no outcome for the longest time is forgotten first.
inline constexpr std::size_t most_subjects = 20'000;

}  // namespace muster::outcome_health
