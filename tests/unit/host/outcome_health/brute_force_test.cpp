// The incremental state equals what a plain recomputation from the full list of outcomes gives.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "host/outcome_health/evidence.hpp"
#include "host/outcome_health/pool_outcomes.hpp"

namespace muster::outcome_health {
namespace {

using namespace std::chrono_literals;

struct Listed {
  TaskOutcome outcome;
  Time at;
  bool failed = false;
  double weight = 1;
};

double age(Time now, Time then, std::chrono::milliseconds half_life) {
  return std::exp2(-std::chrono::duration<double>(now - then) /
                   std::chrono::duration<double>(half_life));
}

template <class Belongs>
Counts sum(const std::vector<Listed>& list, Time now, std::chrono::milliseconds half_life,
           const Belongs& belongs, bool weighed = true) {
  Counts counts;
  for (const Listed& one : list) {
    if (!belongs(one.outcome)) continue;
    const double part = age(now, one.at, half_life) * (weighed ? one.weight : 1);
    counts.total += part;
    counts.failed += one.failed ? part : 0;
  }
  return counts;
}

// As with paper and pencil: everything is counted again for each outcome.
struct Paper {
  Settings settings;
  std::vector<Listed> list;
  std::set<std::string> workers;
  std::map<std::string, double> scores;  // of launch configurations
  std::map<std::string, std::string> last_failed;

  void add(const TaskOutcome& outcome, Time now) {
    const auto all = [](const TaskOutcome&) { return true; };
    const std::string worker = outcome.worker_id.str(), lc = outcome.launch_config_id.str();
    workers.insert(worker);
    const auto of_worker = [&](const TaskOutcome& one) { return one.worker_id.str() == worker; };
    const double own = sum(list, now, slow_half_life, of_worker, false).total;
    const double rest = sum(list, now, slow_half_life, all, false).total - own;
    const double each = workers.size() < 2 ? own : rest / static_cast<double>(workers.size() - 1);
    const double weight =
        workers.size() < 2 ? 1 : std::min(1.0, std::max(1.0, each) / std::max(1.0, own));
    const auto others = [&](const TaskOutcome& one) { return one.launch_config_id.str() != lc; };
    const Counts slow = sum(list, now, slow_half_life, others);
    const bool failed = outcome.resolution == Resolution::failed;
    const bool again = failed && last_failed[lc] == worker;  // one worker's failures are its own
    if (slow.total >= fewest_others && !again) {
      double& score = scores[lc];
      if (failed) last_failed[lc] = worker;
      score += score_of(failed, baseline(slow, sum(list, now, fast_half_life, others)), settings);
      if (score <= healthy_at(settings)) {
        score = 0;
        last_failed[lc].clear();
      }
    }
    list.push_back({outcome, now, failed, weight});
  }
};

TEST(BruteForce, counts_and_scores_equal_a_recount_of_the_whole_list) {
  std::mt19937_64 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  PoolOutcomes pool;
  Paper paper;
  Time now{1h * 24 * 365 * 50};
  for (int i = 0; i < 1500; ++i) {
    now += std::chrono::seconds(below(240));
    const int worker = below(4) == 0 ? 0 : below(12);  // one takes more than the others
    const TaskOutcome outcome{
        .worker_pool_id = WorkerPoolId("p/w"),
        .worker_group = WorkerGroup("g"),
        .worker_id = WorkerId("w" + std::to_string(worker)),
        .launch_config_id = LaunchConfigId("lc" + std::to_string(worker % 3)),
        .resolution = below(100) < 15 ? Resolution::failed : Resolution::completed,
        .resolved = now};
    ASSERT_TRUE(pool.add(outcome, now, paper.settings).empty()) << "nobody is faulty here";
    paper.add(outcome, now);
    const auto is = [&](const TaskOutcome& one) { return one.worker_id == outcome.worker_id; };
    const auto all = [](const TaskOutcome&) { return true; };
    const auto near = [](const Counts& a, const Counts& b) {
      EXPECT_NEAR(a.failed, b.failed, 1e-9);
      EXPECT_NEAR(a.total, b.total, 1e-9);
    };
    near(pool.slow().at(now), sum(paper.list, now, slow_half_life, all));
    near(pool.fast().at(now), sum(paper.list, now, fast_half_life, all));
    const Subject* subject = pool.find(worker_key(outcome.worker_group, outcome.worker_id));
    near(subject->slow.at(now), sum(paper.list, now, slow_half_life, is));
    near(subject->all.at(now), sum(paper.list, now, slow_half_life, is, false));
    const std::string lc = outcome.launch_config_id.str();
    EXPECT_NEAR(pool.find({SubjectKind::launch_config, lc})->score, paper.scores[lc], 1e-6);
    if (HasFailure()) FAIL() << "at outcome " << i;
  }
}

}  // namespace
}  // namespace muster::outcome_health
