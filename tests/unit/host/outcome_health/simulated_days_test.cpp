// Detection delays and false alarms, measured over simulated days with fixed seeds and compared
// with the error rates that are stated. With MUSTER_THOROUGH in the environment: twenty times as
// many.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>
#include <queue>
#include <random>

#include <gtest/gtest.h>

#include "host/outcome_health/evidence.hpp"
#include "host/outcome_health/pool_outcomes.hpp"

namespace muster::outcome_health {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr Time start{std::chrono::hours(24 * 365 * 50)};

int scale() {
  return std::getenv("MUSTER_THOROUGH") ? 20 : 1;
}

// Pushes bring tasks; workers take them one by one.
struct Days {
  int workers = 20;
  int days = 1;
  double flaky = 0.05;     // any task fails by chance
  double bad_push = 0;     // all tasks of the push fail, quickly
  int faulty_worker = -1;  // fails this share of what it would complete, from noon of the first day
  double faulty_image = 0;  // likewise, a quarter of the workers
  double fault = 1;
  std::uint64_t seed = 1;

  int quarantined_workers = 0, quarantined_others = 0;
  int false_alarms = 0;
  int everywhere = 0;
  int failures_until_found = -1;  // of the faulty subject
  milliseconds found_after{};
  std::int64_t outcomes = 0;

  bool of_image(int worker) const { return faulty_image > 0 && worker % 4 == 0; }

  void run() {
    std::mt19937_64 random(seed);
    const auto chance = [&](double p) {
      return static_cast<double>(random() >> 11) * 0x1.0p-53 < p;
    };
    struct Worker {
      bool busy = false;
      bool task_is_bad = false;
      Time began{};
      Time held_until{};
    };
    std::vector<Worker> all(static_cast<std::size_t>(workers));
    using Ends = std::pair<Time, int>;  // the worker; -1: a push comes
    std::priority_queue<Ends, std::vector<Ends>, std::greater<>> agenda;
    std::deque<bool> tasks;  // whether each is bad
    PoolOutcomes pool;
    const Settings settings;
    const Time end = start + std::chrono::hours(24 * days), fault_begins = start + 12h;
    int failures = 0;
    agenda.emplace(start, -1);
    while (!agenda.empty() && agenda.top().first < end) {
      const auto [now, who] = agenda.top();
      agenda.pop();
      if (who < 0) {
        const bool bad = chance(bad_push);
        tasks.insert(tasks.end(), 40, bad);
        agenda.emplace(now + milliseconds(random() % 3'600'000 + 900'000), -1);
      } else if (Worker& worker = all[static_cast<std::size_t>(who)]; worker.busy) {
        worker.busy = false;
        const bool is_faulty = now >= fault_begins && (who == faulty_worker || of_image(who));
        const double p = is_faulty ? (who == faulty_worker ? fault : faulty_image) : 0;
        const bool failed = worker.task_is_bad || chance(flaky) || chance(p);
        failures += failed && is_faulty ? 1 : 0;
        ++outcomes;
        const TaskOutcome outcome{.worker_pool_id = WorkerPoolId("p/w"),
                                  .worker_group = WorkerGroup("g"),
                                  .worker_id = WorkerId(std::to_string(who)),
                                  .launch_config_id = LaunchConfigId(who % 2 ? "lc-1" : "lc-2"),
                                  .image = of_image(who) ? "img-bad" : "img",
                                  .resolution = failed ? Resolution::failed : Resolution::completed,
                                  .started = worker.began,
                                  .resolved = now};
        for (const Finding& finding : pool.add(outcome, now, settings))
          take(finding, now, failures, fault_begins, [&](int held, Time until) {
            all[static_cast<std::size_t>(held)].held_until = until;
            agenda.emplace(until, held);
          });
        if ((faulty_worker >= 0 || faulty_image > 0) && failures_until_found >= 0) return;
      }
      // From a turning first place, so that short pushes do not always meet the same workers.
      const int first = static_cast<int>(random() % static_cast<unsigned>(workers));
      for (int i = 0; i < workers && !tasks.empty(); ++i) {
        const int at = (first + i) % workers;
        Worker& worker = all[static_cast<std::size_t>(at)];
        if (worker.busy || worker.held_until > now) continue;
        worker.busy = true;
        worker.began = now;
        worker.task_is_bad = tasks.front();
        tasks.pop_front();
        const bool quick = worker.task_is_bad || (at == faulty_worker && now >= fault_begins);
        agenda.emplace(
            now + milliseconds(quick ? 30'000 + random() % 60'000 : 300'000 + random() % 1'800'000),
            at);
      }
    }
  }

  template <class Hold>
  void take(const Finding& finding, Time now, int failures, Time fault_begins, const Hold& hold) {
    if (finding.kind == FindingKind::everywhere_began) ++everywhere;
    if (finding.kind != FindingKind::quarantined) return;
    const bool is_worker = finding.subject.kind == SubjectKind::worker;
    const int who = is_worker ? std::stoi(finding.subject.name.substr(2)) : -1;
    (is_worker ? quarantined_workers : quarantined_others) += 1;
    const bool right =
        now >= fault_begins && (is_worker ? who == faulty_worker || of_image(who)
                                          : finding.subject.name == "img-bad" && faulty_image > 0);
    false_alarms += right ? 0 : 1;
    const bool is_sought = faulty_image > 0 ? !is_worker : is_worker;
    if (right && is_sought && failures_until_found < 0) {
      failures_until_found = failures;
      found_after = std::chrono::duration_cast<milliseconds>(now - fault_begins);
    }
    if (is_worker) hold(who, finding.until);
  }
};

template <class T>
T quantile(std::vector<T> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct Delays {
  std::vector<int> failures;
  std::vector<double> minutes;
  int missed = 0, false_alarms = 0;
};

Delays measure(Days pattern, int runs) {
  Delays delays;
  for (int run = 0; run < runs; ++run) {
    Days days = pattern;
    days.seed = static_cast<std::uint64_t>(run) + 1;
    if (days.faulty_worker >= 0) days.faulty_worker = run % days.workers;
    days.run();
    delays.false_alarms += days.false_alarms;
    if (days.failures_until_found < 0) {
      ++delays.missed;
      continue;
    }
    delays.failures.push_back(days.failures_until_found);
    delays.minutes.push_back(
        std::chrono::duration<double, std::ratio<60>>(days.found_after).count());
  }
  return delays;
}

void tell(const char* what, const Delays& delays) {
  std::cout << what << ": found after p50 " << quantile(delays.failures, 0.5) << ", p95 "
            << quantile(delays.failures, 0.95) << " failures; p50 " << quantile(delays.minutes, 0.5)
            << ", p95 " << quantile(delays.minutes, 0.95) << " minutes; missed in a day and a half "
            << delays.missed << " of " << delays.missed + static_cast<int>(delays.failures.size())
            << "; false alarms " << delays.false_alarms << "\n";
}

// Rounds of tests in these days: a test of a healthy subject ends after some outcomes.
double stated_false_alarms(const Days& days) {
  const Settings settings;
  const double p = std::max(days.flaky, least_baseline);
  const double drift = p * score_of(true, p, settings) + (1 - p) * score_of(false, p, settings);
  const double tasks_per_test = healthy_at(settings) / drift;
  const double tasks_per_worker = static_cast<double>(days.outcomes) / days.workers;
  return tasks_per_worker / tasks_per_test * settings.false_alarm;
}

TEST(SimulatedDays, healthy_workers_are_accused_no_more_often_than_stated) {
  for (const double flaky : {0.0, 0.05, 0.2}) {
    Days days{.days = 50 * scale(), .flaky = flaky};
    days.run();
    const double stated = stated_false_alarms(days);
    std::cout << "flaky " << percent(flaky) << ", " << days.days << " days, " << days.outcomes
              << " outcomes: " << days.false_alarms << " false alarms, at most " << stated
              << " are expected; everywhere " << days.everywhere << " times\n";
    EXPECT_LE(days.false_alarms, stated + 3 * std::sqrt(stated));
    EXPECT_LE(days.everywhere, days.days / 500);
  }
}

// The stated rate is of independent tasks. Those of a bad push are not: they may meet few workers.
// What is measured is about one false alarm in twenty-five bad pushes.
TEST(SimulatedDays, bad_pushes_are_told_and_quarantine_few) {
  Days days{.days = 50 * scale(), .bad_push = 0.1};
  days.run();
  std::cout << "one of ten pushes is bad, " << days.days << " days, " << days.outcomes
            << " outcomes: " << days.false_alarms << " false alarms; told as everywhere "
            << days.everywhere << " times\n";
  EXPECT_LE(days.false_alarms, days.days / 5);
  EXPECT_GT(days.everywhere, days.days / 2);
}

TEST(SimulatedDays, a_black_hole_is_found_within_a_few_failures) {
  const Delays delays = measure({.days = 2, .faulty_worker = 0}, 40 * scale());
  tell("black hole", delays);
  EXPECT_EQ(delays.missed, 0);
  EXPECT_LE(quantile(delays.failures, 0.95), 12);
}

TEST(SimulatedDays, a_worker_with_the_minimal_effect_is_missed_no_more_often_than_stated) {
  const Delays delays = measure({.days = 2, .faulty_worker = 0, .fault = 0.5}, 40 * scale());
  tell("worker that fails half", delays);
  EXPECT_LE(delays.missed, 40 * scale() * Settings{}.missed);
}

TEST(SimulatedDays, a_bad_image_is_found) {
  const Delays delays = measure({.days = 2, .faulty_image = 0.8}, 40 * scale());
  tell("image that fails 80 %", delays);
  EXPECT_EQ(delays.missed, 0);
  EXPECT_LE(quantile(delays.failures, 0.95), 20);
}

}  // namespace
}  // namespace muster::outcome_health
