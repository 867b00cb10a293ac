#include "host/fleet/reconciliation/listing_scope.hpp"

#include <algorithm>

namespace muster::fleet {
namespace {

bool covers(const Error& problem, const std::string& group, const LaunchConfig& launch_config) {
  const ErrorScope& scope = problem.scope;
  if (scope.whole_provider()) return true;
  const auto is = [&](const std::optional<std::string>& wanted, const char* fact) {
    if (!wanted) return true;
    const auto found = launch_config.placement.facts.find(fact);
    return *wanted == group ||
           (found != launch_config.placement.facts.end() && found->second == *wanted);
  };
  return is(scope.region, "region") &&
         (is(scope.zone, "availabilityZone") || is(scope.zone, "zone"));
}

}  // namespace

bool hides(const Listing& listing, const std::string& group, const LaunchConfig& launch_config) {
  return std::ranges::any_of(listing.problems, [&](const Error& problem) {
    return covers(problem, group, launch_config);
  });
}

}  // namespace muster::fleet
