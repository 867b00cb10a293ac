// How often what was expected came true: the expectations of the last thousand requests, and all
// since the host began.
#pragma once

#include <cstdint>
#include <vector>

#include "host/verdict/verdict.hpp"

namespace muster::verdict {

class Calibration {
 public:
  static constexpr std::size_t most = 1000;

  // It happened at that time.
  void happened(const Eta& expected, Time at);
  // It has not happened, and will not: what had been expected by now was wrong. An expectation
  // whose time had not come says nothing, nor does one that is Eta{}.
  void gave_up(const Eta& expected, Time at);

  struct Score {
    std::int64_t expectations = 0, kept_p50 = 0, kept_p90 = 0;
  };
  const Score& last() const { return last_; }  // of the last thousand
  const Score& total() const { return total_; }

 private:
  void add(bool kept_p50, bool kept_p90);

  std::vector<std::uint8_t> newest_;  // bits: p50, p90; a ring once it is full
  std::size_t oldest_ = 0;
  Score last_, total_;
};

}  // namespace muster::verdict
