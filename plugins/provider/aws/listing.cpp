#include "plugins/provider/aws/listing.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/pages.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/aws/instances.hpp"

namespace muster::aws {
namespace {

constexpr std::size_t most_ids_of_filter = 200;  // values of one filter

Result<std::vector<Instance>> describe(json::array filters, const std::string& region, Api& api,
                                       const Context& context) {
  std::vector<Instance> found;
  const auto done = cloud::for_each_page(
      {{"Filters", std::move(filters)}, {"MaxResults", 1000}},
      [&](const json::object& parameters) {
        return api.call({.service = "ec2",
                         .region = region,
                         .action = "DescribeInstances",
                         .parameters = parameters},
                        context);
      },
      [&](const json::object& answer) {
        for_each_instance(answer, [&](const json::object& instance, const std::string& account) {
          if (auto made = read_instance(instance, account, region))
            found.push_back(std::move(*made));
        });
        return Result<void>();
      },
      context);
  if (!done) return done.error();
  return found;
}

json::array filters_of_list(const Owner& owner) {
  json::array filters = owner_filters(owner);
  filters.push_back(filter("instance-state-name",
                           {"pending", "running", "shutting-down", "stopping", "stopped"}));
  return filters;
}

// The list lacks what was just launched. EC2 may know it by its id; if not, it is as it was
// launched.
void add_missing(std::vector<Instance>& listed, const std::vector<Instance>& missing,
                 const std::string& region, Api& api, RecentInstances& recent,
                 const Context& context) {
  std::map<WorkerId, Instance> known;
  for (std::size_t from = 0; from < missing.size(); from += most_ids_of_filter) {
    json::array ids;
    for (std::size_t at = from; at < std::min(missing.size(), from + most_ids_of_filter); ++at)
      ids.emplace_back(missing[at].worker_id.str());
    auto found = describe({filter("instance-id", std::move(ids))}, region, api, context);
    if (!found) continue;
    for (Instance& instance : *found) known.emplace(instance.worker_id, std::move(instance));
  }
  for (const Instance& instance : missing) {
    const auto found = known.find(instance.worker_id);
    listed.push_back(found == known.end() ? instance : found->second);
    if (listed.back().state == InstanceState::stopped) recent.settled(instance.worker_id);
  }
}

void end_stopped(const std::vector<Instance>& listed, const std::string& region, Api& api,
                 const Context& context) {
  json::array ids;
  for (const Instance& instance : listed)
    if (instance.state == InstanceState::stopped) ids.emplace_back(instance.worker_id.str());
  if (ids.empty()) return;
  const std::size_t count = ids.size();
  const auto ended = api.call({.service = "ec2",
                               .region = region,
                               .action = "TerminateInstances",
                               .parameters = {{"InstanceIds", std::move(ids)}}},
                              context);
  context.log(
      ended ? LogLevel::info : LogLevel::warning,
      std::to_string(count) + " stopped machines in " + region +
          (ended ? " are terminated" : " could not be terminated: " + ended.error().message));
}

}  // namespace

Result<std::vector<Instance>> find_launched(const Owner& owner, const std::string& region,
                                            const LaunchConfigId& launch_config, Api& api,
                                            const Context& context) {
  json::array filters = owner_filters(owner);
  filters.push_back(
      filter(std::string("tag:") + tag::launch_config, {json::value(launch_config.str())}));
  return describe(std::move(filters), region, api, context);
}

Listing list_instances(const Owner& owner, const std::vector<std::string>& regions, Api& api,
                       RecentInstances& recent, const Context& context) {
  std::vector<Result<std::vector<Instance>>> answers(regions.size());
  in_parallel(regions.size(), [&](std::size_t at) {
    answers[at] = describe(filters_of_list(owner), regions[at], api, context);
  });
  Listing listing;
  for (std::size_t at = 0; at < regions.size(); ++at) {
    auto& answer = answers[at];
    if (!answer) {
      Error problem = answer.error();
      problem.scope = {};
      problem.scope.region = regions[at];
      listing.problems.push_back(std::move(problem));
      continue;
    }
    end_stopped(*answer, regions[at], api, context);
    add_missing(*answer, recent.missing(owner, regions[at], *answer, context.now()), regions[at],
                api, recent, context);
    for (Instance& instance : *answer) listing.instances.push_back(std::move(instance));
  }
  recent.correct(listing.instances);
  return listing;
}

}  // namespace muster::aws
