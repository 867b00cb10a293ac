// How long something took, the last few times: the best guess of how long it takes the next time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <muster/json.hpp>

namespace muster::verdict {

class Durations {
 public:
  static constexpr std::size_t most = 32;

  void add(std::chrono::milliseconds took);

  bool empty() const { return newest_.empty(); }
  std::size_t size() const { return newest_.size(); }
  // Of those that are known; 0 without any. `share` is from 0 to 1.
  std::chrono::milliseconds quantile(double share) const;
  std::chrono::milliseconds mean() const;
  double variation() const;  // their variance, as a part of the square of their mean

  // How likely it is that one lasts longer than that. Not more certain than so few can make it: as
  // if half of another one had lasted longer than all of them, and beyond the longest whatever has
  // lasted for so long is as likely as not to last as long again.
  double lasts_longer_than(std::chrono::milliseconds time) const;
  // How likely one that has lasted for `age` ends within `more`.
  double ends_within(std::chrono::milliseconds more, std::chrono::milliseconds age) const;

  json::array to_json() const;  // milliseconds, the oldest first
  // Ignores what it cannot read: a measure is worth less than a start.
  static Durations from_json(const json::array& milliseconds);

 private:
  std::vector<std::uint32_t> newest_;  // milliseconds; a ring once it is full
  std::size_t oldest_ = 0;
};

}  // namespace muster::verdict
