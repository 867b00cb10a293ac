#include "host/fleet/fleet.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "host/fleet/fleet_parts.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

constexpr auto pruned_every = 1h;
constexpr auto holds_kept = 24h;
constexpr auto heard_noted_every = 1min;

}  // namespace

// A change of the state, at that time.
class Fleet::Change {
 public:
  Change(Fleet& fleet, Now now, FleetClock::Since since = FleetClock::Since::heard)
      : fleet_(fleet), exceptions_(std::uncaught_exceptions()) {
    ++fleet_.begun_;
    if (const auto by = fleet_.parts_->clock.advance(now, since); by.count() != 0)
      fleet_.clock_was_set(by);
  }
  ~Change() {
    if (std::uncaught_exceptions() == exceptions_) ++fleet_.completed_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  Fleet& fleet_;
  const int exceptions_;
};

Fleet::Fleet(Settings settings, std::string host_id, std::int64_t epoch, Now now)
    : parts_(std::make_unique<Parts>(std::move(settings), std::move(host_id), epoch, now)) {
  const HostIdentity& identity = parts_->identity;
  parts_->outbox.change(store::put(HostRow{"hostId", identity.host_id}));
  parts_->outbox.change(store::put(HostRow{"epoch", std::to_string(identity.epoch)}));
  if (parts_->settings.list_before_launches)
    parts_->outbox.change(store::put(HostRow{HostRow::lists_awaited, "yes"}));
}

Fleet::~Fleet() = default;

void Fleet::clock_was_set(std::chrono::milliseconds by) {
  parts_->table.clock_was_set();
  parts_->agenda.clock_was_set();
  parts_->reconciliation.clock_was_set();
  parts_->holds.clock_was_set();
  parts_->queue_link.queue().clock_was_set(parts_->clock.now(), by);
}

void Fleet::could_not_hear(Now now) {
  const Change change(*this, now, FleetClock::Since::deaf);
}

// -------------------------------------------------------------------------------------------------
// Decisions

Outcome Fleet::settle(Now now) {
  const Change change(*this, now);
  Parts& parts = *parts_;
  const auto providers = static_cast<Index>(parts.registry.providers().size());
  run_timers();
  parts.queue_link.offer_changed_workers();
  parts.queue_link.queue().expire(now.wall);
  parts.queue_link.count_leases();
  parts.queue_demand.measure();
  for (Index provider = 0; provider < providers; ++provider) parts.reconciliation.ask(provider);
  for (const Index pool : parts.agenda.take_waiting()) decide_about(pool, [&] { review(pool); });
  for (const Index pool : parts.auction.take_sized())
    decide_about(pool, [&] { parts.auction.bid_for(pool); });
  for (Index provider = 0; provider < providers; ++provider) {
    parts.dispatcher.dispatch(provider);
    parts.termination.send(provider);
  }
  prune();
  parts.queue_link.offer_changed_workers();
  parts.queue_link.count_leases();
  parts.table.write_rows(parts.outbox.changes());
  parts.registry.write_rows(parts.outbox.changes());
  parts.measurements.write_rows(parts.outbox.changes());
  parts.task_outcomes.write_rows(parts.outbox.changes());
  Outcome outcome{.changes = parts.outbox.take_changes(),
                  .questions = parts.calls.take_questions(),
                  .events = parts.outbox.take_events(),
                  .settled = {}};
  std::ranges::move(parts.queue_link.queue().take_changes(now.wall),
                    std::back_inserter(outcome.changes));
  outcome.settled = parts.queue_link.queue().take_settled();
  note_heard(outcome.changes);
  return outcome;
}

// A bug in what is decided about one pool must not stop the decisions about the others. If the sums
// are right after it, the failed decision has left nothing behind that others rest on.
template <class Act>
void Fleet::decide_about(Index pool, const Act& act) {
  std::string why;
  try {
    return act();
  } catch (const std::exception& exception) {
    why = exception.what();
  } catch (...) {
    why = "an unknown exception";
  }
  if (pool == no_index || pools()[pool].removed())
    throw std::runtime_error(why + ", in a decision that is about no single pool");
  for (const std::string& wrong : {check_sums(), queue().check()})
    if (!wrong.empty())
      throw std::runtime_error(why + ", in a decision about pool " + pools()[pool].id.str() +
                               ", after which this is wrong: " + wrong);
  parts_->auction.set_aside(pool, why);
}

// For the next start: what it takes for silence ends here, give or take a minute.
void Fleet::note_heard(store::Batch& changes) {
  const Time now = parts_->clock.now();
  if (now < parts_->heard_noted + heard_noted_every && now >= parts_->heard_noted) return;
  parts_->heard_noted = now;
  changes.emplace_back(store::put(heard_row()));
}

void Fleet::run_timers() {
  while (const auto worker = parts_->table.take_due()) {
    const Index pool = workers()[*worker].pool;
    decide_about(pool, [&] {
      if (!pools()[pool].fault.empty()) return;
      if (parts_->worker_timers.on_timer(*worker) == WorkerTimers::Next::retry_launch)
        parts_->dispatcher.retry(*worker);
    });
    parts_->table.set_timer_again(*worker);
  }
  parts_->agenda.run_timers();
}

void Fleet::review(Index pool) {
  if (!parts_->agenda.begin_review(pool)) return;
  if (const auto& before = parts_->settings.before_review) before(pools()[pool].id);
  if (!parts_->agenda.take_cause(pool) && parts_->auction.is_settled(pool))
    return parts_->agenda.set_turn(pool, parts_->clock.now() + parts_->settings.poll);
  parts_->auction.record_history(pool);
  if (!parts_->registry.pools()[pool].spec) {
    parts_->auction.skip(pool);
    parts_->renewal.cycle(pool);
    return;
  }
  parts_->pool_configuration.end_pauses(pool);
  parts_->renewal.cycle(pool);
  parts_->draining.shrink(pool);
  parts_->auction.begin(pool);
}

// The journal, the errors and the events are kept for a bounded time.
void Fleet::prune() {
  const Time now = parts_->clock.now();
  if (now < parts_->pruned + pruned_every && now >= parts_->pruned) return;
  if (!parts_->clock.may_judge()) return;  // what seems old may be so by a wrong clock only
  parts_->pruned = now;
  parts_->outbox.erase_before(now - parts_->settings.journal_kept,
                              now - parts_->settings.events_kept);
  parts_->holds.forget_before(now - holds_kept);
  parts_->task_outcomes.prune();
  parts_->dispatcher.prune();
  parts_->pool_configuration.expire();
}

Time Fleet::next_wake() const {
  return std::min({parts_->queue_link.queue().next_wake(), parts_->queue_demand.next_wake(),
                   parts_->table.next_timer(), parts_->agenda.next_wake(),
                   parts_->auction.next_wake(), parts_->reconciliation.next_wake(),
                   parts_->dispatcher.next_wake()});
}

void Fleet::answered(Answer answer, Now now) {
  const Change change(*this, now);
  const std::optional<PendingCall> call = parts_->calls.take(answer.call_id);
  if (!call) return;  // of a question that was forgotten
  const bool is_bidding = std::holds_alternative<Result<Size>>(answer.result) ||
                          std::holds_alternative<Result<Bids>>(answer.result) ||
                          std::holds_alternative<Result<Selection>>(answer.result);
  if (is_bidding && !pools()[call->pool].fault.empty()) return;
  sanitize(answer);
  struct Forward {
    Parts& parts;
    const PendingCall& call;
    Fleet& fleet;
    void operator()(const Result<Size>& result) {
      fleet.decide_about(call.pool, [&] { parts.auction.sized(call.pool, result); });
    }
    void operator()(Result<Bids>& result) {
      fleet.decide_about(call.pool, [&] { parts.auction.bid(call, std::move(result)); });
    }
    void operator()(const Result<Selection>& result) {
      fleet.decide_about(call.pool, [&] { parts.auction.selected(call.pool, result); });
    }
    void operator()(const Result<Allocation>& result) { parts.dispatcher.answered(call, result); }
    void operator()(const Result<Listing>& result) { parts.reconciliation.listed(call, result); }
    void operator()(const Result<Termination>& result) { parts.termination.answered(call, result); }
    void operator()(const Result<Notices>& result) { parts.reconciliation.noticed(call, result); }
  };
  std::visit(Forward{*parts_, *call, *this}, answer.result);
}

// -------------------------------------------------------------------------------------------------
// Configuration, providers, demand

void Fleet::configure(const std::shared_ptr<const Configuration>& configuration, Now now) {
  const Change change(*this, now);
  parts_->reconciliation.pools_are_configured();
  parts_->pool_configuration.configure(*configuration);
}

Result<void> Fleet::put_api_pool(const std::shared_ptr<const PoolSpec>& spec, json::object document,
                                 Now now) {
  const Change change(*this, now);
  return parts_->pool_configuration.put(spec, std::move(document));
}

Result<void> Fleet::remove_api_pool(const WorkerPoolId& pool, Now now) {
  const Change change(*this, now);
  return parts_->pool_configuration.remove(pool);
}

Result<void> Fleet::pause(const WorkerPoolId& pool, const LaunchConfigId& id, Time until,
                          const std::string& reason, Now now) {
  const Change change(*this, now);
  return parts_->pool_configuration.pause(pool, id, until, reason);
}

Result<void> Fleet::resume(const WorkerPoolId& pool, const LaunchConfigId& id, Now now) {
  const Change change(*this, now);
  auto resumed = parts_->pool_configuration.resume(pool, id);
  if (resumed) parts_->task_outcomes.release(pool, id);
  return resumed;
}

void Fleet::provider_up(const ProviderUp& provider, Now now) {
  const Change change(*this, now);
  parts_->provider_configuration.up(provider);
}

void Fleet::provider_down(const ProviderId& provider, const std::string& why, Now now) {
  const Change change(*this, now);
  parts_->provider_configuration.down(provider, why);
}

Result<std::vector<bidding::Hold>> Fleet::release_holds(const ProviderId& provider,
                                                        const std::optional<std::string>& scope,
                                                        Now now) {
  const Change change(*this, now);
  return parts_->holds.release(provider, scope);
}

void Fleet::demand_changed(const Demand& demand, Now now) {
  const Change change(*this, now);
  parts_->queue_demand.outside_changed(demand);
}

void Fleet::emit_event(events::Event event, Now now) {
  const Change change(*this, now);
  parts_->outbox.record(std::move(event));
}

void Fleet::keep_rows(const store::Batch& rows, Now now) {
  const Change change(*this, now);
  for (const store::Change& row : rows) parts_->outbox.change(row);
}

// -------------------------------------------------------------------------------------------------
// Workers

Result<Registered> Fleet::register_worker(const WorkerName& name, const ProviderId& provider,
                                          const Sha256& secret, Now now, const Proven& proven) {
  const Change change(*this, now);
  return parts_->registration.register_worker(name, provider, secret, proven);
}

Result<Registered> Fleet::reregister_worker(const WorkerName& name, const Sha256& secret,
                                            const Sha256& next_secret, Now now) {
  const Change change(*this, now);
  return parts_->registration.reregister_worker(name, secret, next_secret);
}

Result<Registered> Fleet::renewal_without_store(const WorkerName& name, const Sha256& secret,
                                                Now now) const {
  return parts_->registration.renewal_without_store(name, secret, now.wall);
}

void Fleet::renewed_without_store(const WorkerName& name, Time credentials_expire, Now now) {
  const Change change(*this, now);
  parts_->registration.renewed_without_store(name, credentials_expire);
}

Result<void> Fleet::declare_worker(const DeclaredWorker& declared, Now now) {
  const Change change(*this, now);
  return parts_->declared_machines.declare(declared);
}

Result<void> Fleet::update_declared_worker(const DeclaredWorker& declared, Now now) {
  const Change change(*this, now);
  return parts_->declared_machines.update(declared);
}

Result<ShouldTerminate> Fleet::should_terminate(const WorkerName& name, Now now) {
  const Change change(*this, now);
  return parts_->registration.should_terminate(name);
}

Result<void> Fleet::worker_active(const WorkerName& name, std::int64_t busy, Now now) {
  const Change change(*this, now);
  return parts_->registration.worker_active(name, busy);
}

Result<PoolErrorRow> Fleet::report_error(const WorkerName& name, const std::string& kind,
                                         const std::string& title, const std::string& description,
                                         json::object extra, Now now) {
  const Change change(*this, now);
  return parts_->registration.report_error(name, kind, title, description, std::move(extra));
}

Result<void> Fleet::interrupt(const WorkerName& name, const Interruption& interruption, Now now) {
  const Change change(*this, now);
  return parts_->registration.interrupt(name, interruption);
}

Result<void> Fleet::remove_worker(const WorkerName& name, const std::string& reason, Now now) {
  const Change change(*this, now);
  return parts_->registration.remove(name, reason);
}

Result<void> Fleet::drain(const WorkerName& name, const std::string& reason, Now now) {
  const Change change(*this, now);
  return parts_->quarantine.drain(name, reason);
}

Result<void> Fleet::sign_off(const WorkerName& name, const std::string& reason, Now now) {
  const Change change(*this, now);
  return parts_->registration.sign_off(name, reason);
}

void Fleet::not_conformant(const WorkerName& name, const ProviderId& provider,
                           const std::string& reason, Now now) {
  const Change change(*this, now);
  parts_->quarantine.not_conformant(name, provider, reason);
}

Result<void> Fleet::quarantine(const WorkerName& name, Time until, const std::string& reason,
                               Now now) {
  const Change change(*this, now);
  auto set = parts_->quarantine.set(name, until, reason);
  if (set && until <= now.wall) parts_->task_outcomes.release(name);
  return set;
}

void Fleet::task_outcome(outcome_health::TaskOutcome outcome, Now now) {
  const Change change(*this, now);
  parts_->task_outcomes.add(std::move(outcome));
}

// -------------------------------------------------------------------------------------------------
// The queue

Result<std::int64_t> Fleet::request_worker(queue::NewRequest ask, Now now) {
  const Change change(*this, now);
  ask.pool_exists = find_pool(ask.pool) != nullptr;
  return parts_->queue_link.use().request(std::move(ask), parts_->outbox.next_number(), now.wall);
}

queue::Queue& Fleet::change_queue(Now now) {
  const Change change(*this, now);
  ++begun_;  // the caller changes it after this; see half_changed()
  return parts_->queue_link.use();
}

void Fleet::configure_queue(const queue::Settings& settings, Now now) {
  const Change change(*this, now);
  parts_->queue_link.queue().configure(settings, now.wall);
}

verdict::Verdict Fleet::tell_verdict(const queue::Request& request, Now now) {
  verdict::Verdict verdict = verdict_of(request, now);
  if (verdict.eta) parts_->queue_link.queue().promise(request.number, *verdict.eta);
  return verdict;
}

}  // namespace muster::fleet
