// Workers that are processes of the host's own machine: each an agent that supervises a worker
// implementation, in a folder, a session and limits of its own. They outlive the host: a provider
// that opens the folder next has them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <muster/provider.hpp>

#include "plugins/provider/local/local_workers_folder.hpp"

namespace muster::local {

// Has a thread from its first call about workers on: it kills workers that outlive the grace, and
// what agents leave behind that did not end by themselves. Destroying the object ends no worker,
// unless its folder is a temporary one.
class LocalProvider final : public Provider {
 public:
  static ProviderDescription describe();
  static Result<std::unique_ptr<Provider>> create(const json::object& config,
                                                  const Context& context);

  LocalProvider(Settings settings, Clock clock);
  ~LocalProvider() override;

  Result<Placements> placements(const PlacementsRequest& request, const Context& context) override;
  Result<Expansion> expand(const ExpandRequest& request, const Context& context) override;
  Result<Bids> bid(const BidRequest& request, const Context& context) override;
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override;
  Result<Listing> list(const ListRequest& request, const Context& context) override;
  Result<Termination> terminate(const TerminateRequest& request, const Context& context) override;
  // The proof is {"localSecret"}; the row's data has the secret's SHA-256 in hex as "secretSha256".
  Result<Identity> identify(const IdentifyRequest& request, const Context& context) override;

 private:
  Result<Look> look(const Context& context);
  void watch_over();  // starts the thread, once
  void run();

  std::mutex mutex_;  // of the workshop
  LocalWorkersFolder workshop_;
  Settings settings_;  // as given; never changes
  std::condition_variable wake_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace muster::local
