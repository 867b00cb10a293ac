// The whole fleet: one state, one writer. Every input is a function call, every output a value:
// changes for the store, questions to plugins, things worth telling. It does no I/O, knows no
// thread and reads no clock, so the same calls give the same bytes, and a simulation drives the
// very code that a host runs.
//
// Whoever drives it calls inputs as they come, then settle(), makes the changes durable, and only
// then asks the questions. The answers are inputs again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host/fleet/holds/hold_ledger.hpp"
#include "host/fleet/inputs_outputs.hpp"
#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/settings.hpp"
#include "host/fleet/model/state.hpp"
#include "host/store/store.hpp"
#include "lib/base/secret.hpp"

namespace muster::queue {
class Queue;
struct Ask;
struct LeaseTime;
struct Request;
struct Waiting;
}  // namespace muster::queue

namespace muster::fleet {

class Fleet {
 public:
  // A new fleet with no past.
  Fleet(Settings settings, std::string host_id, std::int64_t epoch, Now now);

  ~Fleet();

  // Goes on from what is in the store, as the next epoch. `host_id` is for a store that is empty.
  static Result<std::unique_ptr<Fleet>> load(const store::Store& store, Settings settings,
                                             const std::string& host_id, Now now);

  // The whole state, for a store that has to be written anew.
  store::Batch everything() const;

  // Inputs. Each is complete in itself; the order is the order of events.
  void configure(const std::shared_ptr<const Configuration>& configuration, Now now);
  void provider_up(const ProviderUp& provider, Now now);
  void provider_down(const ProviderId& provider, const std::string& why, Now now);
  void demand_changed(const Demand& demand, Now now);  // all of it: who is not named has none
  void answered(Answer answer, Now now);
  // Something that happened outside; it gets its number here and is durable with the next changes.
  void tell(events::Event event, Now now);

  // Pools of the API. Refused for one that a file configures, naming the file.
  Result<void> put_api_pool(const std::shared_ptr<const PoolSpec>& spec, json::object document,
                            Now now);
  Result<void> remove_api_pool(const WorkerPoolId& pool, Now now);

  // Workers. `not_found`: nobody knows it. Error code "gone": it is no longer wanted, and why.
  // Of a secret only the digest is known here. A worker renews its credentials with the secret that
  // it was told last; the one before is good until then, for the answer may have been lost. Error
  // code "wrongSecret": it is neither.
  Result<Registered> register_worker(const WorkerName& name, const ProviderId& provider,
                                     const Sha256& secret, Now now, const Proven& proven = {});
  Result<Registered> reregister_worker(const WorkerName& name, const Sha256& secret,
                                       const Sha256& next_secret, Now now);
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
  // The worker itself says that it ends. A machine that stays known is absent then.
  Result<void> sign_off(const WorkerName& name, const std::string& reason, Now now);
  // Its provider has found that it is who it says, and not in the state that its pool wants. One
  // that runs is in quarantine until it registers in the right state or is released; a new one
  // ends. Nothing happens to one that nobody knows.
  void not_conformant(const WorkerName& name, const ProviderId& provider, const std::string& reason,
                      Now now);
  // Until then it gets no work and is not counted; a time that is past releases it, whatever put it
  // in quarantine.
  Result<void> quarantine(const WorkerName& name, Time until, const std::string& reason, Now now);

  // Launch configurations.
  Result<void> pause(const WorkerPoolId& pool, const LaunchConfigId& id, Time until,
                     const std::string& reason, Now now);
  Result<void> resume(const WorkerPoolId& pool, const LaunchConfigId& id, Now now);

  // Ends holds before their time: the one of that scope, or all of the provider. Returns them.
  // `not_found`: there is none.
  Result<std::vector<bidding::Hold>> release_holds(const ProviderId& provider,
                                                   const std::optional<std::string>& scope,
                                                   Now now);

  // The queue: who waits for a worker, and who holds one. Its workers are those that run here.
  Result<std::int64_t> request_worker(queue::Ask ask, Now now);  // see Queue::request
  queue::Queue& change_queue(Now now);
  void configure_queue(const queue::Settings& settings, Now now);
  const queue::Queue& queue() const { return *queue_; }

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
  void assign_demand(const std::vector<queue::Waiting>& demand, const TakeDemand& take) const;

  // Decides all that can be decided now, and hands out what came of it.
  Outcome settle(Now now);
  // When settle() should be called again at the latest.
  Time next_wake() const;

  // To look at; valid until the next input.
  const Settings& settings() const { return settings_; }
  const std::string& host_id() const { return host_id_; }
  std::int64_t epoch() const { return epoch_; }
  const std::vector<Pool>& pools() const { return pools_; }
  const std::vector<LaunchConfigState>& launch_configs() const { return launch_configs_; }
  const std::vector<ProviderState>& providers() const { return providers_; }
  const std::vector<Worker>& workers() const { return workers_; }
  const Pool* find_pool(const WorkerPoolId& id) const;
  const Worker* find_worker(const WorkerName& name) const;
  const Worker* find_worker(std::int64_t number) const;
  // The newest launch configuration that a worker of that name stands under, or would if it joined
  // now; null if there is none.
  std::shared_ptr<const LaunchConfigSpec> place_for(const WorkerName& name,
                                                    const ProviderId& provider) const;
  // Whatever its pool; two providers may have machines of the same name.
  std::vector<const Worker*> find_workers(const WorkerGroup& group, const WorkerId& id) const;
  // What the worker said of itself to the queue when it registered; null: nothing.
  const QueueFacts* reported_facts(const Worker& worker) const;
  const ApiPoolRow* find_api_pool(const WorkerPoolId& id) const;
  const std::string& group_name(Index group) const { return groups_[group]; }
  std::vector<bidding::Hold> holds() const { return holds_.all(); }
  IdempotencyKey key_of(const Worker& worker) const;
  // The weights of the pool's active launch configurations as the next bidding would see them.
  Weights weights_of(const Pool& pool, Time now) const;
  // Empty if all sums are what the workers say; else the first that is not. For tests.
  std::string check_sums() const;

 private:
  struct PendingCall;  // a question that waits for its answer
  class WorkerEdit;    // the only way to change a worker
  struct Timer {
    Time at;
    Index index;
    friend bool operator>(const Timer& a, const Timer& b) {
      return std::pair(a.at, a.index) > std::pair(b.at, b.index);
    }
  };

  // What a pool has and wants of a provider whose limit is shared.
  struct Claim {
    Index pool = no_index;
    std::int64_t held = 0, wants = 0, unit = 0;  // unit: the capacity of one instance
  };

  // fleet.cpp: time, numbers, rows
  void begin(Now now);
  void clock_was_set();
  std::int64_t next_number();
  void count(const Worker& worker, std::int64_t sign);
  Index index_of_group(const std::string& name);
  Index index_of_pool(const WorkerPoolId& id);
  Index index_of_provider(const ProviderId& id);
  void put_in_pool(Worker& worker, Index index);
  void take_from_pool(std::vector<Index>& list, Worker& worker);
  Index add_worker(Worker worker);
  void erase_worker(Index worker);
  Index lookup(const WorkerName& name) const;
  Index lookup(Index provider, const std::string& group, const std::string& worker_id) const;
  void index_instance(Index worker);
  void forget_instance(Index worker);
  WorkerRow row_of(const Worker& worker) const;
  LaunchConfigRow row_of(const LaunchConfigState& launch_config) const;
  PoolRow row_of(const Pool& pool) const;
  void write_rows();
  void touch(Index launch_config);
  void journal(const Pool& pool, const char* kind, std::string reason, json::object inputs,
               json::object outputs);
  void prune();
  template <class Ask>
  CallId ask(Ask question, PendingCall open);

  // telling.cpp
  void record(events::Event event);
  void emit_event(const char* kind, const Worker& worker, std::string text,
                  json::object details = {});
  void emit_event(const char* kind, const LaunchConfigState& launch_config, std::string text);
  void emit_event(const char* kind, const Pool& pool, std::string text, json::object details = {});
  void emit_event(const char* kind, const ProviderState& provider, std::string text,
                  json::object details = {});
  PoolErrorRow pool_error(const Worker& worker, const char* kind, std::string title,
                          std::string description, json::object extra = {});
  Result<void> load_events(const store::Store& store);

  // loading.cpp
  Result<void> load_pools(const store::Store& store);
  Result<void> load_launch_configs(const store::Store& store);
  Result<void> load_worker_facts(const store::Store& store);
  Result<void> load_workers(const store::Store& store);
  Result<void> load_holds(const store::Store& store);

  // measuring.cpp
  template <class Add>
  void measure(const Worker& worker, const Add& add);
  void measure_start(const Worker& worker);
  void measure_lease(const queue::LeaseTime& lease);
  TimesRow times_row_of(const LaunchConfigState& launch_config) const;
  void write_times();
  Result<void> load_times(const store::Store& store);

  // verdicts.cpp
  template <class Room>
  void add_launches(const Pool& pool, std::vector<verdict::Coming>& coming, const Room& room) const;
  std::vector<Index> could_launch_for(const queue::Request& request) const;
  verdict::RequestSituation situation_of(const queue::Request& request, Now now) const;

  // timers.cpp
  void set_timer(Index worker);
  void set_pool_timer(Index pool, Time at);
  Time due(const Worker& worker) const;
  bool retries(const Worker& worker) const;
  void run_timers();
  void on_timer(Index worker);
  void on_running_timer(Index worker, bool may_judge);

  // configuring.cpp
  void take_pool(Index pool, const std::shared_ptr<const PoolSpec>& spec);
  static void take_spec(LaunchConfigState& launch_config,
                        std::shared_ptr<const LaunchConfigSpec> spec);
  enum class Taken { unchanged, updated, created };
  Taken take_launch_config(Index pool, const std::shared_ptr<const LaunchConfigSpec>& spec);
  void drop_pool(Index pool);
  void archive(Index launch_config);
  void judge_conformance(Index pool);
  void cycle(Index pool);
  void expire_pools();
  std::optional<Error> refuse_file_pool(const WorkerPoolId& pool) const;
  Index find_launch_config(const Pool& pool, const LaunchConfigId& id) const;
  Result<Index> active_launch_config(const WorkerPoolId& pool, const LaunchConfigId& id) const;
  void resumed(Index launch_config, const char* why);

  // deciding.cpp: the conversation of a pool
  void wake(Index pool, bool at_once = false);
  void look_at(Index pool);
  void record_history(Index pool);
  PoolCapacity capacity_of(const Pool& pool) const;
  void ask_size(Index pool);
  void sized(Index pool, const Result<Size>& answer);
  std::int64_t keep_draining(Index pool, std::int64_t wanted);
  void not_more(Index pool, const Size& size);
  void finish_bidding(Index pool, verdict::PoolSituation situation, Time look_again = Time::max());
  verdict::PoolSituation situation_of(const Pool& pool, verdict::Look look,
                                      std::string reason = {}) const;

  // bidding.cpp, obstacles.cpp
  void bid_for_all();
  bool waits_for_fairness(Index pool) const;
  void share_scarce_providers();
  static void share_by_whole_instances(const std::vector<Claim>& claims, std::int64_t limit,
                                       std::size_t first, std::vector<std::int64_t>& shares);
  std::int64_t held_of(const Pool& pool, Index provider) const;
  Claim claim_on(Index pool, Index provider) const;
  std::int64_t capacity_room(Index pool, Index launch_config) const;
  std::int64_t instances_room(Index pool, Index launch_config) const;
  std::optional<verdict::Obstacle> obstacle_of(Index pool, Index launch_config,
                                               const bidding::Weight& weight,
                                               std::int64_t& instances) const;
  verdict::Obstacle limit_of(Index pool, Index launch_config) const;
  void begin_bidding(Index pool);
  void nobody_bids(Index pool, Time look_again);
  void bid(const PendingCall& open, Result<Bids> answer);
  void take_offer(const PendingCall& open, Bid bid);

  // selecting.cpp
  void bids_complete(Index pool);
  void selected(Index pool, const Result<Selection>& answer);
  void journal_selection(Index pool, const Selection& selection, std::int64_t launched);
  std::int64_t launch_choices(Index pool, const Selection& selection);
  std::int64_t launch(Index pool, Index launch_config, std::int64_t instances, const Bid& bid);

  // launching.cpp
  void dispatch(Index provider);
  bool is_held(const Launchable& launchable) const;
  void send(Index provider, Launchable launchable);
  void allocated(const PendingCall& open, Result<Allocation> answer);
  void launch_error(Index worker, const Error& error);
  void launched(Index worker, const Instance& instance);
  void take_instance(Index worker, const Instance& instance);
  void revive(Index worker);
  void launch_failed(Index worker, const Error& error);
  Error narrowed(Error error, Index launch_config) const;
  void launch_uncertain(Index worker, const Error& error);
  void retry_launch(Index worker);
  void give_up(const Launchable& launchable, const std::string& why);
  void hold(Index provider, const Error& error);
  void hold_changed(const bidding::Hold& hold);
  void unhold(const bidding::Hold& hold);
  void canary_succeeded(Worker& worker);
  void canary_ended(Worker& worker);
  void wake_all_of(Index provider);

  // listing.cpp
  void ask_around(Index provider);
  void list_soon(Index provider);
  void listed(const PendingCall& open, Result<Listing> answer);
  Index reconcile_instance(Index provider, const Instance& instance);
  void found_lost(Index worker, const Instance& instance);
  Index by_key(const IdempotencyKey& key) const;
  void unknown_instance(Index provider, const Instance& instance);
  void end_stranger(Index provider, const Instance& instance);
  void launched_twice(Index worker, const Instance& instance);
  void missing_instances(Index provider, const std::vector<bool>& seen, const Listing& listing,
                         Time began);
  void never_launched(Index worker);
  void gone(Index worker, std::string reason);
  void noticed(const PendingCall& open, Result<Notices> answer);
  void provider_trouble(Index provider, const Error& error);
  void provider_fine(Index provider);
  void list_refused(const Pool& pool);

  // announcing.cpp
  Result<Index> place_of(const WorkerPoolId& pool, const ProviderId& provider) const;
  Index add_declared(Worker worker, const WorkerName& name, Index launch_config);
  void describe_again(Index worker, std::int32_t capacity, std::string provider_data);
  Result<void> admit(Index provider, const WorkerName& name, const Admission& admission);
  void take_declared(Index provider, const Listing& listing);
  Index take_machine(Index provider, const AnnouncedMachine& machine, std::set<std::string>& names,
                     std::string& problem);
  Index follow(Index known, const AnnouncedMachine& machine, Index launch_config);

  // conforming.cpp
  Index newest_launch_config(const Worker& worker) const;
  void stand_under_newest(Index worker);
  void set_aside(Index worker, std::string reason);
  void tell_quarantine(const char* kind, const Worker& worker, const std::string& text,
                       json::object details);
  bool has_lapsed(const Worker& worker) const;
  Time lapse(const Worker& worker) const;
  void on_lapse(Index worker);

  // queueing.cpp: the queue's workers and its demand
  void tell_queue_of_pools();
  void offer_to_queue(Index worker);
  void offer_changed_workers();
  Result<void> check_reported(const WorkerName& name, const ProviderId& provider,
                              const QueueFacts& reported) const;
  void keep_reported(std::int64_t worker, const std::optional<QueueFacts>& reported);
  QueueFacts facts_of(const Worker& worker) const;
  std::int64_t tasks_at_once(const Worker& worker) const;
  std::int32_t capacity_at_work(const Worker& worker, std::int64_t tasks) const;
  void count_leases();
  std::int32_t leased_of(const Worker& worker) const;
  Time next_measure() const;
  void measure_queue();
  bool only_queue_wants_more(const Pool& pool) const;
  bool could_help(const Pool& pool, const LaunchConfigState& launch_config) const;
  void add_up_demand(Index pool);
  Result<void> load_queue(const store::Store& store);

  // living.cpp: a worker's life
  Result<Index> known(const WorkerName& name) const;
  void became_running(Index worker);
  Registered renew(Index worker, const Sha256& secret, const Sha256& next_secret);
  void start_drain(Index worker, Drain drain, std::string reason);
  void end_drain(Index worker, const std::string& why);
  bool has_expired(const Worker& worker) const;
  void interrupted(Index worker, const Interruption& interruption);
  bool may_shrink(const Pool& pool, const Worker& worker) const;
  void shrink(Index pool);
  void stop(Index worker, std::string reason);
  void stop_with_error(Index worker, const char* kind, const char* title,
                       const std::string& description);
  void never_registered(Index worker);
  void stopped(Index worker, std::string reason);
  void ask_termination(Index worker);
  void terminate_waiting(Index provider);
  void terminated(const PendingCall& open, Result<Termination> answer);
  Owner owner_of(const ProviderState& provider) const;
  const Lifecycle& lifecycle_of(const Worker& worker) const;

  Settings settings_;
  std::string host_id_;
  std::int64_t epoch_ = 1;
  std::int64_t next_number_ = 1, reserved_ = 1;
  std::int64_t next_event_ = 1;

  std::vector<Worker> workers_;
  std::vector<Index> free_workers_;
  std::vector<Pool> pools_;
  std::map<WorkerPoolId, Index> pool_index_;
  std::vector<LaunchConfigState> launch_configs_;
  std::vector<Index> free_launch_configs_;
  std::vector<ProviderState> providers_;
  std::map<ProviderId, Index> provider_index_;
  std::vector<std::string> groups_;
  std::map<std::string, Index, std::less<>> group_index_;
  boost::unordered_flat_map<std::int64_t, Index> by_number_;
  boost::unordered_flat_map<std::string, Index> by_instance_;  // provider, group and id
  bidding::HoldLedger holds_;
  std::shared_ptr<const Configuration> configuration_;
  std::map<WorkerPoolId, std::shared_ptr<const PoolSpec>> api_pools_;
  std::map<WorkerPoolId, ApiPoolRow> api_rows_;
  std::unique_ptr<queue::Queue> queue_;
  std::map<std::int64_t, QueueFacts> reported_;   // what workers said of themselves; few do
  bool queue_in_use_ = false;                     // until then its workers would only cost memory
  Time queue_measured_{};                         // when its demand was last taken
  std::map<std::int64_t, json::value> bid_data_;  // of workers whose launch is tried again

  Now now_{};
  Time wall_before_{};
  std::chrono::milliseconds steady_before_{};
  bool clock_known_ = false;
  Time grace_until_{};
  Time pruned_{};

  std::vector<Timer> worker_timers_, pool_timers_;
  std::vector<Index> to_look_at_;
  std::vector<Index> sized_;
  std::vector<Index> dirty_workers_;
  std::vector<Index> dirty_launch_configs_;
  std::vector<Index> dirty_pools_;
  std::vector<Index> dirty_times_;  // launch configurations
  Time times_written_{};
  std::map<CallId, PendingCall> open_;
  CallId next_call_ = 1;
  std::int64_t sizing_ = 0;  // pools that wait for their strategy
  Outcome outcome_;
};

}  // namespace muster::fleet
