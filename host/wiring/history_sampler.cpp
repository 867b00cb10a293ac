#include "host/wiring/history_sampler.hpp"

#include "host/fleet/fleet.hpp"

namespace muster {
namespace {

std::int32_t small(std::int64_t number) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 0, INT32_MAX));
}

double price_of(const fleet::Fleet& fleet, const fleet::Pool& pool) {
  double price = 0;
  for (const fleet::Index at : pool.workers) price += fleet.workers()[at].price;
  return price;
}

}  // namespace

HistorySampler::HistorySampler(fleet::Service& fleet, const store::Store& store,
                               std::shared_ptr<history::History> history, Log log)
    : fleet_(fleet),
      store_(store),
      log_(std::move(log)),
      state_(std::make_shared<State>(std::move(history))),
      thread_([this] { run(); }) {}

HistorySampler::~HistorySampler() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void HistorySampler::sample(State& state, const fleet::Fleet& fleet, fleet::Now now) {
  history::History::Sample pools;
  std::map<std::string, Cost> costs;
  for (const fleet::Pool& pool : fleet.pools()) {
    if (pool.removed()) continue;
    const std::string& id = pool.id.str();
    const auto before = state.costs.find(id);
    const bool same = before != state.costs.end() && before->second.totals == pool.totals;
    const double price = same ? before->second.price : price_of(fleet, pool);
    costs.emplace_hint(costs.end(), id, Cost{pool.totals, price});
    const fleet::Totals& totals = pool.totals;
    pools.emplace_back(
        id, history::Figures{.pending = small(pool.demand.pending),
                             .requested = small(totals.requested + totals.lost),
                             .running = small(totals.running),
                             .busy = small(totals.busy),
                             .draining = small(totals.draining),
                             .stopping = small(totals.stopping),
                             .max = small(pool.spec ? pool.spec->settings.max_capacity : 0),
                             .price_per_hour = static_cast<float>(price)});
  }
  state.costs = std::move(costs);
  state.history->record(now.wall, pools);
}

// On the sampler's own thread: a long history delays no start.
void HistorySampler::load() {
  if (const auto loaded = keeper_.load(store_, *state_->history); !loaded)
    log_.warning("the history of capacity, demand and cost begins anew",
                 {{"reason", loaded.error().message}});
}

void HistorySampler::keep(bool last) {
  const Time seen = state_->history->last_sample();
  if (seen == Time{}) return;
  store::Batch rows = keeper_.rows(seen, state_->history->latest(), last);
  if (!rows.empty()) fleet_.committer().submit(std::move(rows));
}

// The fleet takes looks one after the other, so the state needs no lock of its own.
void HistorySampler::run() {
  load();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    fleet_.query([state = state_](const fleet::Fleet& fleet, fleet::Now now) {
      sample(*state, fleet, now);
    });
    lock.lock();
    wake_.wait_for(lock, interval, [this] { return stop_; });
    keep(stop_);
  }
}

}  // namespace muster
