// Hands out workers to teams: fairly, exactly, and durably. Like the fleet, of which it is a part,
// it is one state without I/O, threads or a clock of its own: the same calls give the same answers.
//
// A request waits in the line of those that its team has for the same workers: by priority, then
// first come, first served. Between lines the one goes first whose team used the least in
// proportion to its weight, where what was used counts half after Settings::half_life.
//
// The bound on waiting. Let r be the head of a line that is within its team's limit: the first for
// which some worker that the line may use is large enough. (One that is too large for all of them
// waits until there is a larger one, and delays no other request.) Let L be the number of lines
// that wait for the same workers.
//   1. When nothing was granted to its line for Settings::patience, the line is overdue. Overdue
//      lines go before all others, the one that waits for the longest first, and a line that is
//      granted something begins to wait anew. So each other line can be served at most once before
//      r, and r's turn comes after at most L - 1 further grants on workers that it could use.
//   2. If r does not fit then into what is left of the worker whose turn brings it up, that worker
//      is reserved for it: no other request gets any of it, so it is r's when the leases that it
//      has now have ended. If another worker lacks less later, the reservation moves there. A line
//      has one reservation at most, so big requests close no more workers than there are lines.
// Hence small requests cannot starve big ones, no team can starve another, and a request that is
// not the head of its line waits for its own team only.
//
// What is kept so that this costs little: a worker that gets free is offered to the lines of its
// (at most two) groups in their order, and stops at the first that fits; requests behind a head are
// never looked at. A new request looks at the open workers of its groups, and gives way to lines
// that are overdue. One that is too large for all workers stands aside until a larger one comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host/queue/model.hpp"
#include "host/queue/rows.hpp"
#include "host/store/store.hpp"
#include "host/verdict/calibration.hpp"
#include "lib/base/listening.hpp"

namespace muster::queue {

// A worker with tags serves only requests with tags, and those must all be its own. Both ordered.
bool tags_match(const std::vector<std::string>& worker, const std::vector<std::string>& wanted);

// What a file says of a pool.
struct FilePool {
  std::string origin = {};
  std::vector<TeamId> teams = {};
  std::vector<std::string> public_keys = {};
};

// Capacity that waits, and the pools whose workers could serve it, the preferred ones first.
struct WaitingCapacity {
  Index line = no_index;
  std::int64_t capacity = 0;  // of "active-task", of requests that need the same
  Resources needs = {};
  std::vector<std::string> tags;
  std::vector<WorkerPoolId> pools;
  bool shared = false;  // and all pools that are not dedicated, behind those
};

// How long a lease lasted.
struct LeaseTime {
  std::int64_t worker = 0;
  std::chrono::milliseconds lasted{};
};

// A lease whose end makes room for others.
struct RoomToCome {
  std::int64_t worker = 0;
  Time granted{};
  double room = 1;   // how many requests of the kind that was asked about it could serve
  double times = 1;  // it stands for so many
};

class Queue {
 public:
  // Draws are made from the seed and the number of the request.
  explicit Queue(Settings settings = {}, std::uint64_t seed = 0);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Goes on from the store. Leases of workers that are not offered until settle_after_load() end.
  // A lease of a worker whose row cannot be read is set aside with it.
  using IsSetAside = std::function<bool(std::int64_t worker)>;
  Result<void> load(const store::Store& store, Time now, const IsSetAside& is_set_aside = {});
  void settle_after_load(Time now);
  store::Batch everything() const;

  // Other settings than before, from now on.
  void configure(const Settings& settings, Time now);

  // Teams. One that was never set weighs 1 and has no limits.
  Result<void> set_team(const TeamId& team, const TeamNumbers& numbers, Time now);
  // All that files say; what they said before and do not say now is no longer so.
  void configure_teams(const std::map<TeamId, TeamNumbers>& teams, const std::string& origin,
                       Time now);

  // Pools. Refused, naming the file, for what a file says.
  // Makes it dedicated. With keys: a worker that joins from now on needs one of them; without a
  // list they stay as they are. Keys may also be set for a pool whose teams a file says.
  Result<void> set_pool(const WorkerPoolId& pool,
                        const std::optional<std::vector<std::string>>& public_keys, Time now);
  Result<void> destroy_pool(const WorkerPoolId& pool, Time now);
  Result<void> attach(const WorkerPoolId& pool, const std::vector<TeamId>& teams, bool exclusive,
                      Time now);
  Result<void> detach(const WorkerPoolId& pool, const std::vector<TeamId>& teams, Time now);
  void configure_pools(const std::map<WorkerPoolId, FilePool>& pools, Time now);
  // All that files say of how a worker is chosen.
  void configure_placement(const std::map<WorkerPoolId, std::vector<Strategy>>& pools);

  // Workers. A worker that comes again with other words has changed; with the same ones it only
  // says what it does. When it leaves, so do its
  // leases; one whose client has not confirmed it yet waits again, in its old place.
  void offer(const WorkerOffer& worker, Time now);
  void withdraw(std::int64_t worker, const std::string& reason, Time now);
  // What the worker says that it does; what is not leased of that was given to it elsewhere.
  void set_working(std::int64_t worker, std::int64_t working, Time now);

  // Requests. `number` is new and larger than all before. Returns the request's number: an older
  // one if the token is known. `not_found`: there is no such request (any more).
  Result<std::int64_t> request(NewRequest ask, std::int64_t number, Time now);
  Result<void> release(std::int64_t request, Time now);  // also of one that waits: it is cancelled
  Result<void> extend(std::int64_t request, Time until, Time now);
  // Its client lives. Of a lease: it knows its worker.
  Result<void> heartbeat(std::int64_t request, Time now);
  // The client waits for an answer right now.
  void note_client_alive(std::int64_t request, Time now);
  // Records the prediction that its client gets; only the first one counts.
  void promise(std::int64_t request, const verdict::Eta& eta);

  // Ends what is overdue.
  void expire(Time now);
  Time next_wake() const;
  // The clock was set by so much: what was so long ago, or is due in so long, still is. Times that
  // are in the future then are times of a clock that was wrong.
  void clock_was_set(Time now, std::chrono::milliseconds by);
  // The silence of clients is judged with it; without one, by the time alone. Borrowed.
  void judge_silence_by(const Listening& listening) { listening_ = &listening; }

  // What came of all this since the last time.
  store::Batch take_changes(Time now);
  std::vector<std::int64_t> take_settled();       // requests that wait no longer
  std::vector<std::int64_t> take_load_changes();  // workers whose leases changed
  std::vector<LeaseTime> take_lease_times() { return std::exchange(lease_times_, {}); }

  // Queries; what they return is valid until the next change.
  const Request* find(std::int64_t request) const;
  const Worker* find_worker(std::int64_t number) const;
  const std::vector<Request>& requests() const { return requests_; }
  const std::vector<Worker>& workers() const { return workers_; }
  const std::vector<Team>& teams() const { return teams_; }
  const std::vector<TeamPool>& pools() const { return pools_; }
  const std::vector<Line>& lines() const { return lines_; }  // see lines.hpp
  std::size_t groups() const;
  const Settings& settings() const { return settings_; }
  std::int64_t waiting() const { return waiting_; }
  const TeamPool* find_pool(const WorkerPoolId& id) const;
  double usage_of(const Team& team, Time now) const;  // as it counts now
  std::vector<WaitingCapacity> demand() const;
  // Since demand() was looked at with this.
  bool demand_changed() const { return demand_changed_; }
  std::vector<WaitingCapacity> take_demand() { return demand_changed_ = false, demand(); }
  WaitingCapacity candidates_of(const Request& request) const;  // without an amount
  // Without what only the fleet knows: the worker's name, the outlooks of pools and what comes.
  verdict::RequestSituation situation_of(const Request& request) const;
  // The worker that it holds, or that is reserved for it; 0: none.
  std::int64_t worker_of(const Request& request) const;
  // What ends before it is served, or some of it that stands for all.
  std::vector<RoomToCome> room_to_come(const Request& request) const;
  const verdict::Calibration& calibration() const { return calibration_; }
  // Empty if all sums are what the requests say; else the first that is not. For tests.
  std::string check() const;

 private:
  struct Timer {
    Time at;
    std::int64_t number;
    friend bool operator>(const Timer& a, const Timer& b) {
      return std::pair(a.at, a.number) > std::pair(b.at, b.number);
    }
  };

  // queue.cpp: names, teams, pools
  Index index_of_team(const TeamId& id);
  Index index_of_pool(const WorkerPoolId& id);
  Index index_of_group(ScopeKind scope, Index owner, const std::vector<std::string>& tags);
  void forget_empty_groups();
  Result<Index> pool_to_change(const WorkerPoolId& id);
  void take_teams(Index pool, const FilePool& file);
  void take_keys(Index pool, const FilePool& file);
  void set_dedicated(Index pool, bool dedicated);
  void attach(Index pool, Index team);
  void detach(Index pool, Index team);
  void relink(Index line);
  void relink_team(Index team);
  void relink_all();
  bool anyone_is_large_enough(const Line& line, const Resources& needs) const;
  void sort_out(Index line);
  void sort_out_changed();
  void regroup(Index worker);
  void write_pool(const TeamPool& pool);
  void touch_team(Index team);

  // workers.cpp
  bool is_the_same(const Worker& worker, const WorkerOffer& offered) const;
  void take_out(Index worker);
  void put_in(Index worker);
  void count_shape(Index worker, std::int64_t sign);
  static void learn_working(Worker& worker, std::int64_t working);
  void reopen(Index worker);
  void close(Index worker);
  void touch_cache_key(Index worker, const std::string& cache_key);
  void unreserve(Index line);

  // bounds.cpp
  Result<void> check_request(const NewRequest& ask) const;
  Result<void> check_new_team(const TeamId& team) const;
  Result<void> check_team(const Team& team, const NewRequest& ask) const;
  Result<void> check_client(const NewRequest& ask) const;
  Result<void> check_bounds(const NewRequest& ask) const;
  std::int64_t new_names_in(const NewRequest& ask) const;

  // requests.cpp
  Result<std::optional<std::int64_t>> find_again(const NewRequest& ask, Time now);
  void close_for_client(const Request& request);
  Index add_request(Request request);
  void forget(Index request);
  void end(Index request, std::string reason);
  Index index_of_line(Index team, Index pool, const std::vector<std::string>& tags);
  void forget_line(Index line);
  void enqueue(Index request);
  void dequeue(Index request);
  void free_worker(Index request);
  Time due(const Request& request) const;
  void set_timer(Request& request);
  void touch(Index request);
  void expire_one(Index request);
  void measure(const Request& request);
  bool can_be_judged(const Request& request) const;  // what was predicted for it
  void forget_old();

  // grants.cpp
  bool within_limit(const Line& line) const;
  void index(Index line);
  void unindex(Index line);
  void charge(Index team, double capacity_seconds);
  void charge_lease(Request& request, Time until);
  void rebase();
  enum class Fit { grant, pass, reserved };
  Fit try_head(Index line, Index worker);
  Index next_for(Index worker);
  void grant(Index request, Index worker);
  void offer_again(Index worker);
  void place_again(Index line);
  void serve();

  // placement.cpp
  void place(Index line);
  const std::vector<Strategy>& chain_of(const Line& line, const Request& request) const;
  Index choose(const Line& line, const Request& request) const;
  bool goes_first(Index line, Index worker) const;

  // queries.cpp
  WaitingCapacity candidates_of(const Line& line) const;
  double grants_until(const Line& line, std::int64_t position) const;

  // restore.cpp
  RequestRow row_of(const Request& request) const;
  TeamRow row_of(const Team& team) const;
  TeamPoolRow row_of(const TeamPool& pool) const;
  Result<void> load_request(const RequestRow& row);

  Settings settings_;
  std::uint64_t seed_;
  Time now_{};
  Time usage_base_{};  // Team::usage is what counts at this time
  Time teams_written_{};

  std::vector<Team> teams_;
  std::map<TeamId, Index> team_index_;
  std::vector<TeamPool> pools_;
  std::map<WorkerPoolId, Index> pool_index_;
  static constexpr std::size_t groups_kept = 1024;
  std::vector<Group> groups_;
  std::vector<Index> free_groups_;
  std::size_t groups_before_sweep_ = groups_kept;
  std::map<std::pair<ScopeKind, Index>, std::vector<Index>> groups_of_;
  std::vector<Worker> workers_;
  std::vector<Index> free_workers_;
  boost::unordered_flat_map<std::int64_t, Index> worker_index_;
  std::map<std::string, Index> place_index_;
  std::map<std::string, std::vector<Index>> by_cache_key_;
  std::vector<Line> lines_;
  std::vector<Index> free_lines_;
  std::map<std::tuple<Index, Index, std::vector<std::string>>, Index> line_index_;
  std::vector<Request> requests_;
  std::vector<Index> free_requests_;
  boost::unordered_flat_map<std::int64_t, Index> request_index_;
  boost::unordered_flat_map<std::string, Index> by_token_;  // team and token
  std::multimap<std::int64_t, Index> loaded_leases_;        // by the worker, until it is offered
  bool loading_ = false;                                    // nothing is granted until all is known
  std::int64_t waiting_ = 0;
  std::map<std::string, std::int64_t> open_of_client_;   // requests that wait or are held
  std::map<std::string, std::int64_t> names_of_client_;  // that it has made up
  bool demand_changed_ = false;

  std::vector<Timer> timers_;
  std::vector<std::pair<Time, std::int64_t>> ended_;  // in their order
  std::size_t ended_forgotten_ = 0;                   // of them, from the front
  std::vector<Index> to_offer_, to_place_;
  std::set<Index> reshaped_;  // groups whose workers have changed
  std::vector<Index> dirty_requests_, dirty_teams_;
  std::vector<std::int64_t> settled_, load_changes_;
  std::vector<LeaseTime> lease_times_;
  verdict::Calibration calibration_;
  const Listening* listening_ = nullptr;
  store::Batch changes_;
};

}  // namespace muster::queue
