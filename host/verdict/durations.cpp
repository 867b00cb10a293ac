#include "host/verdict/durations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace muster::verdict {

namespace {

using std::chrono::milliseconds;

constexpr double another = 0.5;  // that may have lasted longer than all that are known

}  // namespace

void Durations::add(milliseconds took) {
  const auto time = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(took.count(), 1, std::numeric_limits<std::uint32_t>::max()));
  if (newest_.size() < most) {
    newest_.push_back(time);
    return;
  }
  newest_[oldest_] = time;
  oldest_ = (oldest_ + 1) % most;
}

milliseconds Durations::quantile(double share) const {
  if (newest_.empty()) return milliseconds(0);
  std::vector<std::uint32_t> sorted = newest_;
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(std::lround(share * last));
  std::ranges::nth_element(sorted, at);
  return milliseconds(*at);
}

milliseconds Durations::mean() const {
  if (newest_.empty()) return milliseconds(0);
  return milliseconds(std::accumulate(newest_.begin(), newest_.end(), std::int64_t{0}) /
                      static_cast<std::int64_t>(newest_.size()));
}

double Durations::variation() const {
  if (newest_.empty()) return 0;
  const double middle = static_cast<double>(mean().count());
  double squares = 0;
  for (const std::uint32_t each : newest_) squares += (each - middle) * (each - middle);
  return squares / static_cast<double>(newest_.size()) / std::max(1.0, middle * middle);
}

double Durations::lasts_longer_than(milliseconds time) const {
  if (newest_.empty()) return 1;
  std::int64_t longer = 0, longest = 0;
  for (const std::uint32_t each : newest_) {
    longer += each > time.count();
    longest = std::max<std::int64_t>(longest, each);
  }
  const double all = static_cast<double>(newest_.size()) + another;
  if (longer > 0) return (static_cast<double>(longer) + another) / all;
  return static_cast<double>(longest) / static_cast<double>(time.count()) * another / all;
}

double Durations::ends_within(milliseconds more, milliseconds age) const {
  return 1 - lasts_longer_than(age + more) / lasts_longer_than(age);
}

json::array Durations::to_json() const {
  json::array array;
  for (std::size_t i = 0; i < newest_.size(); ++i)
    array.emplace_back(newest_[(oldest_ + i) % newest_.size()]);
  return array;
}

Durations Durations::from_json(const json::array& milliseconds_) {
  Durations durations;
  for (const json::value& each : milliseconds_)
    if (each.is_number())
      if (boost::system::error_code wrong; const auto time = each.to_number<std::int64_t>(wrong))
        if (!wrong && time > 0) durations.add(milliseconds(time));
  return durations;
}

}  // namespace muster::verdict
