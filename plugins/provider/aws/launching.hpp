// Launches machines: nothing is lost, and nothing is launched twice.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/cloud/machines/quota_memory.hpp"
#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/batches.hpp"
#include "plugins/provider/aws/quotas.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// RunInstances' parameters without counts, ClientToken and tags.
Result<json::object> launch_parameters(const Machine& machine, const AllocateRequest& request);

// The same tags for machines, volumes and spot requests.
json::array tag_specifications(const Machine& machine, const json::array& tags);

// THREADS: one at a time. All references are borrowed.
class Launcher {
 public:
  Launcher(const Settings& settings, Api& api, LaunchHistory& history, RecentInstances& recent,
           QuotaMemory& quota_memory)
      : settings_(settings),
        api_(api),
        history_(history),
        recent_(recent),
        quota_memory_(quota_memory) {}

  // A key that is remembered is answered by its first call, which is repeated if its answer was
  // lost. Of a key that an earlier process may have used, EC2 is asked; what EC2 does not have is
  // `transient` and not launched.
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context);

 private:
  using Found = std::map<IdempotencyKey, Launch>;

  Found look_up(const AllocateRequest& request, const Machine& machine, const Context& context);
  Result<std::vector<Batch*>> batches_for(const AllocateRequest& request, const Machine& machine,
                                          const Found& found, const Context& context);
  std::optional<Error> run(Batch& batch, const Machine& machine, const Context& context);
  std::vector<Launch> read_launches(const Batch& batch, const json::object& answer,
                                    const Machine& machine, const Context& context);

  const Settings& settings_;
  Api& api_;
  LaunchHistory& history_;
  RecentInstances& recent_;
  QuotaMemory& quota_memory_;
  const Quotas quotas_;
  Batches batches_;
};

}  // namespace muster::aws
