// What goes wrong, and for how long: slow calls, failures, places that are full.
#include <algorithm>
#include <cmath>

#include "plugins/provider/simulated/cloud.hpp"
#include "plugins/provider/simulated/draws.hpp"
#include "plugins/provider/simulated/use.hpp"

namespace muster::simulated {
namespace {

using namespace std::chrono_literals;

double seconds_between(Time from, Time to) {
  return static_cast<double>((to - from).count()) / 1000;
}

Error make_error(const FailureRule& rule) {
  Error error{*error_class_from(rule.error_class),
              rule.message.empty() ? "simulated failure of " + rule.method : rule.message};
  error.scope = {rule.region, rule.zone, rule.instance_type, {}};
  error.code = rule.code;
  if (rule.hold_seconds) error.hold = std::chrono::seconds(*rule.hold_seconds);
  return error;
}

}  // namespace

// What every call does first: takes its time, and fails if it is to fail as a whole.
Result<void> Cloud::begin(const char* method, const Context& context) {
  if (!state_.started) {
    state_.started = context.now();
    ++changes_;
  }
  look_at_the_clock(context.now());
  for (std::size_t i = 0; i < settings_.slow.size(); ++i) {
    const SlowRule& rule = settings_.slow[i];
    if (rule.method != method) continue;
    const std::string index = std::to_string(i);
    const auto count = ++state_.slow_calls[index];
    ++changes_;
    if (draw(settings_.seed, {"slow", index, std::to_string(count)}) < rule.probability && wait_)
      wait_(std::chrono::milliseconds(std::llround(std::min(rule.seconds, 3e9) * 1000)), context);
  }
  if (context.cancelled()) return Error::cancelled(std::string(method) + " was cancelled");
  if (const auto failed = fails(method, {}, context.now())) return *failed;
  return {};
}

// With an empty site only rules for no special place apply, with a site only those for one: a call
// as a whole is asked once, and then each place that it touches. A launch is always at a place.
std::optional<Error> Cloud::fails(const char* method, const Site& site, Time now,
                                  bool after_effect) {
  const bool launching = std::string_view(method) == "allocate";
  for (std::size_t i = 0; i < settings_.failures.size(); ++i) {
    const FailureRule& rule = settings_.failures[i];
    const bool placed = rule.region || rule.zone || rule.instance_type;
    if (rule.method != method || rule.after_effect != after_effect) continue;
    if (site.region.empty() ? placed || launching : !placed && !launching) continue;
    if ((rule.region && *rule.region != site.region) || (rule.zone && *rule.zone != site.zone) ||
        (rule.instance_type && *rule.instance_type != site.instance_type))
      continue;
    const double age = seconds_between(*state_.started, now);
    if (age < rule.from_seconds.value_or(age) || age > rule.until_seconds.value_or(age)) continue;
    const std::string index = std::to_string(i);
    RuleCount& count = state_.failures[index];
    ++changes_;
    if (++count.matched <= rule.after || (rule.times && count.fired >= *rule.times)) continue;
    if (draw(settings_.seed, {"failure", index, std::to_string(count.matched)}) >= rule.probability)
      continue;
    ++count.fired;
    return make_error(rule);
  }
  return std::nullopt;
}

std::int64_t Cloud::room(const Site& site, const Use& use) const {
  std::int64_t free = settings_.find_type(site.instance_type)->per_zone - use.at(site);
  for (const QuotaSetting& quota : settings_.quotas)
    if ((!quota.region || *quota.region == site.region) &&
        (!quota.instance_type || *quota.instance_type == site.instance_type))
      free = std::min(free, quota.instances - use.of(quota));
  return free;
}

Error Cloud::no_room(const Site& site, const Use& use) const {
  if (use.at(site) >= settings_.find_type(site.instance_type)->per_zone)
    return Error::capacity("no " + site.instance_type + " is free in " + site.zone)
        .in_region(site.region)
        .in_zone(site.zone)
        .of_instance_type(site.instance_type)
        .hold_for(3min)
        .with_code("InsufficientInstanceCapacity");
  Error error = Error::quota("the quota of instances is used up")
                    .hold_for(10min)
                    .with_code("InstanceLimitExceeded");
  for (const QuotaSetting& quota : settings_.quotas)
    if ((!quota.region || *quota.region == site.region) &&
        (!quota.instance_type || *quota.instance_type == site.instance_type) &&
        use.of(quota) >= quota.instances) {
      error.message = "the quota of " + std::to_string(quota.instances) + " instances" +
                      (quota.instance_type ? " of " + *quota.instance_type : "") +
                      (quota.region ? " in " + *quota.region : "") + " is used up";
      error.scope = {quota.region, {}, quota.instance_type, {}};
      break;
    }
  return error;
}

}  // namespace muster::simulated
