// How much a pool needs.
#include "host/fleet/bidding/auction.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/words.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

constexpr auto history_step = 5min;
constexpr int history_points = 12;  // an hour

json::object size_inputs(const SizeRequest& request) {
  return {{"pending", request.pending},
          {"capacity", codec::to_value(request.capacity)},
          {"settings", codec::to_value(request.settings)},
          {"history", short_digest(json::write(codec::to_value(request.history)))}};
}

}  // namespace

Auction::Entry& Auction::entry(Index pool) {
  if (pool >= entries_.size()) entries_.resize(pool + 1);
  return entries_[pool];
}

const std::string& Auction::strategy_of(const Pool& pool) const {
  return pool.spec->strategy.empty() ? settings_.default_strategy : pool.spec->strategy;
}

Time Auction::next_wake() const {
  return sized_.empty() ? Time::max() : clock_.now() + fairness_wait;
}

bool Auction::history_is_due(const Pool& pool) const {
  return pool.history.empty() || clock_.now() >= pool.history.back().at + history_step ||
         clock_.now() < pool.history.back().at;
}

bool Auction::is_settled(Index index) {
  const Pool& pool = pools_[index];
  const Entry& entry = this->entry(index);
  return entry.settled && pool.spec && pool.totals == entry.asked_totals &&
         pool.demand.pending == entry.asked_pending && pool.in_queue == entry.asked_in_queue &&
         !history_is_due(pool);
}

void Auction::record_history(Index index) {
  Pool& pool = pools_[index];
  if (!history_is_due(pool)) return;
  std::erase_if(pool.history, [&](const HistoryPoint& point) {
    return point.at < clock_.now() - history_points * history_step || point.at > clock_.now();
  });
  if (pool.history.size() >= std::size_t{history_points}) pool.history.erase(pool.history.begin());
  pool.history.push_back(
      {clock_.now(), pool.demand.pending, capacity_of(pool), pool.launched, pool.failed});
  pool.launched = pool.failed = 0;
  registry_.touch_pool(index);
}

// What is about to leave is not counted as running, so that it is replaced before it is gone.
PoolCapacity Auction::capacity_of(const Pool& pool) {
  const Totals& totals = pool.totals;
  std::int64_t idle = totals.idle;
  if (pool.demand.claimed) idle = std::max<std::int64_t>(0, totals.running - *pool.demand.claimed);
  return {.running = totals.running,
          .requested = totals.requested,
          .stopping = totals.stopping + totals.draining,
          .idle = idle};
}

void Auction::skip(Index index) {
  Pool& pool = pools_[index];
  pool.situation = situation_of(index, verdict::PoolOutcome::unconfigured);
  pool.verdict = verdict::judge(pool.situation, clock_.now());
  agenda_.set_timer(index, clock_.now() + settings_.poll);
}

void Auction::set_aside(Index index, const std::string& why) {
  Pool& pool = pools_[index];
  pool.fault = why;
  finish(index, situation_of(index, verdict::PoolOutcome::faulty, why));
  outbox_.emit_event("worker-pool-fault", pool,
                     "a decision about the pool failed because of a bug: nothing more is decided "
                     "about it; " +
                         why,
                     {{"reason", why}});
}

void Auction::begin(Index index) {
  const Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  agenda_.begin_bidding(index);
  entry.phase = Phase::sizing;
  ++sizing_;
  entry.asked_pending = pool.demand.pending;
  entry.asked_in_queue = pool.in_queue;
  entry.asked_totals = pool.totals;
  entry.settled = false;
  entry.asked_capacity = capacity_of(pool);
  if (only_queue_wants_more(pool)) entry.asked_capacity.idle = pool.outside.pending;
  calls_.ask(AskSize{strategy_of(pool),
                     {.worker_pool_id = pool.id,
                      .pending = pool.demand.pending,
                      .capacity = entry.asked_capacity,
                      .settings = pool.spec->settings,
                      .history = pool.history}},
             {.pool = index});
}

void Auction::sized(Index index, const Result<Size>& answer) {
  --sizing_;
  Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  if (!pool.spec) return finish(index, pool.situation, clock_.now());
  const std::string said =
      answer ? std::to_string(answer->capacity) + ": " + answer->reason
             : "the strategy cannot say how much is needed: " + answer.error().message;
  if (entry.journaled_size != said) {
    entry.journaled_size = said;
    json::object outputs;
    if (answer) outputs["capacity"] = answer->capacity;
    outbox_.journal(pool, "size", answer ? answer->reason : said,
                    size_inputs({.worker_pool_id = pool.id,
                                 .pending = entry.asked_pending,
                                 .capacity = entry.asked_capacity,
                                 .settings = pool.spec->settings,
                                 .history = pool.history}),
                    std::move(outputs));
  }
  if (!answer)
    return finish(index, situation_of(index, verdict::PoolOutcome::strategy_failed, said),
                  clock_.now() + try_strategy_again);
  if (answer->capacity <= 0) return no_more_needed(index, *answer);
  pool.surplus = 0;
  std::int64_t wanted = answer->capacity - draining_.keep_surplus(index, answer->capacity);
  if (wanted <= 0)
    return finish(index,
                  situation_of(index, verdict::PoolOutcome::kept_in_service, answer->reason));
  const std::int64_t room = pool.spec->settings.max_capacity - pool.totals.used();
  pool.want = wanted;
  if (room <= 0)
    return finish(index, situation_of(index, verdict::PoolOutcome::full, answer->reason));
  entry.bidding = std::make_unique<Bidding>();
  entry.bidding->wanted = std::min(wanted, room);
  entry.bidding->size_reason = answer->reason;
  entry.phase = Phase::sized;
  entry.sized_at = clock_.now();
  sized_.push_back(index);
}

void Auction::no_more_needed(Index index, const Size& size) {
  Pool& pool = pools_[index];
  entry(index).settled = true;
  pool.want = 0;
  pool.surplus = -size.capacity;
  const bool full = pool.totals.used() >= pool.spec->settings.max_capacity;
  finish(index, situation_of(index,
                             pool.demand.pending > 0 && full && pool.totals.requested == 0
                                 ? verdict::PoolOutcome::full
                                 : verdict::PoolOutcome::at_target,
                             size.reason));
}

verdict::PoolSituation Auction::situation_of(Index index, verdict::PoolOutcome outcome,
                                             std::string reason) {
  const Pool& pool = pools_[index];
  const Entry& entry = this->entry(index);
  verdict::PoolSituation situation{.outcome = outcome,
                                   .pool = pool.id,
                                   .reason = std::move(reason),
                                   .note = pool.demand.note,
                                   .capacity = in_words(pool.totals),
                                   .workers = pool.totals.workers,
                                   .pending = pool.demand.pending,
                                   .requested = pool.totals.requested};
  if (!pool.spec) return situation;
  situation.owner = pool.spec->owner;
  situation.strategy = strategy_of(pool);
  situation.max_capacity = pool.spec->settings.max_capacity;
  if (!entry.bidding) return situation;
  situation.wanted = entry.bidding->wanted;
  situation.obstacles = entry.bidding->problems;
  return situation;
}

void Auction::finish(Index index, verdict::PoolSituation situation, Time next_review) {
  Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  entry.phase = Phase::quiet;
  entry.bidding.reset();
  pool.situation = std::move(situation);
  if (next_review != Time::max()) pool.situation.until = next_review;
  pool.verdict = verdict::judge(pool.situation, clock_.now());
  agenda_.end_bidding(index, std::min(next_review, clock_.now() + settings_.poll));
}

}  // namespace muster::fleet
