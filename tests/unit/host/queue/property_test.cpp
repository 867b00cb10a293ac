// Random operations, held after each of them against what is promised, by a model that is slow and
// simple: it looks at every request and every worker.
#include <gtest/gtest.h>

#include "host/queue/lines.hpp"
#include "host/simulation/random.hpp"
#include "host/store/memory_store.hpp"
#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

struct Known {
  WorkerOffer worker;
  Resources used{0, {}};  // at the end of the last step
};

// Since when the line of a request waits, and what others got meanwhile of what it could use.
struct LineWaits {
  Time since{};
  std::int64_t head = 0;
  std::map<Index, int> served_before = {};  // by line, while this one was overdue
};

struct Asked {
  NewRequest ask;
  bool alive = true;  // its client
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {
    queue_ = std::make_unique<Fixture>(settings());
    for (const char* pool : {"p0", "p1", "p2"}) teams_of_[pool];
    for (const char* pool : {"p0", "p1"}) {
      queue_->dedicate(pool, {"t0"});
      teams_of_[pool] = {"t0"};
      dedicated_.insert(pool);
    }
    limits_["t1"] = 6;
    EXPECT_TRUE(queue_->queue.set_team(TeamId("t1"), {.weight = 2, .max_held = 6}, queue_->now));
    EXPECT_TRUE(queue_->queue.set_team(TeamId("t2"), {.weight = 1, .max_pending = 5}, queue_->now));
    write();
  }

  // A host that dies before it has written what a step changed has told nobody of it, and goes on
  // from what was there before.
  void step_and_write() {
    look_who_is_overdue();
    if (random_.happens(0.03)) return step_and_die();
    step();
    check_bound();
    write();
  }

  void step() {
    switch (random_.between(0, 14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return ask();
      case 4:
      case 5:
      case 6:
        return release();
      case 7:
        return add_worker();
      case 8:
        return change_worker();
      case 9:
        return remove_worker();
      case 10:
        return attach();
      case 11:
        return pass_time();
      case 12:
        return kill_client();
      case 13:
        return work_elsewhere();
      default:
        return random_.happens(0.1) ? restart() : pass_time();
    }
  }

  void check() {
    ASSERT_EQ(queue_->queue.check(), "");
    std::map<std::string, std::int64_t> held;
    check_counters(*queue_);
    for (auto& [number, known] : workers_) known.used = queue_->queue.find_worker(number)->used;
    std::map<std::tuple<std::string, std::string, std::vector<std::string>>, const Request*> heads;
    for (const auto& [number, asked] : asked_) {
      const Request* request = queue_->queue.find(number);
      if (!request || request->state == RequestState::ended) {
        ASSERT_TRUE(!asked.alive || may_end_.contains(number))
            << "request " << number << " is lost";
        continue;
      }
      const verdict::Verdict verdict =
          verdict::judge(queue_->queue.situation_of(*request), queue_->now);
      ASSERT_FALSE(verdict.text.empty());
      ASSERT_EQ(verdict.kind == verdict::Kind::placed, request->state == RequestState::held);
      ASSERT_EQ(verdict.kind == verdict::Kind::blocked, verdict.obstacle.has_value());
      if (request->state == RequestState::held) {
        held[asked.ask.team.str()] += request->needs.active_task;
        continue;
      }
      if (!could_be_served(asked.ask)) continue;
      const Request*& head = heads[{asked.ask.team.str(), asked.ask.pool.str(), asked.ask.tags}];
      if (!head ||
          std::pair(-head->priority, head->number) > std::pair(-request->priority, request->number))
        head = request;
    }
    for (const auto& [team, limit] : limits_) ASSERT_LE(held[team], limit);
    for (const auto& [line, head] : heads) check_not_idle(*head, held);
  }

  // Another queue that goes on from what is written knows every request, each where it was.
  void check_restart() {
    const auto again = started_again();
    ASSERT_EQ(again->queue.check(), "");
    check_counters(*again);
    for (const Request& request : again->queue.requests())
      ASSERT_TRUE(request.number == 0 || queue_->queue.find(request.number))
          << "request " << request.number << " was released";
    for (const auto& [number, asked] : asked_) {
      const Request *before = queue_->queue.find(number), *after = again->queue.find(number);
      ASSERT_EQ(before == nullptr, after == nullptr) << "request " << number;
      if (!before) continue;
      ASSERT_EQ(before->state == RequestState::ended, after->state == RequestState::ended);
      // Reservations end with the host: somebody who waited may have got a worker since.
      if (queue_->holds(number) > 0) {
        ASSERT_EQ(queue_->holds(number), again->holds(number)) << "request " << number;
      }
    }
  }

 private:
  static constexpr int teams = 4;

  static Settings settings() {
    Settings settings;
    settings.patience = 40s;
    return settings;
  }

  void check_counters(const Fixture& fixture) const {
    for (const auto& [number, known] : workers_) {
      const Worker* found = fixture.queue.find_worker(number);
      ASSERT_NE(found, nullptr);
      for (const char* name : {"active-task", "memory", "disk"}) {
        const auto amount = [&](const Resources& of) { return of.named()[name]; };
        ASSERT_GE(amount(found->used), 0) << name;
        // One that has become smaller may have more in use than it has, but gets nothing more.
        ASSERT_LE(amount(found->used), std::max(amount(known.worker.has), amount(known.used)))
            << name << " of worker " << number;
      }
    }
  }

  void write() { ASSERT_TRUE(store_.commit(queue_->queue.take_changes(queue_->now))); }

  std::unique_ptr<Fixture> started_again() const {
    auto again = std::make_unique<Fixture>(settings());
    again->now = queue_->now;
    again->next = queue_->next;
    const auto loaded = again->queue.load(store_, again->now);
    EXPECT_TRUE(loaded) << loaded.error().message;
    for (const auto& [number, known] : workers_) again->queue.offer(known.worker, again->now);
    again->queue.settle_after_load(again->now);
    return again;
  }

  // Clients that were not answered ask again, with the same token: it is one request.
  void step_and_die() {
    const auto known = workers_;
    const auto known_teams = teams_of_;
    const auto asked = asked_;
    const auto may_end = may_end_;
    step();
    workers_ = known;
    teams_of_ = known_teams;
    may_end_ = may_end;
    queue_ = started_again();
    write();
    lines_.clear();
    for (auto& [number, request] : std::exchange(asked_, asked))
      if (!asked.contains(number)) ask_with(request.ask);
    for (const auto& [number, request] : asked)
      ASSERT_TRUE(!request.alive || may_end_.contains(number) || queue_->queue.find(number))
          << "request " << number << " is lost";
    write();
  }

  // The bound: while the head of a line is overdue and has no worker reserved, each other line is
  // served once at most by what it could use.
  void look_who_is_overdue() {
    (void)queue_->queue.take_settled();
    const auto& lines = queue_->queue.lines();
    std::erase_if(lines_, [&](const auto& known) {
      const Line& line = lines[known.first];
      return line.team == no_index || !line.indexed;
    });
    for (Index at = 0; at < lines.size(); ++at)
      if (lines[at].indexed)
        lines_.try_emplace(at, LineWaits{queue_->now}).first->second.head = head_of(lines[at]);
  }

  std::int64_t head_of(const Line& line) const {
    return queue_->queue.requests()[line.waiting.begin()->request].number;
  }

  void check_bound() {
    for (const std::int64_t number : queue_->queue.take_settled()) {
      const Request* granted = queue_->queue.find(number);
      if (!granted || granted->state != RequestState::held) continue;
      const std::int64_t worker = queue_->queue.workers()[granted->worker].number;
      for (auto& [at, waits] : lines_) {
        const Line& line = queue_->queue.lines()[at];
        if (at == granted->line || !line.indexed || line.reserved != no_index) continue;
        if (head_of(line) != waits.head || waits.since + settings().patience > queue_->now)
          continue;
        const NewRequest& ask = asked_.at(waits.head).ask;
        const WorkerOffer& offered = workers_.at(worker).worker;
        if (!eligible(ask, offered) || !offered.has.has_room({0, {}}, ask.needs)) continue;
        ASSERT_LE(++waits.served_before[granted->line], 1)
            << "request " << waits.head << " waits for too long, and " << number << " does not";
      }
      if (const auto known = lines_.find(granted->line); known != lines_.end())
        known->second = {queue_->now};
    }
  }

  // No worker that the head of a line may use has room for it, unless it is kept for another.
  void check_not_idle(const Request& head, std::map<std::string, std::int64_t>& held) {
    const NewRequest& ask = asked_.at(head.number).ask;
    const auto limit = limits_.find(ask.team.str());
    if (limit != limits_.end() && held[ask.team.str()] + ask.needs.active_task > limit->second)
      return;
    for (const auto& [number, known] : workers_) {
      if (!eligible(ask, known.worker) || !known.worker.takes_work) continue;
      const Worker* worker = queue_->queue.find_worker(number);
      if (worker->reserved_for != no_index && worker->reserved_for != head.line) continue;
      if (worker->active() + ask.needs.active_task > worker->has.active_task) continue;
      ASSERT_FALSE(worker->has.has_room(worker->used, ask.needs))
          << "request " << head.number << " waits and worker " << number << " has room";
    }
  }

  // One that is too large for all keeps nobody else waiting.
  bool could_be_served(const NewRequest& ask) const {
    return std::ranges::any_of(workers_, [&](const auto& known) {
      const WorkerOffer& worker = known.second.worker;
      return worker.takes_work && eligible(ask, worker) && worker.has.has_room({0, {}}, ask.needs);
    });
  }

  bool eligible(const NewRequest& ask, const WorkerOffer& worker) const {
    if (!ask.pool.empty() && ask.pool != worker.pool) return false;
    if (ask.tags.empty() != worker.tags.empty()) return false;
    for (const std::string& tag : ask.tags)
      if (std::ranges::find(worker.tags, tag) == worker.tags.end()) return false;
    const bool in_pool = dedicated_.contains(worker.pool.str());
    const bool shared = !in_pool && worker.team.empty();
    bool has_pools = false;
    for (const auto& [pool, attached] : teams_of_) has_pools |= attached.contains(ask.team.str());
    if (has_pools)
      return shared || (in_pool && teams_of_.at(worker.pool.str()).contains(ask.team.str()));
    bool has_own = false;
    for (const auto& [number, known] : workers_) has_own |= known.worker.team == ask.team;
    if (has_own) return !in_pool && worker.team == ask.team;
    return shared;
  }

  std::string some_team() { return "t" + std::to_string(random_.between(0, teams - 1)); }

  void ask() {
    NewRequest ask{.team = TeamId(some_team())};
    if (random_.happens(0.3)) ask.pool = WorkerPoolId("p" + std::to_string(random_.between(0, 2)));
    if (random_.happens(0.3)) ask.tags = {"gpu"};
    if (random_.happens(0.1)) ask.tags.emplace_back("linux");
    ask.needs.active_task = random_.happens(0.2) ? random_.between(1, 4) : 1;
    if (random_.happens(0.1)) ask.needs.others.emplace_back("disk", random_.between(1, 3));
    if (random_.happens(0.3)) ask.needs.others.emplace_back("memory", random_.between(1, 8));
    ask.priority = random_.between(0, 2);
    ask.cache_key = "k" + std::to_string(random_.between(0, 5));
    ask.strategies = {static_cast<Strategy>(random_.between(0, 4)),
                      static_cast<Strategy>(random_.between(0, 4))};
    ask.heartbeat = 1min;
    ask.token = "token-" + std::to_string(++tokens_);
    ask_with(ask);
  }

  void ask_with(const NewRequest& ask) {
    const auto team = std::ranges::find(queue_->queue.teams(), ask.team, &Team::id);
    const bool full = team != queue_->queue.teams().end() && team->max_pending > 0 &&
                      team->pending >= team->max_pending;
    const auto number = queue_->ask(ask);
    ASSERT_EQ(number.has_value(), !full) << (number ? "" : number.error().message);
    if (full) return;
    ASSERT_EQ(*queue_->ask(ask), *number) << "the same token, the same request";
    asked_[*number] = {ask};
  }

  std::int64_t some_request() {
    if (asked_.empty()) return 0;
    auto at = asked_.begin();
    std::advance(at, random_.between(0, static_cast<std::int64_t>(asked_.size()) - 1));
    return at->first;
  }

  void release() {
    const std::int64_t number = some_request();
    if (number == 0) return;
    const bool there = queue_->queue.find(number) != nullptr;
    ASSERT_EQ(queue_->queue.release(number, queue_->now).has_value(), there);
    asked_.erase(number);
  }

  void kill_client() {
    if (const std::int64_t number = some_request(); number != 0) asked_[number].alive = false;
  }

  WorkerOffer some_worker(std::int64_t number) {
    WorkerOffer worker{.number = number};
    const std::int64_t home = random_.between(0, 5);
    if (home <= 3) worker.pool = WorkerPoolId(home == 3 ? "p2" : "p" + std::to_string(home));
    if (home == 4) worker.team = TeamId("t3");
    if (random_.happens(0.3)) worker.tags = {"gpu"};
    if (random_.happens(0.1)) worker.tags.emplace_back("linux");
    worker.place = random_.happens(0.5) ? "east" : "west";
    worker.has = {random_.between(1, 6), {{"memory", random_.between(1, 12)}}};
    if (random_.happens(0.4))
      worker.has.others.insert(worker.has.others.begin(), {"disk", random_.between(1, 4)});
    worker.takes_work = random_.happens(0.85);
    return worker;
  }

  void add_worker() {
    if (workers_.size() >= 12) return remove_worker();
    const WorkerOffer worker = some_worker(queue_->next++);
    queue_->worker(worker);
    workers_[worker.number] = {worker};
  }

  std::int64_t any_worker() {
    if (workers_.empty()) return 0;
    auto at = workers_.begin();
    std::advance(at, random_.between(0, static_cast<std::int64_t>(workers_.size()) - 1));
    return at->first;
  }

  void change_worker() {
    const std::int64_t number = any_worker();
    if (number == 0) return;
    WorkerOffer worker = some_worker(number);
    worker.place = workers_[number].worker.place;
    queue_->worker(worker);
    workers_[number].worker = worker;
  }

  void work_elsewhere() {
    const std::int64_t number = any_worker();
    if (number == 0) return;
    WorkerOffer& worker = workers_[number].worker;
    worker.working = random_.between(0, worker.has.active_task);
    queue_->queue.set_working(number, worker.working, queue_->now);
  }

  void remove_worker() {
    const std::int64_t number = any_worker();
    if (number == 0) return;
    for (const Index lease : queue_->queue.find_worker(number)->leases)
      if (queue_->queue.requests()[lease].confirmed)
        may_end_.insert(queue_->queue.requests()[lease].number);
    queue_->queue.withdraw(number, "the test wants it so", queue_->now);
    workers_.erase(number);
  }

  void attach() {
    const std::string pool = "p" + std::to_string(random_.between(0, 1)), team = some_team();
    if (!teams_of_[pool].contains(team)) {
      ASSERT_TRUE(queue_->queue.attach(WorkerPoolId(pool), {TeamId(team)}, false, queue_->now));
      teams_of_[pool].insert(team);
    } else {
      ASSERT_TRUE(queue_->queue.detach(WorkerPoolId(pool), {TeamId(team)}, queue_->now));
      teams_of_[pool].erase(team);
    }
  }

  // Clients that live are heard of; the others' requests end within their time.
  void pass_time() {
    queue_->now += random_.between(1s, 25s);
    for (const auto& [number, asked] : asked_)
      if (asked.alive) (void)queue_->queue.heartbeat(number, queue_->now);
    queue_->queue.expire(queue_->now);
    for (const auto& [number, asked] : asked_) {
      const Request* request = queue_->queue.find(number);
      if (!request || request->state == RequestState::ended) continue;
      ASSERT_LT(queue_->now, request->heard + request->heartbeat) << "a dead client's lease";
    }
  }

  void restart() {
    write();
    queue_ = started_again();
    lines_.clear();  // what counts from here on is in the store, and the test does not know it
  }

  simulation::Random random_;
  store::MemoryStore store_;
  std::unique_ptr<Fixture> queue_;
  std::map<std::int64_t, Known> workers_;
  std::map<std::int64_t, Asked> asked_;
  std::set<std::int64_t> may_end_;
  std::map<std::string, std::set<std::string>> teams_of_;
  std::set<std::string> dedicated_;
  std::map<std::string, std::int64_t> limits_;
  std::map<Index, LineWaits> lines_;
  std::int64_t tokens_ = 0;
};

class Property : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Property, all_promises_hold_after_every_step) {
  Model model(GetParam());
  for (int step = 0; step < 1000; ++step) {
    model.step_and_write();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    model.check();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
}

TEST_P(Property, a_host_that_dies_after_any_write_loses_no_request_and_grants_none_twice) {
  Model model(GetParam() + 1000);
  for (int step = 0; step < 250; ++step) {
    model.step_and_write();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    model.check();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    model.check_restart();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace muster::queue::testing
