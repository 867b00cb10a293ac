#include "plugins/provider/aws/diagnosis.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/aws/instances.hpp"
#include "plugins/provider/aws/launching.hpp"
#include "plugins/provider/aws/region_diagnosis.hpp"

namespace muster::aws {

namespace {

Diagnosis::Check check_credentials(const Settings& settings, Api& api, const Context& context) {
  const auto answer = api.call(
      {.service = "sts", .region = settings.home_region, .action = "GetCallerIdentity"}, context);
  if (!answer)
    return failed(words, "credentials", answer.error(),
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
    return failed(words, subject, answer.error(),
                  "check the URL in interruptionQueues, and allow sqs:ReceiveMessage and "
                  "sqs:DeleteMessage on the queue");
  return good(subject, "messages can be received");
}

}  // namespace

Diagnosis diagnosis_without_regions(const Settings& settings, const Error& error) {
  return {{failed(words, "regions", error,
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
  if (const auto offset = api.clock_offset(settings.home_region))
    diagnosis.checks.push_back(check_of_clock(words, *offset));
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
  if (request.launch_configs.empty()) diagnosis.checks.push_back(nothing_to_launch(words));
  return diagnosis;
}

}  // namespace muster::aws
