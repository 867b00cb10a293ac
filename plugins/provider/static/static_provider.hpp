// Machines of a datacenter, which nobody creates: most of them are on and announced, by the
// configuration, by their owner (createWorker) or by themselves; some sleep until they are needed.
#pragma once

#include <memory>
#include <string>

#include <muster/provider.hpp>

namespace muster::static_machines {

struct Settings;
class Power;

// Keeps nothing but which powered machine is awake; the rest is in the host's rows.
class StaticProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);

  // No machine is known by name: all of them come through createWorker.
  explicit StaticProvider(std::string region);
  explicit StaticProvider(std::unique_ptr<const Settings> settings);
  ~StaticProvider() override;

  Result<Placements> placements(const PlacementsRequest& request, const Context& context) override;
  Result<Expansion> expand(const ExpandRequest& request, const Context& context) override;
  Result<Bids> bid(const BidRequest& request, const Context& context) override;
  // Runs wakeCommand, several at a time.
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override;
  // Announced: the machines of the configuration that are not powered. Instances: those awake.
  Result<Listing> list(const ListRequest& request, const Context& context) override;
  // Runs powerOffCommand for machines that were launched. The owner who declared another machine
  // has its power switch.
  Result<Termination> terminate(const TerminateRequest& request, const Context& context) override;
  // The proof is {"staticSecret"} or {"poolKey": {"signature", "publicKey"}}, or somebody vouches;
  // with "state" beside it.
  Result<Identity> identify(const IdentifyRequest& request, const Context& context) override;

 private:
  std::unique_ptr<const Settings> settings_;
  std::unique_ptr<Power> power_;
};

}  // namespace muster::static_machines
