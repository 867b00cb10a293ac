// The machine that runs a scenario: the real fleet on a store in memory, simulated clouds behind
// the same calls that plugins get, workers that register, work and end, all in virtual time and
// from one seed.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/channel.hpp>

#include "host/fleet/fleet.hpp"
#include "host/queue/resources.hpp"
#include "host/simulation/random.hpp"
#include "host/simulation/report.hpp"
#include "host/store/memory_store.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulation {

class World {
 public:
  // `strategies` by name; borrowed.
  World(Scenario scenario, std::map<std::string, BiddingStrategy*> strategies);
  ~World();

  // To the end. `progress`, if given, is told the virtual time now and then.
  Report run(const std::function<void(milliseconds)>& progress = {});

 private:
  struct Event {
    milliseconds at;
    std::uint64_t order;
    std::function<void()> act;
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Agent;
  struct Client;
  struct Cloud;
  struct Task {
    milliseconds arrived;
    milliseconds length;
    bool began = false;  // once already, on a machine that went away
  };
  using AgentKey = std::pair<ProviderId, std::string>;
  using Agents = std::map<AgentKey, std::shared_ptr<Agent>>;

  // world.cpp: time, the host, its store
  void at(milliseconds when, std::function<void()> act);
  void after(milliseconds delay, std::function<void()> act) { at(now_ + delay, std::move(act)); }
  fleet::Now host_now() const;
  Time true_time() const;
  void start_host();
  void crash_host();
  void next_crash();
  void pump();
  bool commit(const store::Batch& changes);
  void sample();
  bool done() const;
  Event next_event();
  void conclude();
  void next_arrival(std::size_t index);
  void wind_down();
  void count_costs(bool all);
  void count_cost(Cloud& cloud, const simulated::Machine& machine);
  void jump_clock();
  bool nothing_left() const;
  void note(const std::string& what);
  template <class Input>
  void tell_fleet(Input input);

  // faults.cpp: listings that lie, and times in which the host neither hears nor decides
  bool hears() const { return fleet_ && !deaf_; }
  void next_freeze();
  void next_lie();
  void next_restore();
  void be_deaf(milliseconds length, const char* why);
  void hear_again();
  void leave_out(Cloud& cloud, Listing& listing);
  void invent(Cloud& cloud, Listing& listing);
  void carry_out(std::vector<fleet::Question> questions);

  // calls.cpp: what the host asks
  void ask(fleet::Question question);
  template <class Act>
  void call_provider(const fleet::Question& question, const ProviderId& provider, Act act);
  template <class Answer>
  void answer(fleet::CallId call, Answer result, std::uint64_t incarnation);
  Result<Allocation> allocate(Cloud& cloud, const AllocateRequest& request);
  void launch_twin(Cloud& cloud, const AllocateRequest& request);
  Result<Listing> list(Cloud& cloud, const ListRequest& request);
  Result<Termination> terminate(Cloud& cloud, const TerminateRequest& request);
  Result<Notices> notices(Cloud& cloud, const NoticesRequest& request);
  std::optional<Error> failure();
  void look_for_machines(Cloud& cloud, const Result<Allocation>& told, std::int64_t launched);
  void found_machine(Cloud& cloud, const std::string& worker_id, const simulated::Machine& machine);

  // agents.cpp: what workers do
  void boot(Cloud& cloud, const Instance& instance);
  void try_register(const std::shared_ptr<Agent>& agent);
  // Why it got none.
  static std::optional<Error> take_credentials(Agent& agent,
                                               const Result<fleet::Registered>& answer);
  void renew(const std::shared_ptr<Agent>& agent);
  milliseconds renewal(const Agent& agent) const;
  bool work(const std::shared_ptr<Agent>& agent);  // whether it took any
  void note_room(const std::shared_ptr<Agent>& agent);
  void finish(const std::shared_ptr<Agent>& agent, std::uint64_t task);
  void idle(const std::shared_ptr<Agent>& agent);
  void leave(const std::shared_ptr<Agent>& agent, bool tells);
  bool exists(const Agent& agent) const;
  void report_activity(const std::shared_ptr<Agent>& agent);
  void keep_reporting(const std::shared_ptr<Agent>& agent);
  void arrive(const Arrival& arrival);
  void hand_out(const WorkerPoolId& pool);
  void tell_demand();

  // clients.cpp: who asks the queue for workers
  void next_client();
  void add_client(bool of_crowd);
  void look_after(const std::shared_ptr<Client>& client);
  void ask_queue(Client& client);
  void watch_request(Client& client);
  void begin_lease(Client& client, std::int64_t worker, const queue::Resources& has);
  void end_lease(Client& client);

  // queue_invariants.cpp
  void check_queue();
  void check_verdict(const std::string& subject, const verdict::Verdict& verdict);
  void check_verdicts(const queue::Queue& queue);
  void check_counters(const queue::Queue& queue);
  void check_idle_workers(const queue::Queue& queue);
  void check_dead_clients(const queue::Queue& queue);

  // invariants.cpp
  void check();
  void check_limits(const fleet::Pool& pool);
  void check_explanations(const fleet::Pool& pool);
  void check_vanished(const events::Event& happening);
  void check_end();
  void limit(const std::string& name, const fleet::Totals& totals,
             std::optional<std::int64_t> most);
  // The capacity of the machines that the clouds have, by pool, launch configuration and provider.
  void count_machines();
  std::int64_t used_of(const std::string& name, const fleet::Totals& totals,
                       std::int64_t most) const;
  // Of workers that the host did not launch but found.
  std::int64_t found_of(const std::string& name) const;
  void violated(const std::string& what);

  Scenario scenario_;
  std::map<std::string, BiddingStrategy*> strategies_;
  Random random_;
  Random fault_random_;   // what lies and freezes do changes nothing else that happens by chance
  Random client_random_;  // what clients do changes nothing of what the clouds do by chance
  milliseconds now_{0};
  milliseconds wall_offset_{0};
  bool calm_ = false;          // the winding down: nothing fails any more
  bool crash_is_due_ = false;  // at the next write
  std::uint64_t next_order_ = 0;
  std::vector<Event> events_;  // a heap: the next one is first

  std::unique_ptr<store::MemoryStore> store_;
  std::unique_ptr<fleet::Fleet> fleet_;
  std::uint64_t incarnation_ = 0;
  milliseconds pumped_for_{-1};  // the wake that is set
  bool deaf_ = false;            // until then
  milliseconds deaf_until_{0};
  std::optional<store::MemoryStore::Contents> copy_;  // of the store, as it was once
  bool lost_changes_ = false;                         // such a copy was put in place
  std::optional<fleet::Outcome> unsaved_;             // that the store did not take
  std::size_t configuration_ = 0;
  bool configured_ = true;  // the host knows of the newest one

  std::map<ProviderId, std::unique_ptr<Cloud>> clouds_;
  Agents agents_;
  std::map<WorkerPoolId, Agents> free_;  // those that could take work
  std::map<WorkerPoolId, std::deque<Task>> waiting_;
  std::int64_t clients_ = 0;
  std::map<std::int64_t, queue::Resources> leased_;  // of each worker, as the clients know it
  std::map<std::int64_t, milliseconds> dead_since_;  // requests whose clients have died
  milliseconds host_heard_since_{0};  // when the host began to count anew how long nobody spoke
  bool all_arrived_ = false;
  bool demand_told_ = true;

  // To see that limits are not overstepped: what was used at the last look, and what of that was
  // durable, for the rest did not happen if the host died.
  std::map<std::string, std::int64_t> used_now_, used_before_;
  std::map<std::string, std::int64_t> machines_;
  std::set<std::string> intents_;                // keys that were durable before they were used
  std::map<std::string, std::string> launched_;  // key → machine
  std::map<std::string, IdempotencyKey>
      twins_;  // machines that should not be, and whose they pretend to be
  std::vector<Notices::Notice> old_notices_;
  std::uint64_t trace_ = 1469598103934665603u;
  Report report_;
};

}  // namespace muster::simulation
