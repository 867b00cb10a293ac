// Machines of an Azure subscription.
#pragma once

#include <memory>

#include <muster/provider.hpp>

#include "plugins/provider/azure/identification.hpp"
#include "plugins/provider/azure/launching.hpp"
#include "plugins/provider/azure/listing.hpp"
#include "plugins/provider/azure/prices.hpp"
#include "plugins/provider/azure/section.hpp"

namespace muster::azure {

// Keeps caches only: whatever must outlive the process is in the machines' tags and names.
class AzureProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);

  AzureProvider(Settings settings, std::unique_ptr<Attestation> attestation,
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
  const Settings settings_;
  const std::unique_ptr<Api> api_;
  const AzureSection section_;
  Prices prices_;
  Quotas quotas_;
  cloud::LaunchHistory history_;
  cloud::RecentInstances recent_;
  LateFailures late_;
  LaunchFollower follower_;
  Deployments deployments_;
  Leftovers leftovers_;
  Launcher launcher_;
  Lister lister_;
  Identification identification_;
  cloud::Epochs epochs_;
};

}  // namespace muster::azure
