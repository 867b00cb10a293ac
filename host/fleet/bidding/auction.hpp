// The bidding about one pool: its strategy says how much is needed, providers bid, the strategy
// chooses among the bids, and what it chose is launched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/bidding/launch_limits.hpp"
#include "host/fleet/lifecycle/draining.hpp"

namespace muster::fleet {

class Auction : Stage {
 public:
  Auction(const StageContext& context, ProviderHolds& holds, LaunchLimits& limits,
          Draining& draining, Dispatcher& dispatcher)
      : Stage(context),
        holds_(holds),
        limits_(limits),
        draining_(draining),
        dispatcher_(dispatcher) {}

  // One point every few minutes, for the strategy.
  void record_history(Index pool);
  // The strategy needs nothing more for the pool, and would be asked with the same again: it would
  // give the same answer.
  bool is_settled(Index pool);
  // Asks the strategy of the pool, which is configured, how much is needed.
  void begin(Index pool);
  // Of a pool that is not configured any more there is nothing to ask.
  void skip(Index pool);
  // The pools whose size is known, of which each is to be handed to bid_for(): together, so that
  // what is scarce is shared.
  std::vector<Index> take_sized();
  // Asks for the bids of the pool, or lets it wait for others.
  void bid_for(Index pool);
  // A decision about the pool failed: its bidding is over.
  void set_aside(Index pool, const std::string& why);
  Time next_wake() const;

  void sized(Index pool, const Result<Size>& answer);
  void bid(const PendingCall& call, Result<Bids> answer);
  void selected(Index pool, const Result<Selection>& answer);

 private:
  enum class Phase { quiet, sizing, sized, bidding, selecting };
  // The bids for one pool, until one is chosen.
  struct Bidding {
    std::int64_t wanted = 0;
    std::string size_reason;
    int bids_awaited = 0;
    // With the offers; the strategy is asked with it when they are complete, and it does not change
    // any more.
    std::shared_ptr<SelectRequest> request = std::make_shared<SelectRequest>();
    std::vector<std::size_t> offer_weights;   // beside the offers: their place in weights
    std::vector<verdict::Obstacle> problems;  // why somebody did not bid
    Weights weights;
  };
  struct Entry {
    Phase phase = Phase::quiet;
    std::unique_ptr<Bidding> bidding;
    Time sized_at{};
    std::int64_t asked_pending = 0;  // what the strategy was told when it was asked for the size
    std::int64_t asked_in_queue = 0;
    PoolCapacity asked_capacity;
    Totals asked_totals;
    bool settled = false;  // nothing more was needed
    // The last decisions about its size and about bids, to write each only once.
    std::string journaled_size, journaled_bids;
  };
  Entry& entry(Index pool);

  // auction.cpp
  static PoolCapacity capacity_of(const Pool& pool);
  bool history_is_due(const Pool& pool) const;
  const std::string& strategy_of(const Pool& pool) const;
  void no_more_needed(Index pool, const Size& size);
  verdict::PoolSituation situation_of(Index pool, verdict::PoolOutcome outcome,
                                      std::string reason = {});
  void finish(Index pool, verdict::PoolSituation situation, Time next_review = Time::max());

  // bids.cpp
  bool waits_for_fairness(Index pool);
  void begin_bidding(Index pool);
  void nobody_bids(Index pool, Time next_review);
  void take_offer(const PendingCall& call, Bid bid);

  // selection.cpp
  void bids_complete(Index pool);
  void journal_selection(Index pool, const Selection& selection, std::int64_t launched);
  std::int64_t launch_choices(Index pool, const Selection& selection);

  ProviderHolds& holds_;
  LaunchLimits& limits_;
  Draining& draining_;
  Dispatcher& dispatcher_;
  std::vector<Entry> entries_;  // by pool
  std::vector<Index> sized_;    // pools whose size is known and whose bidding has not begun
  std::int64_t sizing_ = 0;     // pools that wait for their strategy
};

// When a strategy that failed, or a bidding that came to nothing, is tried again.
inline constexpr auto try_strategy_again = std::chrono::seconds(15);

}  // namespace muster::fleet
