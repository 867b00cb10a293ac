// Failed and all outcomes, of which those that are one half-life old count half.
#pragma once

#include <algorithm>
#include <cmath>

#include <muster/context.hpp>

namespace muster::outcome_health {

struct Counts {
  double failed = 0, total = 0;

  double rate() const { return total > 0 ? failed / total : 0; }
  // What rounding leaves below zero is nothing.
  friend Counts operator-(Counts a, const Counts& b) {
    return {std::max(0.0, a.failed - b.failed), std::max(0.0, a.total - b.total)};
  }
  friend Counts operator*(Counts a, double factor) { return {a.failed * factor, a.total * factor}; }
  friend bool operator==(const Counts&, const Counts&) = default;
};

class DecayedCounts {
 public:
  explicit DecayedCounts(std::chrono::milliseconds half_life) : half_life_(half_life) {}

  void add(bool failed, double weight, Time now) {
    *this = decayed_to(now);
    counts_.failed += failed ? weight : 0;
    counts_.total += weight;
  }
  Counts at(Time now) const { return decayed_to(now).counts_; }
  // As of the last change, for the store.
  const Counts& counts() const { return counts_; }
  Time changed() const { return changed_; }
  void restore(const Counts& counts, Time changed) {
    counts_ = counts;
    changed_ = changed;
  }

 private:
  // A clock that was set back makes nothing younger.
  DecayedCounts decayed_to(Time now) const {
    DecayedCounts result = *this;
    if (now > changed_ && counts_.total > 0)
      result.counts_ = counts_ * std::exp2(-std::chrono::duration<double>(now - changed_) /
                                           std::chrono::duration<double>(half_life_));
    result.changed_ = now;
    return result;
  }

  std::chrono::milliseconds half_life_;
  Counts counts_;
  Time changed_{};
};

}  // namespace muster::outcome_health
