// Random operations, held after each of them against what is promised, by a model that is slow and
// simple: it looks at every request and every worker.
#include <gtest/gtest.h>

#include "host/simulation/random.hpp"
#include "host/store/memory_store.hpp"
#include "tests/unit/host/queue/scene.hpp"

namespace muster::queue::testing {
namespace {

struct Known {
  Offered worker;
  bool shrunk = false;  // it may have more in use than it has
};

struct Asked {
  Ask ask;
  bool alive = true;  // its client
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {
    for (const char* pool : {"p0", "p1", "p2"}) teams_of_[pool];
    for (const char* pool : {"p0", "p1"}) {
      scene_->dedicate(pool, {"t0"});
      teams_of_[pool] = {"t0"};
      dedicated_.insert(pool);
    }
    limits_["t1"] = 6;
    EXPECT_TRUE(scene_->queue.set_team(TeamId("t1"), {.weight = 2, .max_held = 6}, scene_->now));
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
    ASSERT_EQ(scene_->queue.check(), "");
    std::map<std::string, std::int64_t> held;
    for (const auto& [number, worker] : workers_) {
      const Worker* found = scene_->queue.find_worker(number);
      ASSERT_NE(found, nullptr);
      ASSERT_GE(found->used.active_task, 0);
      ASSERT_GE(found->used.amount_of("memory"), 0);
      if (worker.shrunk) continue;
      ASSERT_LE(found->used.active_task, worker.worker.has.active_task);
      ASSERT_LE(found->used.amount_of("memory"), worker.worker.has.amount_of("memory"));
    }
    std::map<std::tuple<std::string, std::string, std::vector<std::string>>, const Request*> heads;
    for (const auto& [number, asked] : asked_) {
      const Request* request = scene_->queue.find(number);
      if (!request || request->state == RequestState::ended) {
        ASSERT_TRUE(!asked.alive || may_end_.contains(number))
            << "request " << number << " is lost";
        continue;
      }
      const verdict::Verdict verdict =
          verdict::judge(scene_->queue.situation_of(*request), scene_->now);
      ASSERT_FALSE(verdict.text.empty());
      ASSERT_EQ(verdict.kind == verdict::Kind::placed, request->state == RequestState::held);
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

 private:
  static constexpr int teams = 4;

  // No worker that the head of a line may use has room for it, unless it is kept for another.
  void check_not_idle(const Request& head, std::map<std::string, std::int64_t>& held) {
    const Ask& ask = asked_.at(head.number).ask;
    const auto limit = limits_.find(ask.team.str());
    if (limit != limits_.end() && held[ask.team.str()] + ask.needs.active_task > limit->second)
      return;
    for (const auto& [number, known] : workers_) {
      if (!eligible(ask, known.worker) || !known.worker.takes_work) continue;
      const Worker* worker = scene_->queue.find_worker(number);
      if (worker->reserved_for != nowhere && worker->reserved_for != head.line) continue;
      if (worker->active() + ask.needs.active_task > worker->has.active_task) continue;
      ASSERT_FALSE(worker->has.has_room(worker->used, ask.needs))
          << "request " << head.number << " waits and worker " << number << " has room";
    }
  }

  // One that is too large for all keeps nobody else waiting.
  bool could_be_served(const Ask& ask) const {
    return std::ranges::any_of(workers_, [&](const auto& known) {
      const Offered& worker = known.second.worker;
      return worker.takes_work && eligible(ask, worker) && worker.has.has_room({0, {}}, ask.needs);
    });
  }

  bool eligible(const Ask& ask, const Offered& worker) const {
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
    Ask ask{.team = TeamId(some_team())};
    if (random_.happens(0.3)) ask.pool = WorkerPoolId("p" + std::to_string(random_.between(0, 2)));
    if (random_.happens(0.3)) ask.tags = {"gpu"};
    ask.needs.active_task = random_.happens(0.2) ? random_.between(1, 4) : 1;
    if (random_.happens(0.3)) ask.needs.others = {{"memory", random_.between(1, 8)}};
    ask.priority = random_.between(0, 2);
    ask.cache_key = "k" + std::to_string(random_.between(0, 5));
    ask.strategies = {static_cast<Strategy>(random_.between(0, 4)),
                      static_cast<Strategy>(random_.between(0, 4))};
    ask.heartbeat = 1min;
    const auto number = scene_->ask(ask);
    ASSERT_TRUE(number) << number.error().message;
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
    const bool there = scene_->queue.find(number) != nullptr;
    ASSERT_EQ(scene_->queue.release(number, scene_->now).has_value(), there);
    asked_.erase(number);
  }

  void kill_client() {
    if (const std::int64_t number = some_request(); number != 0) asked_[number].alive = false;
  }

  Offered some_worker(std::int64_t number) {
    Offered worker{.number = number};
    const std::int64_t home = random_.between(0, 5);
    if (home <= 3) worker.pool = WorkerPoolId(home == 3 ? "p2" : "p" + std::to_string(home));
    if (home == 4) worker.team = TeamId("t3");
    if (random_.happens(0.3)) worker.tags = {"gpu"};
    worker.place = random_.happens(0.5) ? "east" : "west";
    worker.has = {random_.between(1, 6), {{"memory", random_.between(1, 12)}}};
    worker.takes_work = random_.happens(0.85);
    return worker;
  }

  void add_worker() {
    if (workers_.size() >= 12) return remove_worker();
    const Offered worker = some_worker(scene_->next++);
    scene_->worker(worker);
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
    Offered worker = some_worker(number);
    worker.place = workers_[number].worker.place;
    scene_->worker(worker);
    workers_[number] = {worker, true};
  }

  void work_elsewhere() {
    const std::int64_t number = any_worker();
    if (number == 0) return;
    Offered& worker = workers_[number].worker;
    worker.working = random_.between(0, worker.has.active_task);
    scene_->queue.set_working(number, worker.working, scene_->now);
  }

  void remove_worker() {
    const std::int64_t number = any_worker();
    if (number == 0) return;
    for (const Index lease : scene_->queue.find_worker(number)->leases)
      if (scene_->queue.requests()[lease].confirmed)
        may_end_.insert(scene_->queue.requests()[lease].number);
    scene_->queue.withdraw(number, "the test wants it so", scene_->now);
    workers_.erase(number);
  }

  void attach() {
    const std::string pool = "p" + std::to_string(random_.between(0, 1)), team = some_team();
    if (!teams_of_[pool].contains(team)) {
      ASSERT_TRUE(scene_->queue.attach(WorkerPoolId(pool), {TeamId(team)}, false, scene_->now));
      teams_of_[pool].insert(team);
    } else {
      ASSERT_TRUE(scene_->queue.detach(WorkerPoolId(pool), {TeamId(team)}, scene_->now));
      teams_of_[pool].erase(team);
    }
  }

  // Clients that live are heard of; the others' requests end within their time.
  void pass_time() {
    scene_->now += random_.between(1s, 25s);
    for (const auto& [number, asked] : asked_)
      if (asked.alive) (void)scene_->queue.heartbeat(number, scene_->now);
    scene_->queue.expire(scene_->now);
    for (const auto& [number, asked] : asked_) {
      const Request* request = scene_->queue.find(number);
      if (!request || request->state == RequestState::ended) continue;
      ASSERT_LT(scene_->now, request->heard + request->heartbeat) << "a dead client's lease";
    }
  }

  // Another queue goes on from the store, with the same workers.
  void restart() {
    std::map<std::int64_t, std::int64_t> held_before;
    for (const auto& [number, asked] : asked_)
      if (scene_->holds(number) > 0) held_before[number] = scene_->holds(number);
    ASSERT_TRUE(store_.commit(scene_->queue.take_changes(scene_->now)));
    auto again = std::make_unique<Scene>();
    again->now = scene_->now;
    again->next = scene_->next;
    const auto loaded = again->queue.load(store_, again->now);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (const auto& [number, known] : workers_) again->queue.offer(known.worker, again->now);
    again->queue.settle_after_load(again->now);
    scene_ = std::move(again);
    for (const auto& [number, worker] : held_before) ASSERT_EQ(scene_->holds(number), worker);
  }

  simulation::Random random_;
  store::MemoryStore store_;
  std::unique_ptr<Scene> scene_ = std::make_unique<Scene>();
  std::map<std::int64_t, Known> workers_;
  std::map<std::int64_t, Asked> asked_;
  std::set<std::int64_t> may_end_;
  std::map<std::string, std::set<std::string>> teams_of_;
  std::set<std::string> dedicated_;
  std::map<std::string, std::int64_t> limits_;
};

class Property : public ::testing::TestWithParam<int> {};

TEST_P(Property, all_promises_hold_after_every_step) {
  Model model(static_cast<std::uint64_t>(GetParam()));
  for (int step = 0; step < 1500 && !HasFatalFailure(); ++step) {
    model.step();
    if (HasFatalFailure()) break;
    model.check();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, ::testing::Range(1, 9));

}  // namespace
}  // namespace muster::queue::testing
