#include "host/demand/service.hpp"

#include <algorithm>
#include <map>

namespace muster::demand {
namespace {

constexpr std::size_t most_shown = 20;
constexpr std::chrono::milliseconds longest_pause{60'000};

// Gives a source until its next turn, and ends it when the host stops.
class PollContext final : public Context {
 public:
  PollContext(const Clock& clock, std::chrono::milliseconds time, const std::atomic<bool>& leaving)
      : clock_(clock), until_(clock.steady() + time), leaving_(leaving) {}

  bool cancelled() const noexcept override { return leaving_ || time_left().count() == 0; }
  std::chrono::milliseconds time_left() const noexcept override {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock_.steady());
    return std::max(left, std::chrono::milliseconds(0));
  }
  Time now() const noexcept override { return clock_.now(); }
  void log(LogLevel, std::string_view) const noexcept override {}

 private:
  const Clock& clock_;
  SteadyTime until_;
  const std::atomic<bool>& leaving_;
};

}  // namespace

struct DemandService::Worker {
  config::DemandSettings settings;
  std::unique_ptr<DemandSource> source;
  FolderWatch watch;
  std::thread thread = {};

  // Under the service's mutex.
  Report report = {};
  bool asked = false;
  std::optional<Time> failed_since = {};
  struct Unknown {
    Time since{};
    bool logged = false;
  };
  std::map<std::string, Unknown> unknown_pools = {};  // that it named in its last answer
};

Result<std::unique_ptr<DemandService>> DemandService::start(std::vector<ConfiguredSource> sources,
                                                            OwnQueue* queue, Publish publish,
                                                            std::shared_ptr<const Clock> clock,
                                                            Log log, Patience patience,
                                                            TimeWatch* watch) {
  std::unique_ptr<DemandService> service(new DemandService(
      queue, std::move(publish), std::move(clock), std::move(log), patience, watch));
  for (ConfiguredSource& each : sources) {
    auto watch = FolderWatch::open();
    if (!watch) return watch.error();
    auto worker = std::unique_ptr<Worker>(
        new Worker{each.settings, std::move(each.source), std::move(*watch)});
    worker->report.source = each.settings.name;
    worker->report.stale_after = each.settings.stale_after;
    service->workers_.push_back(std::move(worker));
  }
  for (auto& worker : service->workers_)
    worker->thread =
        std::thread([raw = service.get(), one = worker.get()] { raw->run_source(*one); });
  if (queue) queue->on_change([raw = service.get()] { raw->changed(); });
  service->combiner_ = std::thread([raw = service.get()] { raw->run_combiner(); });
  return service;
}

DemandService::DemandService(OwnQueue* queue, Publish publish, std::shared_ptr<const Clock> clock,
                             Log log, Patience patience, TimeWatch* watch)
    : queue_(queue),
      publish_(std::move(publish)),
      clock_(std::move(clock)),
      log_(std::move(log)),
      patience_(patience),
      watch_(watch) {}

DemandService::~DemandService() {
  if (queue_) queue_->on_change({});
  leaving_ = true;
  for (auto& worker : workers_) worker->watch.wake();
  for (auto& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
  changed();
  if (combiner_.joinable()) combiner_.join();
}

void DemandService::changed() {
  const std::lock_guard lock(mutex_);
  changed_ = true;
  wake_.notify_all();
}

void DemandService::set_pools(std::vector<WorkerPoolId> pools) {
  std::sort(pools.begin(), pools.end());
  {
    const std::lock_guard lock(mutex_);
    if (pools_ == pools) return;
    pools_ = std::move(pools);
    changed_ = true;
    wake_.notify_all();
  }
  // Also those that name all their pools: some were unknown when they were asked.
  poll_now();
}

void DemandService::poll_now() {
  for (auto& worker : workers_) worker->watch.wake();
}

void DemandService::run_source(Worker& worker) {
  while (!leaving_) {
    worker.watch.watch(worker.source->folders_to_watch());
    poll(worker);
    if (!leaving_) worker.watch.wait(worker.settings.interval);
  }
}

void DemandService::poll(Worker& worker) {
  std::vector<WorkerPoolId> pools;
  {
    const std::lock_guard lock(mutex_);
    pools = pools_;
    if (pools.empty() && worker.source->asks_by_pool()) {  // there is nothing to ask for
      worker.asked = changed_ = true;
      wake_.notify_all();
      return;
    }
  }
  const PollContext context(*clock_, std::max(worker.settings.timeout, worker.settings.interval),
                            leaving_);
  auto answer = worker.source->poll(pools, context);
  if (!leaving_) take(worker, std::move(answer), clock_->now());
}

void DemandService::take(Worker& worker, Result<Answer> polled, Time now) {
  const std::lock_guard lock(mutex_);
  Report& report = worker.report;
  const std::string error_before = report.error;
  worker.asked = true;
  if (polled) {
    report.answered = now;
    report.error.clear();
    report.pool_errors = std::move(polled->pool_errors);
    for (auto& [pool, count] : polled->counts) report.counts[pool] = count;
    std::erase_if(report.counts, [&](const auto& entry) {
      return !std::binary_search(pools_.begin(), pools_.end(), entry.first);
    });
    if (report.pool_errors.empty()) worker.failed_since.reset();
    remember_unknown(worker, std::move(polled->unknown_pools), now);
  } else {
    report.error = polled.error().message;
  }
  if ((!report.error.empty() || !report.pool_errors.empty()) && !worker.failed_since)
    worker.failed_since = now;
  if (report.error != error_before && !report.error.empty())
    log_.warning("a source of demand fails: " + report.error, {{"source", report.source}});
  if (report.error != error_before && report.error.empty())
    log_.info("a source of demand answers again", {{"source", report.source}});
  changed_ = true;
  wake_.notify_all();
}

void DemandService::remember_unknown(Worker& worker, std::vector<std::string> pools,
                                     Time now) const {
  std::map<std::string, Worker::Unknown> unknown;
  for (std::string& pool : pools) {
    const auto before = worker.unknown_pools.find(pool);
    auto known_so_far =
        before == worker.unknown_pools.end() ? Worker::Unknown{now, false} : before->second;
    if (!known_so_far.logged && now - known_so_far.since >= patience_.with_unknown_pools) {
      known_so_far.logged = true;
      log_.warning("a source of demand names a pool that this host does not have",
                   {{"source", worker.report.source}, {"workerPoolId", pool}});
    }
    unknown.emplace(std::move(pool), known_so_far);
  }
  worker.unknown_pools = std::move(unknown);
}

void DemandService::run_combiner() {
  std::optional<fleet::Demand> published;
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    changed_ = false;
    std::vector<Report> reports;
    bool all_asked = true;
    for (const auto& worker : workers_) {
      reports.push_back(worker->report);
      all_asked = all_asked && worker->asked;
    }
    const std::vector<WorkerPoolId> pools = pools_;
    lock.unlock();
    const Time now = clock_->now();
    if (watch_)
      for (Report& report : reports) forgive_gaps(report, *watch_, now);
    if (queue_) {
      reports.push_back({.source = "queue", .counts = queue_->counts()});
    }
    fleet::Demand demand = combine(reports, pools, now);
    if (all_asked && (!published || !same(*published, demand))) {
      publish_(demand);
      published = std::move(demand);
    }
    const auto next = next_stale(reports, now);
    const auto pause =
        next ? std::min<std::chrono::milliseconds>(*next - now, longest_pause) : longest_pause;
    lock.lock();
    wake_.wait_for(lock, pause, [&] { return changed_ || leaving_; });
  }
}

std::vector<SourceStatus> DemandService::status() const {
  const Time now = clock_->now();
  std::vector<SourceStatus> all;
  const std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) {
    Report report = worker->report;
    if (watch_) forgive_gaps(report, *watch_, now);
    SourceStatus status{report.source, std::string(config::to_string(worker->settings.type))};
    status.answered = report.answered;
    status.error = report.error;
    status.failed_since = worker->failed_since;
    status.pools = report.counts.size();
    std::optional<Time> newest;
    for (const auto& [pool, count] : report.counts) {
      if (!newest || count.at > *newest) newest = count.at;
      const bool stale = report.stale_after && now - count.at > *report.stale_after;
      stale ? static_cast<void>(++status.stale_pools)
            : static_cast<void>(status.pending += count.pending);
    }
    if (newest) status.age = std::max(now - *newest, std::chrono::milliseconds(0));
    for (const auto& entry : report.pool_errors)
      if (status.pool_errors.size() < most_shown) status.pool_errors.insert(entry);
    for (const auto& [pool, unknown] : worker->unknown_pools) status.unknown_pools.push_back(pool);
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace muster::demand
