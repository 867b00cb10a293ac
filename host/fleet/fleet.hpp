// The whole fleet: one state, one writer. Every input is a function call, every output a value:
// changes for the store, questions to plugins, events. It does no I/O, knows no
// thread and reads no clock, so the same calls give the same bytes, and a simulation drives the
// very code that a host runs.
//
// Its driver calls inputs as they come, then settle(), makes the changes durable, and only then
// asks the questions. The answers are inputs again.
//
// The work is done by parts that each keep their own state, in folders by stage: workers, holds,
// queue_link, lifecycle, allocation, bidding, reconciliation, configuration, verdict_inputs. Fleet
// puts them together and says which acts when.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/fleet/inputs_outputs.hpp"
#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/settings.hpp"
#include "host/fleet/model/state.hpp"
#include "host/store/store.hpp"
#include "lib/base/listening.hpp"
#include "lib/base/secret.hpp"

namespace muster::queue {
class Queue;
struct NewRequest;
struct Request;
struct WaitingCapacity;
}  // namespace muster::queue

namespace muster::outcome_health {
class PoolOutcomes;
struct TaskOutcome;
}  // namespace muster::outcome_health

namespace muster::allocation {
class Throttle;
}  // namespace muster::allocation

namespace muster::fleet {

class Fleet {
 public:
  // A new fleet with no past.
  Fleet(Settings settings, std::string host_id, std::int64_t epoch, Now now);

  ~Fleet();

  // Goes on from what is in the store, as the next epoch. `host_id` is for a store that is empty.
  // Rows that cannot be read are set aside (store.set_aside()): nothing acts on them, workers among
  // them count as alive in all limits, and no instance that may be theirs is ended. Fails only if
  // the store does, or if it is not known which host this is.
  static Result<std::unique_ptr<Fleet>> load(const store::Store& store, Settings settings,
                                             const std::string& host_id, Now now);

  // The whole state, for a store that has to be written anew.
  store::Batch everything() const;

  // Inputs. Each is complete in itself; the order is the order of events.
  void configure(const std::shared_ptr<const Configuration>& configuration, Now now);
  void provider_up(const ProviderUp& provider, Now now);
  void provider_down(const ProviderId& provider, const std::string& why, Now now);
  void demand_changed(const Demand& demand, Now now);  // all of it: a pool not named has none
  void answered(Answer answer, Now now);
  // Something that happened outside; it gets its number here and is durable with the next changes.
  void emit_event(events::Event event, Now now);
  // Rows that others keep in the same store: durable with the next changes, in one transaction.
  void keep_rows(const store::Batch& rows, Now now);

  // Pools of the API. Refused for one that a file configures, naming the file.
  Result<void> put_api_pool(const std::shared_ptr<const PoolSpec>& spec, json::object document,
                            Now now);
  Result<void> remove_api_pool(const WorkerPoolId& pool, Now now);

  // Workers. `not_found`: there is no such worker. Error code "gone": it is no longer wanted, and
  // why. Of a secret only the digest is known here. A worker renews its credentials with the secret
  // that it was told last; the one before is good until then, for the answer may have been lost.
  // Error code "wrongSecret": it is neither. A worker that was launched registers once, or again
  // with the key that it showed with its first registration. One that is outdated and works goes on
  // renewing for the `finish_tasks` of its pool, and is told why it is to end.
  Result<Registered> register_worker(const WorkerName& name, const ProviderId& provider,
                                     const Sha256& secret, Now now, const Proven& proven = {});
  Result<Registered> reregister_worker(const WorkerName& name, const Sha256& secret,
                                       const Sha256& next_secret, Now now);
  // While nothing can be made durable: credentials for a worker that keeps its secret, because a
  // new one would be lost with the host. Changes nothing. When changes are possible again, the
  // fleet is told until when they are good.
  Result<Registered> renewal_without_store(const WorkerName& name, const Sha256& secret,
                                           Now now) const;
  void renewed_without_store(const WorkerName& name, Time credentials_expire, Now now);
  // The same again changes nothing. Error code "conflict": there is one of that name that differs.
  Result<void> declare_worker(const DeclaredWorker& declared, Now now);
  // Changes what was declared. `not_found`: nothing was.
  Result<void> update_declared_worker(const DeclaredWorker& declared, Now now);
  Result<ShouldTerminate> should_terminate(const WorkerName& name, Now now);
  Result<void> worker_active(const WorkerName& name, std::int64_t busy, Now now);
  Result<PoolErrorRow> report_error(const WorkerName& name, const std::string& kind,
                                    const std::string& title, const std::string& description,
                                    json::object extra, Now now);
  Result<void> interrupt(const WorkerName& name, const Interruption& interruption, Now now);
  Result<void> remove_worker(const WorkerName& name, const std::string& reason, Now now);
  // It gets no new work and ends when it has none, or with its credentials; again changes nothing.
  // Refused for a machine that its owner declared.
  Result<void> drain(const WorkerName& name, const std::string& reason, Now now);
  // The worker itself says that it ends. A machine that stays known is absent then.
  Result<void> sign_off(const WorkerName& name, const std::string& reason, Now now);
  // Its provider has found that it is who it says, and not in the state that its pool wants. One
  // that runs is in quarantine until it registers in the right state or is released; a new one
  // ends. Nothing happens to one that is not known.
  void not_conformant(const WorkerName& name, const ProviderId& provider, const std::string& reason,
                      Now now);
  // Until then it gets no work and is not counted; a time that is past releases it, whatever put it
  // in quarantine.
  Result<void> quarantine(const WorkerName& name, Time until, const std::string& reason, Now now);

  // How a run of a task ended; each run once. Of a pool that is not known it says nothing. The
  // launch configuration and the image are the worker's, if it is known.
  void task_outcome(outcome_health::TaskOutcome outcome, Now now);
  // What is known of the pool by task outcomes; null: nothing.
  const outcome_health::PoolOutcomes* outcomes_of(const WorkerPoolId& pool) const;

  // Launch configurations. To resume one also forgets what task outcomes say against it.
  Result<void> pause(const WorkerPoolId& pool, const LaunchConfigId& id, Time until,
                     const std::string& reason, Now now);
  Result<void> resume(const WorkerPoolId& pool, const LaunchConfigId& id, Now now);

  // Ends holds before their time: the one of that scope, or all of the provider. Returns them.
  // `not_found`: there is none.
  Result<std::vector<bidding::Hold>> release_holds(const ProviderId& provider,
                                                   const std::optional<std::string>& scope,
                                                   Now now);

  // Writes or erases a row that was set aside. `left`: those that are still.
  void change_row(store::Change change, const store::SetAside& left);

  // The queue: who waits for a worker, and who holds one. Its workers are those that run here.
  Result<std::int64_t> request_worker(queue::NewRequest ask, Now now);  // see Queue::request
  queue::Queue& change_queue(Now now);
  void configure_queue(const queue::Settings& settings, Now now);
  const queue::Queue& queue() const;

  // Why something is where it is; of a request that has not ended.
  verdict::Verdict verdict_of(const queue::Request& request, Now now) const;
  verdict::Verdict verdict_of(const Pool& pool, Now now) const;
  // `weights` are those of its pool.
  verdict::Verdict verdict_of(Index launch_config, const Weights& weights, Now now) const;
  // The same for all that wait in the queue: how many, by kind and cause.
  std::map<std::pair<verdict::Kind, std::string>, std::int64_t> count_verdicts(Now now) const;
  // The same for its client, who waits: when it was told to expect a worker is remembered, to be
  // compared with what comes of it.
  verdict::Verdict tell_verdict(const queue::Request& request, Now now);

  // Calls `take` for all of the demand, part by part: what waits is demand of the pools that could
  // serve it, each request of one of them.
  void assign_demand(const std::vector<queue::WaitingCapacity>& demand,
                     const TakeDemand& take) const;

  // Nobody could be heard since the last input or settle(): the host was frozen, or its store
  // failed. That time is nobody's silence. To be called before the inputs that came since.
  void could_not_hear(Now now);

  // Decides all that can be decided now, and hands out what came of it.
  Outcome settle(Now now);
  // When settle() should be called again at the latest.
  Time next_wake() const;

  // An exception ended a change halfway, or the queue was handed out to be changed and
  // input_ended() was not called since: the state may contradict itself and must not be used for
  // decisions.
  bool half_changed() const { return begun_ != completed_; }
  // The driver's input is over, without an exception.
  void input_ended() { completed_ = begun_; }

  // For readers; valid until the next input.
  const Settings& settings() const;
  const std::string& host_id() const;
  // When others could be heard.
  const Listening& listening() const;
  std::int64_t epoch() const;
  const std::vector<Pool>& pools() const;
  const std::vector<LaunchConfigState>& launch_configs() const;
  const std::vector<ProviderState>& providers() const;
  const std::vector<Worker>& workers() const;
  const Pool* find_pool(const WorkerPoolId& id) const;
  const Worker* find_worker(const WorkerName& name) const;
  const Worker* find_worker(std::int64_t number) const;
  // The newest launch configuration of a worker of that name, or the one that it would get if it
  // joined now; null if there is none.
  std::shared_ptr<const LaunchConfigSpec> place_for(const WorkerName& name,
                                                    const ProviderId& provider) const;
  // Whatever its pool; two providers may have machines of the same name.
  std::vector<const Worker*> find_workers(const WorkerGroup& group, const WorkerId& id) const;
  // What the worker reported of itself when it registered; null: nothing.
  const QueueFacts* reported_facts(const Worker& worker) const;
  const ApiPoolRow* find_api_pool(const WorkerPoolId& id) const;
  const std::string& group_name(Index group) const;
  std::vector<bidding::Hold> holds() const;
  // How fast the provider is called, and what waits for its turn there.
  const allocation::Throttle& throttle_of(const ProviderState& provider) const;
  std::size_t launches_waiting(const ProviderState& provider) const;
  std::size_t terminations_waiting(const ProviderState& provider) const;
  IdempotencyKey key_of(const Worker& worker) const;
  // The weights of the pool's active launch configurations as the next bidding would see them.
  Weights weights_of(const Pool& pool, Time now) const;
  // Empty if all sums are what the workers say; else the first that is not. For tests.
  std::string check_sums() const;

 private:
  struct Parts;
  // Guards a change of the state: see half_changed().
  class Change;

  Result<void> load_parts(const store::Store& store);
  Result<void> load_workers(const store::Store& store);
  void skip_known_numbers();
  void clock_was_set(std::chrono::milliseconds by);
  void run_timers();
  template <class Act>
  void decide_about(Index pool, const Act& act);
  void review(Index pool);
  void prune();
  void note_heard(store::Batch& changes);
  HostRow heard_row() const;

  std::unique_ptr<Parts> parts_;
  std::int64_t begun_ = 0, completed_ = 0;  // changes
};

}  // namespace muster::fleet
