#include "plugins/provider/aws/reclaimed.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/pages.hpp"
#include "plugins/provider/aws/instances.hpp"

namespace muster::aws {
namespace {

constexpr std::chrono::minutes asked_every{5};

Result<MachineCounts> count_in(const std::string& region, const Owner& owner, Api& api,
                               const Context& context) {
  json::array filters = owner_filters(owner);
  filters.push_back(filter("state-reason-code",
                           {"Server.SpotInstanceTermination", "Server.SpotInstanceShutdown"}));
  MachineCounts counts;
  const auto done = for_each_page(
      {{"Filters", std::move(filters)}, {"MaxResults", 1000}},
      [&](const json::object& parameters) {
        return api.call({.service = "ec2",
                         .region = region,
                         .action = "DescribeInstances",
                         .parameters = parameters},
                        context);
      },
      [&](const json::object& answer) {
        for_each_instance(answer, [&](const json::object& instance, const std::string&) {
          const json::object* placement = table_of(instance, "Placement");
          counts.add(placement ? text_of(*placement, "AvailabilityZone") : "",
                     type_and_market(text_of(instance, "InstanceType"), true));
        });
        return Result<void>();
      },
      context);
  if (!done) return done.error();
  return counts;
}

}  // namespace

void Reclaimed::refresh(const Owner& owner, const std::set<std::string>& regions,
                        const Context& context) {
  for (const std::string& region : regions) {
    Time& ask_again = ask_again_[region];
    if (context.now() < ask_again || context.cancelled()) continue;
    ask_again = context.now() + asked_every;
    auto counts = count_in(region, owner, api_, context);
    if (counts)
      history_.set_interrupted(region, std::move(*counts));
    else
      context.log(LogLevel::debug,
                  "interruptions in " + region + " are as they were: " + counts.error().message);
  }
}

}  // namespace muster::aws
