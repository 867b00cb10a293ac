#include "plugins/cloud/machines/launch_history.hpp"

#include <algorithm>

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
constexpr auto launches_counted_for = 1h;
// Before anything is known. Clouds take some percent of spot machines back within their first
// hours.
constexpr double usual_on_demand = 0.99, usual_spot = 0.9;
// So that the first failure is no verdict.
constexpr double doubt = 3;

std::string key_of(const Machine& machine) {
  return machine.place() + " " + machine.type_and_market();
}

double share(double good, double bad) {
  return (good + doubt) / (good + bad + doubt);
}

}  // namespace

std::int64_t MachineCounts::of(const Machine& machine) const {
  if (counts_.empty()) return 0;
  const auto found = counts_.find({machine.place(), machine.type_and_market()});
  return found == counts_.end() ? 0 : found->second;
}

void LaunchHistory::add(const Machine& machine, Entry entry) {
  auto& entries = entries_[key_of(machine)];
  while (!entries.empty() && entries.front().at + launches_counted_for < entry.at)
    entries.pop_front();
  if (!entries.empty() && entry.at - entries.back().at < 1min) {
    entries.back().launched += entry.launched;
    entries.back().failed += entry.failed;
    return;
  }
  entries.push_back(entry);
}

void LaunchHistory::launched(const Machine& machine, std::int64_t count, Time now) {
  if (count > 0) add(machine, {.at = now, .launched = count});
}

void LaunchHistory::failed(const Machine& machine, std::int64_t count, Time now) {
  if (count > 0) add(machine, {.at = now, .failed = count});
}

void LaunchHistory::set_running(const std::string& region, MachineCounts counts) {
  lately_[region].running = std::move(counts);
}

void LaunchHistory::set_interrupted(const std::string& region, MachineCounts counts) {
  lately_[region].interrupted = std::move(counts);
}

double LaunchHistory::reliability(const Machine& machine, Time now) const {
  double likely = machine.is_spot() ? usual_spot : usual_on_demand;
  if (const auto found = lately_.find(machine.region); found != lately_.end())
    likely *= share(static_cast<double>(found->second.running.of(machine)),
                    static_cast<double>(found->second.interrupted.of(machine)));
  const auto found = entries_.empty() ? entries_.end() : entries_.find(key_of(machine));
  if (found == entries_.end()) return likely;
  double launched = 0, failed = 0;
  for (const Entry& entry : found->second) {
    if (entry.at + launches_counted_for < now) continue;
    launched += static_cast<double>(entry.launched);
    failed += static_cast<double>(entry.failed);
  }
  return std::clamp(likely * share(launched, failed), 0.0, 1.0);
}

}  // namespace muster::cloud
