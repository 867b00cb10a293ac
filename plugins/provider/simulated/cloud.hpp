// A cloud in memory, deterministic: the same seed, the same calls at the same times give the same
// answers, failures, prices and boot times. Its only clock is context.now(), so a test or a
// simulation moves it at will; it does no I/O and has no thread.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include <muster/provider.hpp>

#include "plugins/provider/simulated/settings.hpp"
#include "plugins/provider/simulated/state.hpp"

namespace muster::simulated {

// Passes the time of a slow call; returns early when the context is cancelled. A simulation that
// has its own idea of time gives its own.
using Wait = std::function<void(std::chrono::milliseconds, const Context&)>;

// The price of one machine for an hour, at that time. Pure.
double price_at(const Settings& settings, const std::string& zone, const InstanceType& type,
                Time now);

// What a worker shows as {"token": ...} to be identified.
std::string proof_token(const std::string& secret, const WorkerPoolId& pool,
                        const WorkerGroup& group, const WorkerId& worker);

class Cloud final : public Provider {
 public:
  explicit Cloud(Settings settings, Wait wait = {});

  Result<Placements> placements(const PlacementsRequest&, const Context&) override;
  Result<Expansion> expand(const ExpandRequest&, const Context&) override;
  Result<Bids> bid(const BidRequest&, const Context&) override;
  Result<Allocation> allocate(const AllocateRequest&, const Context&) override;
  Result<Listing> list(const ListRequest&, const Context&) override;
  Result<Termination> terminate(const TerminateRequest&, const Context&) override;
  Result<Identity> identify(const IdentifyRequest&, const Context&) override;
  Result<Notices> notices(const NoticesRequest&, const Context&) override;

  // For callers that keep the cloud beyond its process. `changes` grows with every change.
  const State& state() const { return state_; }
  void restore(State state);
  std::uint64_t changes() const { return changes_; }

 private:
  // Where a call acts; empty where that does not matter.
  struct Site {
    std::string region = {}, zone = {}, instance_type = {};
  };
  struct Use;  // how much of what is in use

  Result<void> begin(const char* method, const Context& context);
  std::optional<Error> fails(const char* method, const Site& site, Time now,
                             bool after_effect = false);
  Result<Site> site_of(const LaunchConfig& launch_config) const;
  Result<Bid> offer(const BidRequest::Candidate& candidate, std::int64_t capacity, const Use& use,
                    Time now);
  std::int64_t room(const Site& site, const Use& use) const;
  Error no_room(const Site& site, const Use& use) const;
  double reliability(const Site& site) const;

  Result<void> fence(const Owner& owner);
  Launch launch(const AllocateRequest& request, const IdempotencyKey& key, const Site& site,
                Use& use, const Context& context);
  Machine make_machine(const AllocateRequest& request, const IdempotencyKey& key, const Site& site,
                       Time now);
  std::optional<Interruption> draw_interruption(const std::string& worker_id, Time now) const;

  bool gone(const Machine& machine, Time now) const;
  Instance seen(const Machine& machine, Time now) const;
  bool announced(const Machine& machine, Time now) const;
  Use use_at(Time now) const;
  void forget_long_gone(Time now);
  void look_at_the_clock(Time now);

  Settings settings_;
  Wait wait_;
  State state_;
  std::map<std::string, std::string> by_key_;  // owner and idempotency key → worker id
  std::set<std::string> there_;                // worker ids, of machines that may still be there
  Time looked_{}, forgot_{};  // when the two above and the machines were last gone through
  std::uint64_t changes_ = 0;
};

}  // namespace muster::simulated
