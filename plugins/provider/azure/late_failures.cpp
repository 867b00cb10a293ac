#include "plugins/provider/azure/late_failures.hpp"

#include <algorithm>

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
constexpr auto hold_of_failure = 180s;
constexpr auto remembered_for = 1min;
constexpr std::size_t most_failures = 1000;

bool is_about_type(const Error& error, const cloud::Machine& machine) {
  if (!error.scope.instance_type) return true;
  const std::string& type = *error.scope.instance_type;
  if (is_allocation_failure(error)) return type.substr(0, type.find('/')) == machine.instance_type;
  return type == machine.type_and_market();
}

bool same_or_open(const std::optional<std::string>& scope, const std::string& value) {
  return !scope || *scope == value;
}

}  // namespace

bool is_allocation_failure(const Error& error) {
  return error.error_class == ErrorClass::capacity &&
         (error.code.find("llocation") != std::string::npos ||
          error.code.starts_with("Overconstrained"));
}

void LateFailures::add(const Error& error, Time began, Time now) {
  std::erase_if(failures_, [&](const Failure& failure) { return failure.forgotten <= now; });
  const Time until = now + error.hold.value_or(hold_of_failure);
  Failure fresh{error, now, until, std::min(until, now + remembered_for)};
  for (Failure& known : failures_)
    if (known.error.scope == error.scope && known.error.code == error.code) {
      if (began >= known.at) known = std::move(fresh);
      return;
    }
  if (failures_.size() >= most_failures) failures_.erase(failures_.begin());
  failures_.push_back(std::move(fresh));
}

void LateFailures::told(const Error& error) {
  for (Failure& failure : failures_) {
    ErrorScope scope = error.scope;
    scope.instance_type = failure.error.scope.instance_type;
    if (scope == failure.error.scope) failure.told.insert(error.scope.instance_type.value_or(""));
  }
}

std::optional<Error> LateFailures::about(const cloud::Machine& machine,
                                         const LaunchConfigId& launch_config, Time now) const {
  for (const Failure& failure : failures_) {
    const ErrorScope& scope = failure.error.scope;
    if (failure.forgotten <= now || scope.whole_provider() ||
        !same_or_open(scope.region, machine.region) || !same_or_open(scope.zone, machine.zone) ||
        !same_or_open(scope.launch_config_id, launch_config.str()) ||
        !is_about_type(failure.error, machine) ||
        failure.told.contains(scope.instance_type ? machine.type_and_market() : ""))
      continue;
    Error error = failure.error;
    error.hold = std::chrono::ceil<std::chrono::seconds>(failure.until - now);
    if (error.scope.instance_type) error.scope.instance_type = machine.type_and_market();
    return error;
  }
  return std::nullopt;
}

}  // namespace muster::azure
