#include "host/history/history.hpp"

#include <algorithm>

namespace muster::history {
namespace {

constexpr std::size_t fewest_points = 50;  // of a pool, however many there are

std::uint32_t second_of(Time at) {
  return static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count());
}

void add(Figures& sum, const Figures& each) {
  sum.pending += each.pending;
  sum.requested += each.requested;
  sum.running += each.running;
  sum.busy += each.busy;
  sum.draining += each.draining;
  sum.stopping += each.stopping;
  sum.max += each.max;
  sum.price_per_hour += each.price_per_hour;
}

}  // namespace

// Every second one of the older half goes.
void History::thin(std::vector<Point>& points) {
  std::size_t kept = 0;
  const std::size_t half = points.size() / 2;
  for (std::size_t at = 0; at < points.size(); ++at)
    if (at >= half || at % 2 == 0) points[kept++] = points[at];
  points.resize(kept);
}

bool History::append(Series& series, Time at, const Figures& figures, std::size_t limit) {
  series.sample = samples_;
  std::vector<Point>& points = series.points;
  if (!points.empty() && points.back().figures == figures) return false;
  const auto second = second_of(at);
  const auto step = static_cast<std::uint32_t>(resolution.count());
  // The newest state counts, at the time at which it began.
  if (points.size() > 1 && second / step == points.back().second / step) {
    points.back() = {second, figures};
    return true;
  }
  while (points.size() >= limit) thin(points);
  points.push_back({second, figures});
  return true;
}

std::size_t History::limit_for(std::size_t pools) const {
  return std::clamp(most_points_ / std::max<std::size_t>(pools, 1), fewest_points, fleet_points_);
}

void History::restore(Time at, const Sample& changed) {
  const std::lock_guard guard(mutex_);
  const std::size_t limit = limit_for(std::max(pools_.size(), changed.size()));
  for (const auto& [pool, figures] : changed)
    pool.empty() ? append(fleet_, at, figures, fleet_points_)
                 : append(pools_[pool], at, figures, limit);
}

History::Sample History::latest() const {
  const std::lock_guard guard(mutex_);
  Sample sample;
  if (!fleet_.points.empty()) sample.emplace_back("", fleet_.points.back().figures);
  for (const auto& [pool, series] : pools_) sample.emplace_back(pool, series.points.back().figures);
  return sample;
}

Time History::last_sample() const {
  const std::lock_guard guard(mutex_);
  return Time(std::chrono::seconds(last_sample_));
}

void History::record(Time at, const Sample& pools) {
  const std::lock_guard guard(mutex_);
  ++samples_;
  const std::size_t limit = limit_for(pools.size());
  Change change{.number = next_change_, .at = at, .fleet = {}, .pools = {}, .more_pools = 0};
  const auto name = [&](const std::string& pool) {
    if (change.pools.size() < most_named)
      change.pools.push_back(pool);
    else
      ++change.more_pools;
  };
  for (const auto& [pool, figures] : pools) {
    add(change.fleet, figures);
    if (append(pools_[pool], at, figures, limit)) name(pool);
  }
  for (auto each = pools_.begin(); each != pools_.end();) {
    if (each->second.sample == samples_) {
      ++each;
      continue;
    }
    name(each->first);
    each = pools_.erase(each);
  }
  append(fleet_, at, change.fleet, fleet_points_);
  last_sample_ = second_of(at);
  if (change.pools.empty()) return;
  ++next_change_;
  changes_.push_back(std::move(change));
  if (changes_.size() > most_changes) changes_.pop_front();
}

std::vector<Point> History::series(const std::string& pool) const {
  const std::lock_guard guard(mutex_);
  const auto found = pools_.find(pool);
  if (!pool.empty() && found == pools_.end()) return {};
  std::vector<Point> points = pool.empty() ? fleet_.points : found->second.points;
  if (!points.empty() && points.back().second < last_sample_)
    points.push_back({last_sample_, points.back().figures});
  return points;
}

std::vector<Change> History::changes_after(std::int64_t number) const {
  const std::lock_guard guard(mutex_);
  std::vector<Change> wanted;
  for (const Change& change : changes_)
    if (change.number > number) wanted.push_back(change);
  return wanted;
}

std::int64_t History::newest_change() const {
  const std::lock_guard guard(mutex_);
  return next_change_ - 1;
}

std::size_t History::points() const {
  const std::lock_guard guard(mutex_);
  std::size_t sum = 0;
  for (const auto& [pool, series] : pools_) sum += series.points.size();
  return sum;
}

}  // namespace muster::history
