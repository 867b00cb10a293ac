// Behaviour of real clouds, as far as operators of large fleets have described it: a row for each
// cloud, and the same failures with each cloud's own words.
#include <array>

#include "plugins/provider/simulated/settings.hpp"

namespace muster::simulated {
namespace {

struct Words {
  const char* code;
  const char* message;
};

struct CloudPreset {
  const char* name;
  Words shortage;  // of a type in a zone
  Words quota;     // of a region, as all that follow
  Words throttle;
  Words trouble;
  Boot boot;
  double shutdown_seconds;
  double interruptions_per_hour;
  double notice_seconds;
};

constexpr std::array clouds{
    CloudPreset{
        .name = "aws",
        .shortage = {"InsufficientInstanceCapacity",
                     "We currently do not have sufficient capacity in the Availability Zone you "
                     "requested."},
        .quota = {"VcpuLimitExceeded",
                  "You have requested more vCPU capacity than your current vCPU limit allows."},
        .throttle = {"RequestLimitExceeded", "Request limit exceeded."},
        .trouble = {"InternalError", "An internal error has occurred."},
        .boot = {.min_seconds = 30, .max_seconds = 120, .never = 0.005},
        .shutdown_seconds = 40,
        .interruptions_per_hour = 0.03,
        .notice_seconds = 120},
    CloudPreset{.name = "google",
                .shortage = {"ZONE_RESOURCE_POOL_EXHAUSTED",
                             "The zone does not have enough resources available to fulfill the "
                             "request."},
                .quota = {"QUOTA_EXCEEDED", "Quota 'CPUS' exceeded."},
                .throttle = {"rateLimitExceeded", "Rate Limit Exceeded"},
                .trouble = {"backendError", "Backend Error"},
                .boot = {.min_seconds = 20, .max_seconds = 90, .never = 0.005},
                .shutdown_seconds = 60,
                .interruptions_per_hour = 0.05,
                .notice_seconds = 30},
    CloudPreset{.name = "azure",
                .shortage = {"ZonalAllocationFailed",
                             "Allocation failed. We do not have sufficient capacity for the "
                             "requested VM size in this zone."},
                .quota = {"OperationNotAllowed",
                          "Operation could not be completed as it results in exceeding approved "
                          "Total Regional Cores quota."},
                .throttle = {"TooManyRequests", "The request is being throttled."},
                .trouble = {"InternalExecutionError", "An internal execution error occurred."},
                .boot = {.min_seconds = 60, .max_seconds = 240, .never = 0.01},
                .shutdown_seconds = 90,
                .interruptions_per_hour = 0.05,
                .notice_seconds = 30},
};

FailureRule failure(const char* method, const char* error_class, const Words& words,
                    double probability, std::int64_t hold_seconds) {
  return {.method = method,
          .error_class = error_class,
          .message = words.message,
          .code = words.code,
          .probability = probability,
          .hold_seconds = hold_seconds};
}

// Shortages are of a type in a zone; quotas and throttling are of a region.
void add_failures(Settings& settings, const CloudPreset& cloud) {
  for (const Region& region : settings.regions) {
    for (const std::string& zone : region.zones)
      for (const InstanceType& type : settings.instance_types) {
        FailureRule shortage = failure("allocate", "capacity", cloud.shortage, 0.03, 180);
        shortage.zone = zone;
        shortage.instance_type = type.name;
        settings.failures.push_back(std::move(shortage));
      }
    for (FailureRule rule : {failure("allocate", "quota", cloud.quota, 0.002, 600),
                             failure("allocate", "throttle", cloud.throttle, 0.01, 5),
                             failure("list", "throttle", cloud.throttle, 0.01, 5),
                             failure("list", "transient", cloud.trouble, 0.005, 30)}) {
      rule.region = region.name;
      settings.failures.push_back(std::move(rule));
    }
  }
  FailureRule lost =
      failure("allocate", "transient", {"noAnswer", "the connection was cut off before the answer"},
              0.005, 5);
  lost.after_effect = true;
  settings.failures.push_back(std::move(lost));
}

Error not_known(const std::string& name) {
  std::string known;
  for (const CloudPreset& cloud : clouds)
    known += (known.empty() ? "\"" : ", \"") + std::string(cloud.name) + "\"";
  return Error::invalid("preset: \"" + name + "\" is not known; known are " + known);
}

}  // namespace

Result<void> apply_preset(Settings& settings, const json::object& given) {
  if (!settings.preset) return {};
  for (const CloudPreset& cloud : clouds) {
    if (*settings.preset != cloud.name) continue;
    add_failures(settings, cloud);
    if (!given.contains("boot")) settings.boot = cloud.boot;
    if (!given.contains("shutdownSeconds")) settings.shutdown_seconds = cloud.shutdown_seconds;
    if (!given.contains("interruptions"))
      settings.interruptions = {.per_hour = cloud.interruptions_per_hour,
                                .notice_seconds = cloud.notice_seconds};
    return {};
  }
  return not_known(*settings.preset);
}

}  // namespace muster::simulated
