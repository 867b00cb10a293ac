#include "plugins/provider/aws/regions.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "plugins/provider/aws/instances.hpp"
#include "plugins/provider/aws/json_access.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
constexpr auto zones_kept_for = 1h;
constexpr auto zones_retry_after = 1min;
constexpr std::size_t most_threads = 16;

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr bug;
  const auto run = [&] {
    try {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    } catch (...) {
      const std::lock_guard lock(mutex);
      bug = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < std::min(count, most_threads); ++i) threads.emplace_back(run);
    } catch (const std::system_error&) {
      // The process may have no more threads: then those that there are do the work.
    }
    run();
  }
  if (bug) std::rethrow_exception(bug);
}

Result<std::vector<std::string>> Regions::names(const Context& context) {
  if (!settings_.regions.empty()) return settings_.regions;
  if (context.now() < ask_for_regions_again_) return enabled_;
  const auto answer = api_.call({.service = "ec2",
                                 .region = settings_.home_region,
                                 .action = "DescribeRegions",
                                 .parameters = {{"AllRegions", false}}},
                                context);
  if (!answer) {
    if (enabled_.empty()) return answer.error();
    context.log(LogLevel::warning, "the regions of the account are as they were an hour ago: " +
                                       answer.error().message);
    ask_for_regions_again_ = context.now() + zones_retry_after;
    return enabled_;
  }
  enabled_.clear();
  for_each_of(*answer, "Regions", [&](const json::object& region) {
    enabled_.push_back(text_of(region, "RegionName"));
  });
  std::ranges::sort(enabled_);
  ask_for_regions_again_ = context.now() + zones_kept_for;
  return enabled_;
}

Result<std::vector<std::string>> Regions::ask_for_zones(const std::string& region,
                                                        const Context& context) const {
  const auto answer = api_.call(
      {.service = "ec2",
       .region = region,
       .action = "DescribeAvailabilityZones",
       .parameters = {{"Filters", json::array{filter("state", {"available"}),
                                              filter("zone-type", {"availability-zone"})}}}},
      context);
  if (!answer) return answer.error();
  std::vector<std::string> zones;
  for_each_of(*answer, "AvailabilityZones", [&](const json::object& zone) {
    if (std::string name = text_of(zone, "ZoneName"); !name.empty())
      zones.push_back(std::move(name));
  });
  std::ranges::sort(zones);
  return zones;
}

Result<Placements> Regions::placements(const Context& context) {
  const auto regions = names(context);
  if (!regions) return regions.error();
  std::vector<std::string> due;
  for (const std::string& region : *regions)
    if (zones_[region].ask_again <= context.now()) due.push_back(region);
  std::vector<Result<std::vector<std::string>>> answers(due.size());
  in_parallel(due.size(), [&](std::size_t at) { answers[at] = ask_for_zones(due[at], context); });
  for (std::size_t at = 0; at < due.size(); ++at) {
    Zones& zones = zones_[due[at]];
    if (answers[at]) {
      zones = {std::move(*answers[at]), context.now() + zones_kept_for, std::nullopt};
      continue;
    }
    zones.error = answers[at].error();
    zones.ask_again = context.now() + zones_retry_after;
    context.log(LogLevel::warning,
                "region " + due[at] +
                    (zones.names.empty() ? " is left out" : " is taken as it was") +
                    ", for its zones are not known: " + zones.error->message);
  }
  Placements found;
  std::optional<Error> error;
  for (const std::string& region : *regions) {
    const Zones& zones = zones_[region];
    if (zones.error) error = zones.error;
    for (const std::string& zone : zones.names)
      found.placements.push_back({{{"region", region}, {"availabilityZone", zone}}});
  }
  if (found.placements.empty() && error) return *error;
  return found;
}

}  // namespace muster::aws
