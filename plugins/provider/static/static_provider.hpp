// Machines that nobody launches: they stand in a rack, and their owner announces each of them to
// the host together with a secret. The machine shows the secret when it registers.
#pragma once

#include <memory>
#include <string>

#include <muster/provider.hpp>

namespace muster::static_machines {

// Keeps nothing: what is known of a machine is in the host's row of it.
class StaticProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);

  explicit StaticProvider(std::string region) : region_(std::move(region)) {}

  Result<Placements> placements(const PlacementsRequest& request, const Context& context) override;
  Result<Expansion> expand(const ExpandRequest& request, const Context& context) override;
  Result<Bids> bid(const BidRequest& request, const Context& context) override;
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override;
  Result<Listing> list(const ListRequest& request, const Context& context) override;
  // Switches nothing off: whoever announced the machine has its power switch.
  Result<Termination> terminate(const TerminateRequest& request, const Context& context) override;
  // The proof is {"staticSecret"}; the row's data has the secret's SHA-256 in hex as
  // "staticSecretSha256".
  Result<Identity> identify(const IdentifyRequest& request, const Context& context) override;

 private:
  std::string region_;
};

}  // namespace muster::static_machines
