#include "host/fleet/holds/hold_ledger.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::bidding {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds longest_by_provider = 24h;
constexpr std::int64_t most_doublings = 10;

// What passes by itself is tried again soon, however often it failed.
std::chrono::seconds longest_by_strikes(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::throttle:
    case ErrorClass::transient:
    case ErrorClass::cancelled:
    case ErrorClass::internal:
      return 5min;
    default:
      return 1h;
  }
}

bool in_force(const Hold& hold, Time now) {
  return now < hold.until;
}

const std::string* fact(const LaunchConfig& launch_config, const char* name) {
  const auto found = launch_config.placement.facts.find(name);
  return found == launch_config.placement.facts.end() ? nullptr : &found->second;
}

bool allows(const std::optional<std::string>& wanted, const std::string* is) {
  return !wanted || (is && *is == *wanted);
}

}  // namespace

std::chrono::seconds default_hold(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::capacity:
      return 3min;
    case ErrorClass::quota:
      return 10min;
    case ErrorClass::throttle:
      return 30s;
    case ErrorClass::auth:
      return 5min;
    case ErrorClass::config:
    case ErrorClass::invalid:
    case ErrorClass::not_found:
    case ErrorClass::unsupported:
      return 10min;
    case ErrorClass::transient:
    case ErrorClass::cancelled:
      return 15s;
    case ErrorClass::internal:
      return 1min;
  }
  return 1min;
}

bool is_held(ErrorClass error_class) {
  return error_class != ErrorClass::cancelled;
}

std::string Hold::scope_text() const {
  std::string text;
  const auto add = [&](const char* name, const std::optional<std::string>& part) {
    if (part) text += (text.empty() ? "" : ", ") + std::string(name) + " " + *part;
  };
  add("region", error.scope.region);
  add("zone", error.scope.zone);
  add("instance type", error.scope.instance_type);
  add("launch configuration", error.scope.launch_config_id);
  return text.empty() ? "all of it" : text;
}

std::string Hold::in_words() const {
  std::string text = std::string(to_string(error.error_class)) + " error of " + provider_id.str() +
                     " (" + scope_text() + ")";
  text += probing ? ", one launch tries again: " : ", held until " + format_time(until) + ": ";
  return text + error.message;
}

bool covers(const Hold& hold, const ProviderId& provider, const LaunchConfig& launch_config) {
  const ErrorScope& scope = hold.error.scope;
  const std::string* zone = fact(launch_config, "availabilityZone");
  return hold.provider_id == provider && allows(scope.region, fact(launch_config, "region")) &&
         allows(scope.zone, zone ? zone : fact(launch_config, "zone")) &&
         allows(scope.instance_type, &launch_config.instance_type) &&
         allows(scope.launch_config_id, &launch_config.launch_config_id.str());
}

const Hold* HoldLedger::add(const ProviderId& provider, const Error& error, Time now) {
  if (!is_held(error.error_class)) return nullptr;
  Hold fresh{.provider_id = provider, .error = error, .since = now, .until = now};
  const auto [at, added] = holds_.try_emplace({provider, fresh.scope_text()}, fresh);
  Hold& hold = at->second;
  const bool again = !added && hold.error.error_class == error.error_class;
  // Launches that were on their way when the first failed say nothing new.
  if (again && in_force(hold, now)) return &hold;
  const std::int64_t strikes = again ? hold.strikes + 1 : 1;
  const auto base = std::clamp<std::chrono::seconds>(
      error.hold.value_or(default_hold(error.error_class)), 1s, longest_by_provider);
  const auto grown = base * (std::int64_t{1} << std::min(strikes - 1, most_doublings));
  const auto longest = std::max(longest_by_strikes(error.error_class), base);
  const Time until = now + std::min(grown, longest);
  if (until < hold.until) return &hold;  // what passes sooner does not end what is in force
  hold.strikes = strikes;
  if (!again) hold.since = now;
  hold.error = error;
  hold.until = until;
  hold.probing = false;
  return &hold;
}

const Hold* HoldLedger::find(const ProviderId& provider, const LaunchConfig& launch_config,
                             Time now) const {
  const Hold* longest = nullptr;
  for (auto at = holds_.lower_bound({provider, ""});
       at != holds_.end() && at->first.first == provider; ++at)
    if ((in_force(at->second, now) || at->second.probing) &&
        covers(at->second, provider, launch_config) &&
        (!longest || at->second.until > longest->until))
      longest = &at->second;
  return longest;
}

const Hold* HoldLedger::probed(const ProviderId& provider, const LaunchConfig& launch_config,
                               Time now) const {
  for (auto at = holds_.lower_bound({provider, ""});
       at != holds_.end() && at->first.first == provider; ++at)
    if (!in_force(at->second, now) && !at->second.probing &&
        covers(at->second, provider, launch_config))
      return &at->second;
  return nullptr;
}

bool HoldLedger::begin_probe(const Hold& hold) {
  const auto found = holds_.find({hold.provider_id, hold.scope_text()});
  if (found == holds_.end() || found->second.probing) return false;
  return found->second.probing = true;
}

std::vector<Hold> HoldLedger::succeeded(const ProviderId& provider,
                                        const LaunchConfig& launch_config) {
  std::vector<Hold> over;
  std::erase_if(holds_, [&](const auto& entry) {
    if (!entry.second.probing || !covers(entry.second, provider, launch_config)) return false;
    over.push_back(entry.second);
    return true;
  });
  return over;
}

void HoldLedger::probe_ended(const ProviderId& provider, const LaunchConfig& launch_config) {
  for (auto& [key, hold] : holds_)
    if (hold.probing && covers(hold, provider, launch_config)) hold.probing = false;
}

std::vector<Hold> HoldLedger::release(const ProviderId& provider,
                                      const std::optional<std::string>& scope) {
  std::vector<Hold> released;
  std::erase_if(holds_, [&](const auto& entry) {
    if (entry.first.first != provider || (scope && entry.first.second != *scope)) return false;
    released.push_back(entry.second);
    return true;
  });
  return released;
}

std::vector<Hold> HoldLedger::forget_before(Time then) {
  std::vector<Hold> forgotten;
  std::erase_if(holds_, [&](const auto& entry) {
    if (entry.second.until >= then) return false;
    forgotten.push_back(entry.second);
    return true;
  });
  return forgotten;
}

void HoldLedger::restore(Hold hold) {
  hold.probing = false;  // its canary's fate is found out by reconciling
  Key key{hold.provider_id, hold.scope_text()};
  holds_.insert_or_assign(std::move(key), std::move(hold));
}

std::vector<Hold> HoldLedger::all() const {
  std::vector<Hold> copies;
  for (const auto& [key, hold] : holds_) copies.push_back(hold);
  return copies;
}

std::vector<Hold> HoldLedger::clock_was_set(Time now) {
  std::vector<Hold> moved;
  for (auto& [key, hold] : holds_) {
    if (hold.since <= now) continue;
    hold.until = now + std::clamp<std::chrono::milliseconds>(hold.until - hold.since, 0ms,
                                                             longest_by_provider);
    hold.since = now;
    moved.push_back(hold);
  }
  return moved;
}

Time HoldLedger::next_end(Time now) const {
  Time next = Time::max();
  for (const auto& [key, hold] : holds_)
    if (in_force(hold, now)) next = std::min(next, hold.until);
  return next;
}

}  // namespace muster::bidding
