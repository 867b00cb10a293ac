// Machines of an AWS account.
#pragma once

#include <memory>
#include <string>

#include <muster/provider.hpp>

#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/provider/aws/identity_keys.hpp"
#include "plugins/provider/aws/interruptions.hpp"
#include "plugins/provider/aws/launching.hpp"
#include "plugins/provider/aws/prices.hpp"
#include "plugins/provider/aws/reclaimed.hpp"
#include "plugins/provider/aws/regions.hpp"
#include "plugins/provider/aws/section.hpp"

namespace muster::aws {

// Keeps caches only: whatever must outlive the process is in the machines' tags.
class AwsProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);

  AwsProvider(Settings settings, std::unique_ptr<const IdentityKeys> keys,
              std::unique_ptr<Api> api);

  Result<Placements> placements(const PlacementsRequest& request, const Context& context) override;
  Result<Expansion> expand(const ExpandRequest& request, const Context& context) override;
  Result<Bids> bid(const BidRequest& request, const Context& context) override;
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override;
  Result<Listing> list(const ListRequest& request, const Context& context) override;
  Result<Termination> terminate(const TerminateRequest& request, const Context& context) override;
  Result<Identity> identify(const IdentifyRequest& request, const Context& context) override;
  Result<Notices> notices(const NoticesRequest& request, const Context& context) override;
  Result<Diagnosis> diagnose(const DiagnoseRequest& request, const Context& context) override;

 private:
  void note_running(const Listing& listing, const std::vector<std::string>& regions);

  const Settings settings_;
  const std::unique_ptr<const IdentityKeys> keys_;
  const std::unique_ptr<Api> api_;
  const SectionReader sections_;
  Regions regions_;
  Prices prices_;
  const Quotas quotas_;
  LaunchHistory history_;
  QuotaMemory quota_memory_;
  Reclaimed reclaimed_;
  RecentInstances recent_;
  Launcher launcher_;
  Interruptions interruptions_;
  Epochs epochs_;
};

}  // namespace muster::aws
