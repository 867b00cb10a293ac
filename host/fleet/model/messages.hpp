// What the fleet asks of the outside, and what comes back. Every question gets one answer, by its
// deadline, with the same CallId.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <muster/bidding_strategy.hpp>
#include <muster/provider.hpp>

#include "host/fleet/model/configuration.hpp"

namespace muster::fleet {

using CallId = std::uint64_t;

struct AskSize {
  std::string strategy;
  SizeRequest request;
};
// Its documents are shared with the fleet: the caller of the plugin copies them.
struct AskBids {
  struct Candidate {
    std::shared_ptr<const LaunchConfigSpec> spec;
    double weight = 1;
    std::int64_t max_instances = 0;
  };
  ProviderId provider_id;
  Owner owner;
  WorkerPoolId worker_pool_id;
  std::int64_t capacity = 0;
  std::vector<Candidate> candidates;

  BidRequest request() const;
};
struct AskSelection {
  std::string strategy;
  std::shared_ptr<const SelectRequest> request;  // shared with the fleet
};
struct AskAllocation {
  ProviderId provider_id;
  AllocateRequest request;
};
struct AskListing {
  ProviderId provider_id;
  ListRequest request;
};
struct AskTermination {
  ProviderId provider_id;
  TerminateRequest request;
};
struct AskNotices {
  ProviderId provider_id;
  NoticesRequest request;
};

// To be sent only after the changes that came with it are durable.
struct Question {
  CallId call_id = 0;
  std::variant<AskSize, AskBids, AskSelection, AskAllocation, AskListing, AskTermination,
               AskNotices>
      ask;
};

struct Answer {
  CallId call_id = 0;
  std::variant<Result<Size>, Result<Bids>, Result<Selection>, Result<Allocation>, Result<Listing>,
               Result<Termination>, Result<Notices>>
      result;
};

// What a source of demand says of one pool.
struct PoolDemand {
  std::int64_t pending = 0;                  // capacity that waits
  std::optional<std::int64_t> claimed = {};  // capacity that works, if the source knows
  std::string note = {};                     // "queue is stale since ..."; empty: all is well
};
using Demand = std::map<WorkerPoolId, PoolDemand>;

// What the host says about one provider.
struct ProviderSettings {
  std::optional<std::int64_t> max_capacity = {};  // over all pools
  double launches_per_second = 20;
  double launch_burst = 100;
  std::int64_t launch_calls_at_once = 4;
  std::int64_t launches_per_call = 50;
};

struct ProviderUp {
  ProviderId provider_id;
  ProviderSettings settings = {};
  FieldClasses field_classes = {};
  bool has_notices = false;
  bool declares_machines = false;  // some of its machines are launched by nobody
};

}  // namespace muster::fleet
