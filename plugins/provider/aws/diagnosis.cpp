#include "plugins/provider/aws/diagnosis.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "plugins/provider/aws/instances.hpp"
#include "plugins/provider/aws/json_access.hpp"
#include "plugins/provider/aws/launching.hpp"
#include "plugins/provider/aws/region_diagnosis.hpp"
#include "plugins/provider/aws/regions.hpp"

namespace muster::aws {

Diagnosis::Check good(std::string subject, std::string message) {
  return {std::move(subject), CheckOutcome::good, std::move(message), {}};
}

Diagnosis::Check failed(std::string subject, const Error& error, std::string remedy) {
  return {std::move(subject), CheckOutcome::failed, error.message,
          remedy.empty() ? std::string("see the message; docs/clouds/aws.md says what the provider "
                                       "needs")
                         : std::move(remedy)};
}

namespace {

Diagnosis::Check check_credentials(const Settings& settings, Api& api, const Context& context) {
  const auto answer = api.call(
      {.service = "sts", .region = settings.home_region, .action = "GetCallerIdentity"}, context);
  if (!answer)
    return failed("credentials", answer.error(),
                  "check `credentials` in the provider's configuration, and that this machine can "
                  "reach sts in " +
                      settings.home_region);
  const std::string account = text_of(*answer, "Account");
  if (!settings.account_id.empty() && settings.account_id != account)
    return {
        "credentials", CheckOutcome::failed,
        "the credentials are of account " + account + ", and accountId is " + settings.account_id,
        "use credentials of that account, or correct accountId"};
  return good("credentials", "account " + account + ", " + text_of(*answer, "Arn"));
}

Diagnosis::Check check_queue(const std::string& region, const std::string& queue, Api& api,
                             const Context& context) {
  const std::string subject = region + ": interruption queue";
  const auto answer = api.call({.service = "sqs",
                                .region = region,
                                .action = "ReceiveMessage",
                                .parameters = {{"QueueUrl", queue},
                                               {"MaxNumberOfMessages", 1},
                                               {"VisibilityTimeout", 0},
                                               {"WaitTimeSeconds", 0}}},
                               context);
  if (!answer)
    return failed(subject, answer.error(),
                  "check the URL in interruptionQueues, and allow sqs:ReceiveMessage and "
                  "sqs:DeleteMessage on the queue");
  return good(subject, "messages can be received");
}

}  // namespace

Diagnosis diagnosis_without_regions(const Settings& settings, const Error& error) {
  return {{failed("regions", error,
                  "`regions` is \"all\", so ec2 in " + settings.home_region +
                      " is asked for the account's regions; check the credentials and the network, "
                      "or list the regions")}};
}

Diagnosis make_diagnosis(const DiagnoseRequest& request, const Settings& settings,
                         const std::vector<std::string>& regions, Api& api,
                         const Context& context) {
  std::map<std::string, std::vector<const LaunchConfig*>> by_region;
  for (const LaunchConfig& launch_config : request.launch_configs) {
    const auto region = launch_config.placement.facts.find("region");
    if (region != launch_config.placement.facts.end())
      by_region[region->second].push_back(&launch_config);
  }
  Diagnosis diagnosis{{check_credentials(settings, api, context)}};
  if (const auto offset = api.clock_offset(settings.home_region)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*offset).count();
    if (std::abs(seconds) < 60)
      diagnosis.checks.push_back(good("clock", "it differs from AWS's by less than a minute"));
    else
      diagnosis.checks.push_back({"clock", CheckOutcome::failed,
                                  "this machine's clock is " + std::to_string(std::abs(seconds)) +
                                      " s " + (seconds > 0 ? "behind" : "ahead of") +
                                      " AWS's; requests are signed with AWS's time meanwhile",
                                  "set the clock, for example with chrony or systemd-timesyncd"});
  }
  std::vector<std::vector<Diagnosis::Check>> checks(regions.size());
  in_parallel(regions.size(), [&](std::size_t at) {
    const auto found = by_region.find(regions[at]);
    checks[at] = RegionDiagnosis(
                     request.owner, regions[at],
                     found == by_region.end() ? std::vector<const LaunchConfig*>{} : found->second,
                     api, context)
                     .run();
    if (const auto queue = settings.interruption_queues.find(regions[at]);
        queue != settings.interruption_queues.end())
      checks[at].push_back(check_queue(regions[at], queue->second, api, context));
  });
  for (auto& of_region : checks) std::ranges::move(of_region, std::back_inserter(diagnosis.checks));
  if (request.launch_configs.empty())
    diagnosis.checks.push_back(
        {"launch configurations", CheckOutcome::unknown,
         "no pool has a launch configuration for this provider, so no image, subnet or quota was "
         "checked",
         "name the provider in a worker configuration and give it a section `aws`"});
  return diagnosis;
}

}  // namespace muster::aws
