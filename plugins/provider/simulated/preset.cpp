// Behaviour of real clouds, as far as operators of large fleets have described it.
#include "plugins/provider/simulated/settings.hpp"

namespace muster::simulated {
namespace {

FailureRule failure(const char* method, const char* error_class, const char* code,
                    const char* message, double probability, std::int64_t hold_seconds) {
  return {.method = method,
          .error_class = error_class,
          .message = message,
          .code = code,
          .probability = probability,
          .hold_seconds = hold_seconds};
}

// Shortages are of a type in a zone; quotas and throttling are of a region.
void add_failures_of_aws(Settings& settings) {
  for (const Region& region : settings.regions) {
    for (const std::string& zone : region.zones)
      for (const InstanceType& type : settings.instance_types) {
        FailureRule shortage =
            failure("allocate", "capacity", "InsufficientInstanceCapacity",
                    "We currently do not have sufficient capacity in the Availability Zone you "
                    "requested.",
                    0.03, 180);
        shortage.zone = zone;
        shortage.instance_type = type.name;
        settings.failures.push_back(std::move(shortage));
      }
    for (FailureRule rule :
         {failure("allocate", "quota", "VcpuLimitExceeded",
                  "You have requested more vCPU capacity than your current vCPU limit allows.",
                  0.002, 600),
          failure("allocate", "throttle", "RequestLimitExceeded", "Request limit exceeded.", 0.01,
                  5),
          failure("list", "throttle", "RequestLimitExceeded", "Request limit exceeded.", 0.01, 5),
          failure("list", "transient", "InternalError", "An internal error has occurred.", 0.005,
                  30)}) {
      rule.region = region.name;
      settings.failures.push_back(std::move(rule));
    }
  }
  FailureRule lost = failure("allocate", "transient", "noAnswer",
                             "the connection was cut off before the answer", 0.005, 5);
  lost.after_effect = true;
  settings.failures.push_back(std::move(lost));
}

}  // namespace

Result<void> apply_preset(Settings& settings, const json::object& given) {
  if (!settings.preset) return {};
  if (*settings.preset != "aws")
    return Error::invalid("preset: \"" + *settings.preset + "\" is not known; known is \"aws\"");
  add_failures_of_aws(settings);
  if (!given.contains("boot"))
    settings.boot = {.min_seconds = 30, .max_seconds = 120, .never = 0.005};
  if (!given.contains("shutdownSeconds")) settings.shutdown_seconds = 40;
  if (!given.contains("interruptions"))
    settings.interruptions = {.per_hour = 0.03, .notice_seconds = 120};
  return {};
}

}  // namespace muster::simulated
