#include "host/worker_state/service.hpp"

#include <algorithm>
#include <random>

#include <muster/utf8.hpp>

#include "host/store/row.hpp"

namespace muster::worker_state {
namespace {

using namespace std::chrono_literals;

constexpr auto between_forgetting = 10min;
constexpr std::size_t most_set_aside = 1000;
constexpr std::size_t longest_shown_body = 4096;

Retention retention_of(const config::WorkerStateSettings& settings) {
  return {settings.kept, settings.most_of_worker, settings.most_of_pool,
          settings.most_of_configuration};
}

// The beginning of a text that may be anything.
std::string shown(std::string text, std::size_t longest) {
  text.resize(std::min(text.size(), longest));
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || static_cast<unsigned char>(letter) > 0x7e)
      letter = '?';
  return text;
}

double random_share() {
  thread_local std::mt19937 random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

}  // namespace

// What consumes at the moment, with its thread.
struct Service::Running {
  config::RunQueueSettings settings;
  std::unique_ptr<Consumer> consumer;
  std::unique_ptr<events::StepThread> thread;
};

Service::Service(Parts parts)
    : parts_(std::move(parts)), table_(retention_of(parts_.configuration->worker_state)) {}

Service::~Service() {
  stop();
}

Result<std::unique_ptr<Service>> Service::make(Parts parts) {
  std::unique_ptr<Service> service(new Service(std::move(parts)));
  if (const auto loaded = service->load(); !loaded) return loaded.error();
  return service;
}

Result<void> Service::load() {
  if (auto read = store::read_rows<TaskRunRow>(
          *parts_.store, [this](const TaskRunRow& row) { return table_.load(row); });
      !read)
    return read;
  if (auto read = store::read_rows<ForgottenRunsRow>(
          *parts_.store, [this](const ForgottenRunsRow& row) { return table_.load(row); });
      !read)
    return read;
  return store::read_rows<SetAsideMessageRow>(
      *parts_.store, [this](SetAsideMessageRow row) { set_aside_.push_back(std::move(row)); });
}

void Service::start() {
  housekeeping_ = std::make_unique<events::StepThread>(
      std::make_shared<events::Waker>(),
      events::StepThread::Work{.step = [this] { return forget_old(); }});
  const std::lock_guard reconfiguring(reconfiguring_);
  if (const auto& queue = parts_.configuration->worker_state.queue) start_consumer(*queue);
}

void Service::start_consumer(const config::RunQueueSettings& settings) {
  auto running = std::make_shared<Running>();
  running->settings = settings;
  const auto waker = std::make_shared<events::Waker>();
  running->consumer = std::make_unique<Consumer>(
      Consumer::Parts{.settings = settings,
                      .link = parts_.link(settings),
                      .clock = parts_.clock,
                      .log = parts_.log,
                      .take =
                          [this, of = running.get()](std::vector<Delivery> deliveries,
                                                     std::function<void()> durable) {
                            take(deliveries, *of->consumer, std::move(durable));
                          },
                      .wake = [waker] { waker->wake(); },
                      .missed = parts_.missed,
                      .random = random_share});
  {
    const std::lock_guard guard(mutex_);
    running->consumer->set_pools(pools_);
    running_ = running;
  }
  Consumer& consumer = *running->consumer;
  running->thread = std::make_unique<events::StepThread>(
      waker, events::StepThread::Work{.step = [&consumer] { return consumer.step(); },
                                      .descriptor = [&consumer] { return consumer.descriptor(); },
                                      .interrupt = [&consumer] { consumer.interrupt(); },
                                      .end = [&consumer] { consumer.end(); }});
}

void Service::reconfigure(std::shared_ptr<const config::HostConfiguration> configuration) {
  const std::lock_guard reconfiguring(reconfiguring_);
  const config::WorkerStateSettings wanted = configuration->worker_state;
  std::shared_ptr<Running> replaced;
  {
    const std::lock_guard guard(mutex_);
    parts_.configuration = std::move(configuration);
    table_.set_retention(retention_of(wanted));
    if (running_ && wanted.queue == running_->settings) return;
    replaced = std::move(running_);
    running_.reset();
  }
  if (replaced) replaced->thread->stop();
  if (wanted.queue) start_consumer(*wanted.queue);
}

void Service::set_pools(std::vector<WorkerPoolId> pools) {
  const std::lock_guard guard(mutex_);
  pools_ = std::move(pools);
  if (running_) running_->consumer->set_pools(pools_);
}

void Service::stop() {
  const std::lock_guard reconfiguring(reconfiguring_);
  if (housekeeping_) housekeeping_->stop();
  std::shared_ptr<Running> ended;
  {
    const std::lock_guard guard(mutex_);
    ended = std::move(running_);
    running_.reset();
  }
  if (ended) ended->thread->stop();
}

// -------------------------------------------------------------------------------------------------
// Taking in

void Service::submit(store::Batch changes, std::vector<ResolvedRun> ended,
                     std::function<void()> durable) {
  parts_.submit(std::move(changes), [resolved = parts_.resolved, ended = std::move(ended),
                                     durable = std::move(durable)] {
    if (resolved && !ended.empty()) resolved(ended);
    if (durable) durable();
  });
}

void Service::take(const std::vector<Delivery>& deliveries, Consumer& consumer,
                   std::function<void()> durable) {
  struct Parsed {
    const Delivery* delivery;
    Result<std::vector<RunReport>> reports;
  };
  std::vector<Parsed> parsed;
  std::vector<WorkerKey> workers;
  for (const Delivery& delivery : deliveries) {
    parsed.push_back({&delivery, parse_queue_message(delivery.body)});
    if (parsed.back().reports)
      for (const RunReport& report : *parsed.back().reports) workers.push_back(report.worker);
  }
  const auto origins = parts_.origins_of(workers);
  const Time now = parts_.clock->now();
  const std::lock_guard submitting(submitting_);
  store::Batch changes;
  std::vector<ResolvedRun> ended;
  {
    const std::lock_guard guard(mutex_);
    std::size_t next = 0;
    for (const auto& [delivery, reports] : parsed) {
      if (!reports) {
        set_aside(*delivery, reports.error().message, changes);
        continue;
      }
      for (const RunReport& report : *reports) {
        const std::optional<WorkerOrigin>& origin = origins[next++];
        if (!origin) {
          consumer.unwanted(report.worker.worker_pool_id);
          continue;
        }
        auto applied = table_.apply(report, *origin, now, changes);
        if (!applied)
          set_aside(*delivery, applied.error().message, changes);
        else if (applied->resolved)
          ended.push_back(std::move(*applied->resolved));
      }
    }
  }
  submit(std::move(changes), std::move(ended), std::move(durable));
}

Result<void> Service::report(const std::vector<RunReport>& reports, std::function<void()> durable) {
  std::vector<WorkerKey> workers;
  for (const RunReport& report : reports) workers.push_back(report.worker);
  const auto origins = parts_.origins_of(workers);
  const Time now = parts_.clock->now();
  const std::lock_guard submitting(submitting_);
  store::Batch changes;
  std::vector<ResolvedRun> ended;
  Result<void> outcome;
  {
    const std::lock_guard guard(mutex_);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      auto applied = table_.apply(reports[i], origins[i].value_or(WorkerOrigin()), now, changes);
      if (!applied && outcome) outcome = applied.error();
      if (applied && applied->resolved) ended.push_back(std::move(*applied->resolved));
    }
  }
  submit(std::move(changes), std::move(ended), outcome ? std::move(durable) : nullptr);
  return outcome;
}

void Service::set_aside(const Delivery& delivery, const std::string& problem,
                        store::Batch& changes) {
  SetAsideMessageRow row{.number = set_aside_.empty() ? 1 : set_aside_.back().number + 1,
                         .at = parts_.clock->now(),
                         .exchange = shown(delivery.exchange, 255),
                         .routing_key = shown(delivery.routing_key, 255),
                         .problem = shown(problem, 500),
                         .body = shown(delivery.body, longest_shown_body)};
  parts_.log.warning("a message about a task run is set aside; see: muster run-source",
                     {{"number", row.number}, {"problem", row.problem}});
  changes.push_back(store::put(row));
  set_aside_.push_back(std::move(row));
  ++set_aside_count_;
  if (set_aside_.size() <= most_set_aside) return;
  changes.push_back(store::erase<SetAsideMessageRow>({set_aside_.front().number}));
  set_aside_.pop_front();
}

SteadyTime Service::forget_old() {
  const std::lock_guard submitting(submitting_);
  store::Batch changes;
  {
    const std::lock_guard guard(mutex_);
    table_.forget_old(parts_.clock->now(), changes);
  }
  if (!changes.empty()) submit(std::move(changes), {}, {});
  return parts_.clock->steady() + between_forgetting;
}

// -------------------------------------------------------------------------------------------------
// Reading

Counts Service::counts(Scope scope, const WorkerPoolId& pool, std::string_view name) const {
  const std::lock_guard guard(mutex_);
  return table_.counts(scope, pool, name);
}

std::optional<WorkerActivity> Service::activity(const WorkerKey& worker) const {
  const std::lock_guard guard(mutex_);
  return table_.activity(worker);
}

Result<RunPage> Service::page(const RunFilter& filter, const std::string& after,
                              std::size_t limit) const {
  const std::lock_guard guard(mutex_);
  return table_.page(filter, after, limit);
}

std::vector<TaskRunRow> Service::running(const WorkerPoolId& pool) const {
  const std::lock_guard guard(mutex_);
  return table_.running(pool);
}

std::vector<SetAsideMessageRow> Service::set_aside_messages() const {
  const std::lock_guard guard(mutex_);
  return {set_aside_.rbegin(), set_aside_.rend()};
}

Numbers Service::numbers() const {
  const std::lock_guard guard(mutex_);
  Numbers numbers{.kept = table_.size(),
                  .workers = table_.workers(),
                  .counts = table_.all_counts(),
                  .set_aside = set_aside_count_};
  if (running_) numbers.consumer = running_->consumer->status();
  return numbers;
}

}  // namespace muster::worker_state
