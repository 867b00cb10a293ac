#include "host/verdict/expectation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace muster::verdict {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds too_long = 24h * 30;
constexpr double step = 1.02;  // how exact a time is
constexpr double p90_of_normal = 1.2816;

// The times that are distinguished, in their order.
const std::vector<milliseconds>& times() {
  static const std::vector<milliseconds> all = [] {
    std::vector<milliseconds> made;
    for (double time = 1; time <= static_cast<double>(too_long.count()); time *= step)
      made.emplace_back(static_cast<std::int64_t>(std::ceil(time)));
    return made;
  }();
  return all;
}

// The first time at which it holds; it holds ever after.
template <class Holds>
std::optional<milliseconds> first_time(const Holds& holds) {
  const auto found =
      std::ranges::partition_point(times(), [&](milliseconds time) { return !holds(time); });
  if (found == times().end()) return std::nullopt;
  return *found;
}

// What follows on one that comes again: from its end on, one for each mean time. Its end may be
// early, late or in between, each as likely.
class Renewed {
 public:
  explicit Renewed(const RoomSource& first)
      : takes_(*first.takes),
        mean_(std::max(takes_.mean(), milliseconds(1))),
        variation_(takes_.variation()) {
    for (std::size_t i = 0; i < ends_.size(); ++i)
      ends_[i] =
          first_time([&](milliseconds time) {
            return takes_.ends_within(time, first.age) >=
                   (2.0 * static_cast<double>(i) + 1) / (2.0 * static_cast<double>(ends_.size()));
          }).value_or(too_long);
  }

  struct Count {
    double mean = 0, variance = 0;
  };
  Count by(milliseconds time) const {
    Count count;
    for (const milliseconds end : ends_) {
      if (time <= end) continue;
      const Count after = within(time - end);
      count.mean += after.mean / static_cast<double>(ends_.size());
      count.variance += after.variance / static_cast<double>(ends_.size());
    }
    return count;
  }

 private:
  // The last two may be over or not; those before them are.
  Count within(milliseconds time) const {
    const std::int64_t rounds = time / mean_;
    const std::int64_t over = std::max<std::int64_t>(0, rounds - 1);
    Count count{static_cast<double>(over), static_cast<double>(over) * variation_};
    for (std::int64_t round = over; round <= rounds; ++round) {
      const double chance = takes_.ends_within(time - round * mean_, milliseconds(0));
      count.mean += chance;
      count.variance += chance * (1 - chance);
    }
    return count;
  }

  const Durations& takes_;
  milliseconds mean_;
  double variation_;
  std::array<milliseconds, 3> ends_{};
};

}  // namespace

std::optional<Expectation> when_there_is_room(std::span<const RoomSource> all, double room) {
  std::vector<RoomSource> sources;
  std::ranges::copy_if(all, std::back_inserter(sources),
                       [](const RoomSource& each) { return each.takes && !each.takes->empty(); });
  std::vector<std::optional<Renewed>> renewed(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].again) renewed[i].emplace(sources[i]);
  // What comes in steps is there at a half of the last step, in the mean.
  double all_room = 0, all_times = 0;
  for (const RoomSource& each : sources) {
    all_room += each.times * each.room;
    all_times += each.times;
  }
  const double half_a_step = all_times > 0 ? std::min(0.5, all_room / all_times / 2) : 0;
  const auto has_come = [&](milliseconds time, double deviations) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const RoomSource& each = sources[i];
      const double chance = each.takes->ends_within(time, each.age);
      mean += each.times * each.room * chance;
      variance += each.times * each.room * each.room * chance * (1 - chance);
      if (!renewed[i]) continue;
      const Renewed::Count more = renewed[i]->by(time);
      mean += each.times * each.room * more.mean;
      variance += each.times * each.room * each.room * more.variance;
    }
    return mean - deviations * std::sqrt(variance) >= room - half_a_step;
  };
  const auto p50 = first_time([&](milliseconds time) { return has_come(time, 0); });
  const auto p90 = first_time([&](milliseconds time) { return has_come(time, p90_of_normal); });
  if (!p50 || !p90) return std::nullopt;
  return Expectation{*p50, std::max(*p50, *p90)};
}

}  // namespace muster::verdict
