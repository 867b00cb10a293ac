#include "plugins/strategy/classic/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "plugins/strategy/classic/numbers.hpp"

namespace muster::classic {
namespace {

// "20 maxCapacity − 3 running − 2 requested = 15"
std::string up_to(const char* limit_name, std::int64_t limit, const PoolCapacity& capacity,
                  std::int64_t change) {
  return std::to_string(limit) + " " + limit_name + " − " + std::to_string(capacity.running) +
         " running − " + std::to_string(capacity.requested) +
         " requested = " + std::to_string(change);
}

}  // namespace

Result<void> check_counts(const SizeRequest& request) {
  const PoolCapacity& capacity = request.capacity;
  const std::initializer_list<std::pair<const char*, std::int64_t>> counts{
      {"pending", request.pending},
      {"capacity.running", capacity.running},
      {"capacity.requested", capacity.requested},
      {"settings.minCapacity", request.settings.min_capacity},
      {"settings.maxCapacity", request.settings.max_capacity}};
  for (const auto& [name, count] : counts)
    if (count < 0 || count > largest_count)
      return Error::invalid(std::string(name) + ": " + std::to_string(count) +
                            " is not between 0 and " + std::to_string(largest_count));
  if (!(std::abs(request.settings.scaling_ratio) <= 1'000'000))
    return Error::invalid("settings.scalingRatio: " + in_words(request.settings.scaling_ratio) +
                          " is not between -1000000 and 1000000");
  return {};
}

double round_half_up(double number) {
  const double below = std::floor(number);
  return number - below >= 0.5 ? below + 1 : below;  // floor(x + 0.5) is wrong just below a half
}

Result<Size> size(const SizeRequest& request) {
  if (const auto counts = check_counts(request); !counts) return counts.error();
  const auto& [running, requested, stopping, idle] = request.capacity;
  const auto& settings = request.settings;
  const auto desired_pending = static_cast<std::int64_t>(
      round_half_up(settings.scaling_ratio * static_cast<double>(running)));
  std::int64_t change = request.pending - requested - desired_pending;
  std::string reason = std::to_string(request.pending) + " pending − " + std::to_string(requested) +
                       " requested − round(" + in_words(settings.scaling_ratio) + " × " +
                       std::to_string(running) + " running) = " + std::to_string(change);
  const std::int64_t after = change + requested + running;
  if (after >= settings.max_capacity) {
    const std::int64_t allowed = settings.max_capacity - running - requested;
    if (allowed != change)
      reason +=
          "; limited: " + up_to("maxCapacity", settings.max_capacity, request.capacity, allowed);
    change = allowed;
  } else if (after < settings.min_capacity) {
    change = settings.min_capacity - running - requested;
    reason += "; raised: " + up_to("minCapacity", settings.min_capacity, request.capacity, change);
  }
  return Size{change, std::move(reason)};
}

}  // namespace muster::classic
