// The bidding-strategy contract. A strategy decides how much capacity a pool needs and which bids
// to take. It decides from what the request holds and nothing else: same request, same answer
// (randomness comes from `seed`).
//
// Its author derives from BiddingStrategy, adds static describe() and create() as for a provider,
// and exports it with MUSTER_PLUGIN (plugin.hpp).
#pragma once

#include <memory>

#include <muster/provider_types.hpp>

namespace muster {

struct StrategyDescription {
  std::string name = {};     // filled in from muster_add_plugin()
  std::string version = {};  // likewise
  std::string description;
  json::object config_schema;        // JSON Schema of the instance's configuration
  json::object example_config = {};  // a configuration with which the contract is checked

  static constexpr auto fields(auto visit) {
    return visit(required("name", &StrategyDescription::name),
                 required("version", &StrategyDescription::version),
                 optional("description", &StrategyDescription::description),
                 required("configSchema", &StrategyDescription::config_schema),
                 optional("exampleConfig", &StrategyDescription::example_config));
  }
};

// In capacity, not in workers.
struct PoolCapacity {
  std::int64_t running = 0;
  std::int64_t requested = 0;  // launched or about to be, not yet registered
  std::int64_t stopping = 0;
  std::int64_t idle = 0;  // of running

  static constexpr auto fields(auto visit) {
    return visit(required("running", &PoolCapacity::running),
                 required("requested", &PoolCapacity::requested),
                 optional("stopping", &PoolCapacity::stopping),
                 optional("idle", &PoolCapacity::idle));
  }
};

struct PoolSettings {
  std::int64_t min_capacity = 0;
  std::int64_t max_capacity = 0;
  double scaling_ratio = 0;
  json::object strategy = {};  // what the worker configuration says to its strategy

  static constexpr auto fields(auto visit) {
    return visit(optional("minCapacity", &PoolSettings::min_capacity),
                 required("maxCapacity", &PoolSettings::max_capacity),
                 optional("scalingRatio", &PoolSettings::scaling_ratio),
                 optional("strategy", &PoolSettings::strategy));
  }
};

// The pool at one time of the last hour.
struct HistoryPoint {
  Time at{};
  std::int64_t pending = 0;
  PoolCapacity capacity;
  std::int64_t launched = 0;  // since the point before
  std::int64_t failed = 0;

  static constexpr auto fields(auto visit) {
    return visit(required("at", &HistoryPoint::at), required("pending", &HistoryPoint::pending),
                 required("capacity", &HistoryPoint::capacity),
                 optional("launched", &HistoryPoint::launched),
                 optional("failed", &HistoryPoint::failed));
  }
};

struct SizeRequest {
  WorkerPoolId worker_pool_id;
  std::int64_t pending = 0;  // demand: capacity that waits
  PoolCapacity capacity;
  PoolSettings settings;
  std::vector<HistoryPoint> history = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("workerPoolId", &SizeRequest::worker_pool_id),
        required("pending", &SizeRequest::pending), required("capacity", &SizeRequest::capacity),
        required("settings", &SizeRequest::settings), optional("history", &SizeRequest::history));
  }
};

struct Size {
  std::int64_t capacity = 0;  // to create; negative: so much is too many
  std::string reason;         // in words, with the numbers

  static constexpr auto fields(auto visit) {
    return visit(required("capacity", &Size::capacity), required("reason", &Size::reason));
  }
};

struct SelectRequest {
  struct Offer {
    BidId bid_id;
    ProviderId provider_id;
    double weight = 1;  // the launch configuration's health, 0 to 1
    Bid bid;

    static constexpr auto fields(auto visit) {
      return visit(required("bidId", &Offer::bid_id), required("providerId", &Offer::provider_id),
                   optional("weight", &Offer::weight), required("bid", &Offer::bid));
    }
  };

  WorkerPoolId worker_pool_id;
  std::int64_t capacity = 0;  // to create
  PoolSettings settings;
  std::vector<Offer> offers;
  std::uint64_t seed = 0;

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &SelectRequest::worker_pool_id),
                 required("capacity", &SelectRequest::capacity),
                 required("settings", &SelectRequest::settings),
                 required("offers", &SelectRequest::offers),
                 optional("seed", &SelectRequest::seed));
  }
};

struct Selection {
  struct Choice {
    BidId bid_id;
    std::int64_t instances = 0;

    static constexpr auto fields(auto visit) {
      return visit(required("bidId", &Choice::bid_id), required("instances", &Choice::instances));
    }
  };
  std::vector<Choice> choices;  // each bid at most once, at most as many instances as it offers
  std::string reason;

  static constexpr auto fields(auto visit) {
    return visit(required("choices", &Selection::choices), required("reason", &Selection::reason));
  }
};

class BiddingStrategy {
 public:
  virtual ~BiddingStrategy() = default;

  // How much capacity to create now.
  virtual Result<Size> size(const SizeRequest&, const Context&) = 0;

  // Which of the offers to take. Taking none is an answer, too.
  virtual Result<Selection> select(const SelectRequest&, const Context&) = 0;
};

}  // namespace muster
