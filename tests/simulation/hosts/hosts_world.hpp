// Several simulated hosts on one simulated database, in virtual time and from one seed: the real
// fleet and the real times of the lease, with everything between them late, lost or stopped at the
// worst moments that the seed finds.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <muster/bidding_strategy.hpp>

#include "host/fleet/fleet.hpp"
#include "host/leadership/lease.hpp"
#include "host/queue/resources.hpp"
#include "host/simulation/random.hpp"
#include "plugins/provider/simulated/cloud.hpp"
#include "tests/simulation/hosts/shared_database.hpp"

namespace muster::simulation {

struct TakeoverScenario {
  std::uint64_t seed = 1;
  std::int64_t takeovers = 20;
  std::size_t hosts = 3;
  leadership::LeaseTimes times = {};
  bool provider_fences = true;  // it refuses calls of an older epoch; few clouds do
  // What is broken on purpose.
  bool checks_epochs = true;
  bool answers_when_durable = true;
};

struct TakeoverReport {
  std::int64_t takeovers = 0;
  std::map<std::string, std::int64_t> happenings = {};
  std::vector<std::string> violations = {};  // the first few
};

class HostsWorld {
 public:
  HostsWorld(TakeoverScenario scenario, std::map<std::string, BiddingStrategy*> strategies);
  ~HostsWorld();

  TakeoverReport run();

 private:
  struct Event {
    milliseconds at;
    std::uint64_t order;
    std::function<void()> act;
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  // What was decided together: first durable, then answered and asked.
  struct Decided {
    store::Batch changes;
    std::vector<fleet::Question> questions;
    std::vector<std::function<void()>> durable;
  };
  struct Host {
    std::string name;
    double speed = 1;  // of its monotonic clock
    milliseconds wall_offset{0};
    bool up = false, paused = false;
    std::uint64_t incarnation = 0;
    std::vector<std::function<void()>> missed;  // while it was paused
    milliseconds cut_until{0};                  // from the database
    leadership::Holding holding = {};
    std::int64_t epoch = 0;
    leadership::BootTime competes_from{};
    bool hands_over = false;
    std::string leader;  // as far as it knows
    std::unique_ptr<fleet::Fleet> fleet;
    milliseconds decided_at{0}, wakes_at{-1};
    std::vector<std::function<void()>> to_answer;
    std::deque<Decided> waiting;  // for its commit
    std::vector<Decided> in_commit;
    std::int64_t number = 0;              // of the last commit
    std::vector<std::string> unanswered;  // tokens of commits that may be there
  };
  struct Agent;
  struct Client;
  // What a caller sends, and what it does with the answer; false: there was none.
  using Input = std::function<void(fleet::Fleet&, fleet::Now)>;
  using Then = std::function<void(bool answered)>;

  // hosts_world.cpp: time, faults
  void after(milliseconds delay, std::function<void()> act);
  void on_host(Host& host, milliseconds delay, std::function<void()> act);
  void deliver(Host& host, std::uint64_t incarnation, const std::function<void()>& act);
  Time true_time() const;
  fleet::Now now_of(const Host& host) const;
  leadership::BootTime boot_time_of(const Host& host) const;
  milliseconds database_now() const { return now_ + database_offset_; }
  void next_fault();
  void inject(Host& host);
  void kill(Host& host);
  void pause(Host& host);
  void resume(Host& host);
  void calm_down();
  Host* leader();
  void count(const std::string& what) { ++report_.happenings[what]; }
  void violated(const std::string& what);

  // leading.cpp: the lease, the store, decisions
  template <class Ask, class Then>
  void ask_database(Host& host, Ask ask, Then then);
  void follow(Host& host);
  void keep(Host& host);
  void lead(Host& host);
  void begin(Host& host, const SharedDatabase::Snapshot& snapshot);
  void lose(Host& host, milliseconds stand_back = {});
  void hand_over(Host& host);
  bool may_act(const Host& host) const;
  void decide(Host& host);
  void wake(Host& host);
  void flush(Host& host);
  void send_commit(Host& host);
  Commit commit(std::int64_t epoch, std::int64_t number, const std::string& token,
                const store::Batch& batch);
  void ask_row(Host& host, bool refused);
  void committed(Host& host);

  // provider.cpp: the cloud, and the machines that it makes
  void ask(Host& host, const fleet::Question& question);
  fleet::Answer carry_out(const fleet::Question& question);
  Result<Allocation> allocate(AllocateRequest request);
  void found_machine(const std::string& worker_id);
  bool exists(const Agent& agent) const;
  std::int64_t machines_alive() const;
  void register_agent(const std::shared_ptr<Agent>& agent);
  void report(const std::shared_ptr<Agent>& agent);
  void leave(const std::shared_ptr<Agent>& agent);

  // clients.cpp: who calls the hosts, and what they were promised
  void call(Input input, Then then);
  void arrive(Host& host, const Input& input, const std::function<void()>& answer, bool handed_on);
  void next_client();
  void look_after(const std::shared_ptr<Client>& client);
  void ask_queue(const std::shared_ptr<Client>& client);
  void watch(const std::shared_ptr<Client>& client);
  bool is_superseded(const fleet::Fleet& fleet) const;
  void begin_lease(Client& client, std::int64_t worker, const queue::Resources& has);
  void end_lease(Client& client);
  void write_team(std::int64_t team);
  void check_promises(const fleet::Fleet& fleet);
  void check_end();

  const TakeoverScenario scenario_;
  const std::map<std::string, BiddingStrategy*> strategies_;
  Random random_;
  milliseconds now_{0}, database_offset_{0};
  milliseconds slow_until_{0};  // the database
  bool calm_ = false;
  std::uint64_t next_order_ = 0;
  std::vector<Event> events_;  // a heap: the next one is first
  SharedDatabase database_;
  std::deque<Host> hosts_;
  std::uint64_t next_token_ = 0;
  std::set<std::string> intents_;  // keys that were durable

  simulated::Cloud cloud_;
  std::shared_ptr<const fleet::Configuration> configuration_;
  fleet::Settings settings_;
  std::map<std::string, std::string> launched_;  // key → machine
  std::vector<std::shared_ptr<Agent>> agents_;

  std::vector<std::shared_ptr<Client>> clients_;
  std::map<std::int64_t, queue::Resources> leased_;  // of each worker, as the clients know it
  std::vector<std::int64_t> acknowledged_;           // the weight of each team
  TakeoverReport report_;
};

}  // namespace muster::simulation
