// The conversation about one pool begins: whose turn it is, and how much is needed.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/model/sanitize.hpp"

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

// -------------------------------------------------------------------------------------------------
// Whose turn

// Without a cause that cannot wait, a pool is not looked at twice within the gap.
void Fleet::wake(Index index, bool at_once) {
  Pool& pool = pools_[index];
  if (pool.removed() || pool.queued) return;
  if (pool.talk != BiddingPhase::quiet) {
    pool.again = true;
    return;
  }
  if (!at_once && now_.wall < pool.looked + settings_.decision_gap && now_.wall >= pool.looked)
    return set_pool_timer(index, pool.looked + settings_.decision_gap);
  pool.queued = true;
  to_look_at_.push_back(index);
}

void Fleet::look_at(Index index) {
  Pool& pool = pools_[index];
  pool.queued = false;
  if (pool.removed() || pool.talk != BiddingPhase::quiet) return;
  pool.looked = now_.wall;
  pool.again = false;
  record_history(index);
  if (!pool.spec) {
    pool.situation = situation_of(pool, verdict::Look::unconfigured);
    pool.verdict = verdict::judge(pool.situation, now_.wall);
    cycle(index);
    return set_pool_timer(index, now_.wall + settings_.poll);
  }
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].status == LaunchConfigStatus::paused &&
        launch_configs_[at].paused_until <= now_.wall)
      resumed(at, "the pause is over");
  cycle(index);
  shrink(index);
  ask_size(index);
}

void Fleet::record_history(Index index) {
  Pool& pool = pools_[index];
  if (!pool.history.empty() && now_.wall < pool.history.back().at + history_step &&
      now_.wall >= pool.history.back().at)
    return;
  std::erase_if(pool.history, [&](const HistoryPoint& point) {
    return point.at < now_.wall - history_points * history_step || point.at > now_.wall;
  });
  if (pool.history.size() >= std::size_t{history_points}) pool.history.erase(pool.history.begin());
  pool.history.push_back(
      {now_.wall, pool.demand.pending, capacity_of(pool), pool.launched, pool.failed});
  pool.launched = pool.failed = 0;
  dirty_pools_.push_back(index);
}

// What is about to leave is not counted as running, so that it is replaced before it is gone.
PoolCapacity Fleet::capacity_of(const Pool& pool) const {
  const Totals& totals = pool.totals;
  std::int64_t idle = totals.idle;
  if (pool.demand.claimed) idle = std::max<std::int64_t>(0, totals.running - *pool.demand.claimed);
  return {.running = totals.running,
          .requested = totals.requested,
          .stopping = totals.stopping + totals.draining,
          .idle = idle};
}

// -------------------------------------------------------------------------------------------------
// Size

void Fleet::ask_size(Index index) {
  Pool& pool = pools_[index];
  pool.talk = BiddingPhase::sizing;
  ++sizing_;
  pool.asked_pending = pool.demand.pending;
  pool.asked_capacity = capacity_of(pool);
  if (only_queue_wants_more(pool)) pool.asked_capacity.idle = pool.outside.pending;
  const std::string& strategy =
      pool.spec->strategy.empty() ? settings_.default_strategy : pool.spec->strategy;
  ask(AskSize{strategy,
              {.worker_pool_id = pool.id,
               .pending = pool.demand.pending,
               .capacity = pool.asked_capacity,
               .settings = pool.spec->settings,
               .history = pool.history}},
      {.pool = index});
}

void Fleet::sized(Index index, const Result<Size>& answer) {
  --sizing_;
  Pool& pool = pools_[index];
  if (!pool.spec) return finish_bidding(index, pool.situation, now_.wall);
  const std::string said =
      answer ? std::to_string(answer->capacity) + ": " + answer->reason
             : "the strategy cannot say how much is needed: " + answer.error().message;
  if (pool.journaled_size != said) {
    pool.journaled_size = said;
    json::object outputs;
    if (answer) outputs["capacity"] = answer->capacity;
    journal(pool, "size", answer ? answer->reason : said,
            size_inputs({.worker_pool_id = pool.id,
                         .pending = pool.asked_pending,
                         .capacity = pool.asked_capacity,
                         .settings = pool.spec->settings,
                         .history = pool.history}),
            std::move(outputs));
  }
  if (!answer)
    return finish_bidding(index, situation_of(pool, verdict::Look::undecided, said),
                          now_.wall + try_strategy_again);
  if (answer->capacity <= 0) return not_more(index, *answer);
  pool.surplus = 0;
  std::int64_t wanted = answer->capacity - keep_draining(index, answer->capacity);
  if (wanted <= 0)
    return finish_bidding(index, situation_of(pool, verdict::Look::serves_on, answer->reason));
  const std::int64_t room = pool.spec->settings.max_capacity - pool.totals.used();
  pool.want = wanted;
  if (room <= 0)
    return finish_bidding(index, situation_of(pool, verdict::Look::full, answer->reason));
  pool.conversation = std::make_unique<Conversation>();
  pool.conversation->wanted = std::min(wanted, room);
  pool.conversation->size_reason = answer->reason;
  pool.talk = BiddingPhase::sized;
  pool.sized_at = now_.wall;
  sized_.push_back(index);
}

// Those that drain only because they were too many serve on instead; returns their capacity.
std::int64_t Fleet::keep_draining(Index index, std::int64_t wanted) {
  std::int64_t kept = 0;
  if (pools_[index].totals.draining == 0) return 0;
  const std::vector<Index> workers = pools_[index].workers;
  for (const Index at : workers) {
    if (kept >= wanted) break;
    const Worker& worker = workers_[at];
    if (worker.state != WorkerState::running || worker.drain != Drain::surplus) continue;
    if (!could_help(pools_[index], launch_configs_[worker.launch_config])) continue;
    kept += worker.capacity;
    end_drain(at, "there is work again");
  }
  return kept;
}

void Fleet::not_more(Index index, const Size& size) {
  Pool& pool = pools_[index];
  pool.want = 0;
  pool.surplus = -size.capacity;
  const bool full = pool.totals.used() >= pool.spec->settings.max_capacity;
  finish_bidding(index, situation_of(pool,
                                     pool.demand.pending > 0 && full && pool.totals.requested == 0
                                         ? verdict::Look::full
                                         : verdict::Look::enough,
                                     size.reason));
}

std::string in_words(const Totals& totals) {
  std::string text = std::to_string(totals.running) + " running, " +
                     std::to_string(totals.requested) + " requested";
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + what;
  };
  add(totals.lost, " maybe launched");
  add(totals.draining, " draining");
  add(totals.stopping, " stopping");
  add(totals.absent, " absent");
  return text;
}

verdict::PoolSituation Fleet::situation_of(const Pool& pool, verdict::Look look,
                                           std::string reason) const {
  verdict::PoolSituation situation{.look = look,
                                   .pool = pool.id,
                                   .reason = std::move(reason),
                                   .note = pool.demand.note,
                                   .capacity = in_words(pool.totals),
                                   .workers = pool.totals.workers,
                                   .pending = pool.demand.pending,
                                   .requested = pool.totals.requested};
  if (!pool.spec) return situation;
  situation.owner = pool.spec->owner;
  situation.strategy =
      pool.spec->strategy.empty() ? settings_.default_strategy : pool.spec->strategy;
  situation.max_capacity = pool.spec->settings.max_capacity;
  if (!pool.conversation) return situation;
  situation.wanted = pool.conversation->wanted;
  situation.obstacles = pool.conversation->problems;
  return situation;
}

void Fleet::finish_bidding(Index index, verdict::PoolSituation situation, Time look_again) {
  Pool& pool = pools_[index];
  pool.talk = BiddingPhase::quiet;
  pool.conversation.reset();
  pool.situation = std::move(situation);
  if (look_again != Time::max()) pool.situation.until = look_again;
  pool.verdict = verdict::judge(pool.situation, now_.wall);
  set_pool_timer(index, std::min(look_again, now_.wall + settings_.poll));
  if (pool.again) {
    pool.again = false;
    wake(index);
  }
}

}  // namespace muster::fleet
