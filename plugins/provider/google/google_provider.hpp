// Machines of a Google Cloud project.
#pragma once

#include <memory>

#include <muster/provider.hpp>

#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/cloud/machines/places.hpp"
#include "plugins/provider/google/identification.hpp"
#include "plugins/provider/google/launching.hpp"
#include "plugins/provider/google/listing.hpp"
#include "plugins/provider/google/prices.hpp"
#include "plugins/provider/google/section.hpp"

namespace muster::google {

// Keeps caches only: whatever must outlive the process is in the machines' names and labels.
class GoogleProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);
  // Over any API; `invalid` for keys of identity tokens that cannot be read.
  static Result<std::unique_ptr<GoogleProvider>> over(Settings settings, std::unique_ptr<Api> api);

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
  GoogleProvider(Settings settings, std::unique_ptr<Api> api);
  Result<std::vector<std::string>> zones_of(const std::string& region, const Context& context);

  const Settings settings_;
  const std::unique_ptr<Api> api_;
  const cloud::SectionReader sections_;
  std::unique_ptr<IdentityKeys> keys_;
  cloud::SeenProofs seen_;
  cloud::Places places_;
  Prices prices_;
  Quotas quotas_;
  cloud::LaunchHistory history_;
  Launches launches_;
  Launcher launcher_;
  Preemptions preemptions_;
  std::string preemption_trouble_;  // what was logged last
  cloud::Epochs epochs_;
};

}  // namespace muster::google
