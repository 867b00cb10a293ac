// Launches machines: nothing is lost, and nothing is launched twice.
#pragma once

#include <map>

#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/azure/deployments.hpp"
#include "plugins/provider/azure/late_failures.hpp"
#include "plugins/provider/azure/launch_body.hpp"
#include "plugins/provider/azure/launch_follower.hpp"
#include "plugins/provider/azure/leftovers.hpp"
#include "plugins/provider/azure/quotas.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// What calls about a machine are about, for the scope of their errors.
ErrorScope scope_of(const cloud::Machine& machine, const LaunchConfigId& launch_config);

// THREADS: one at a time. All references are borrowed.
class Launcher {
 public:
  // What launches tell the other parts of the provider.
  struct Parts {
    cloud::LaunchHistory& history;
    cloud::RecentInstances& recent;
    LateFailures& late;
    LaunchFollower& follower;
    Quotas& quotas;
    Deployments& deployments;
    Leftovers& leftovers;
  };
  Launcher(const Settings& settings, Api& api, Parts parts)
      : settings_(settings), api_(api), parts_(parts) {}

  // One PUT for each key, by a name that is made from it, several at a time. A key that is
  // remembered is answered with the machine of then; if its answer was lost, it is sent again,
  // which Azure takes for the same machine. Of a key that an earlier process may have used Azure is
  // asked by its name; what Azure does not have is `transient` and not launched. An error that
  // would come again ends the launches that were not sent yet.
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context);

 private:
  struct Kept {
    std::optional<Instance> instance;  // nothing: it was sent, and the answer is not known
    Time at{};
  };
  struct Job;
  using Outcomes = std::map<IdempotencyKey, Launch>;

  void look_up(const AllocateRequest& request, const cloud::Machine& machine, Outcomes& outcomes,
               const Context& context);
  void launch_all(const AllocateRequest& request, const cloud::Machine& machine,
                  const std::string& user_data, Outcomes& outcomes, const Context& context);
  void put(Job& job, const Context& context) const;
  Result<Instance> read_existing(const Job& job, const Error& refusal,
                                 const Context& context) const;
  void note(Job& job, const cloud::Machine& machine, Time now);

  const Settings& settings_;
  Api& api_;
  const Parts parts_;
  std::map<IdempotencyKey, Kept> kept_;
};

}  // namespace muster::azure
