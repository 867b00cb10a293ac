// The task outcomes of one pool: which of its workers, images and launch configurations fail what
// the others pass, and whether everything fails at once. Bounded, without I/O; the clock is an
// argument, and the same outcomes give the same findings.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "host/outcome_health/decayed_counts.hpp"
#include "host/outcome_health/settings.hpp"
#include "host/outcome_health/task_outcome.hpp"

namespace muster::outcome_health {

enum class SubjectKind { worker, image, launch_config };
constexpr auto enum_names(SubjectKind) {
  return std::array<std::string_view, 3>{"worker", "image", "launchConfig"};
}

struct SubjectKey {
  SubjectKind kind = SubjectKind::worker;
  std::string name;  // of a worker: group/id
  friend auto operator<=>(const SubjectKey&, const SubjectKey&) = default;
};

SubjectKey worker_key(const WorkerGroup& group, const WorkerId& id);

struct Subject {
  // Its part of the pool's counts, so that it can be compared with the others alone.
  DecayedCounts slow{slow_half_life}, fast{fast_half_life};
  DecayedCounts all{slow_half_life};  // of a worker: each outcome counts 1
  double score = 0;                   // of the test that is under way
  std::int64_t failed = 0, completed = 0;
  Time since{};              // when the test began
  Time first_failure{};      // of the test; Time{}: none
  Time quarantined_until{};  // past: on trial, its next task decides. Time{}: neither
  std::int64_t strikes = 0;  // quarantines so far; each doubles the time
  // Of an image or a launch configuration: whose failure counted last. One worker's failures are
  // its own, so the next one that counts is another's.
  std::string last_failed = {};

  bool in_quarantine(Time now) const { return quarantined_until > now; }
  bool on_trial(Time now) const { return quarantined_until != Time{} && !in_quarantine(now); }
};

enum class FindingKind {
  quarantined,
  released,          // its canary task completed
  withheld,          // it would be in quarantine, but too many are, or that is switched off
  everywhere_began,  // most workers fail: no worker's fault
  everywhere_ended
};

struct Finding {
  FindingKind kind;
  SubjectKey subject = {};  // of the first three
  Time until{};             // of the first
  std::string text;         // the evidence in words
};

// What a launch configuration's weight is multiplied by.
struct WeightFactor {
  double value = 1;
  std::string words = {};  // empty: nothing is known against it
};

class PoolOutcomes {
 public:
  std::vector<Finding> add(const TaskOutcome& outcome, Time now, const Settings& settings);

  // An operator's word: all that is known against it is forgotten. False: nothing was.
  bool release(const SubjectKey& key);

  WeightFactor weight_factor(const SubjectKey& key, Time now, const Settings& settings) const;
  // Since when most workers fail; Time{}: they do not.
  Time everywhere_since() const { return everywhere_since_; }
  const Subject* find(const SubjectKey& key) const;
  const std::map<SubjectKey, Subject>& subjects() const { return subjects_; }
  const DecayedCounts& slow() const { return slow_; }
  const DecayedCounts& fast() const { return fast_; }

  // Subjects of which nothing is left to know.
  void forget_stale(Time now);

  // For the store: what changed since the last call. A subject that is no longer there is gone.
  std::set<SubjectKey> take_changed() { return std::exchange(changed_, {}); }
  bool has_changed() const { return !changed_.empty(); }
  json::object to_json() const;  // without its subjects
  static json::object to_json(const Subject& subject);
  // What cannot be read is ignored: evidence is worth less than a start.
  void restore(const json::object& pool);
  void restore(const SubjectKey& key, const json::object& subject);

 private:
  Subject& subject(const SubjectKey& key, Time now);
  // How much an outcome of the worker counts among the others': one that eats tasks counts no more
  // than an average one.
  double weight_of(const Subject& worker, Time now) const;
  Counts slow_others(const Subject& subject, Time now) const;
  double baseline_for(const Subject& subject, Time now) const;
  void judge(const SubjectKey& key, const TaskOutcome& outcome, bool failed, Time now,
             const Settings& settings, std::vector<Finding>& findings);
  bool is_convincing(const SubjectKey& key, double score, double accused) const;
  void judge_canary(const SubjectKey& key, bool failed, Time now, const Settings& settings,
                    std::vector<Finding>& findings);
  void accuse(const SubjectKey& key, Time now, const Settings& settings,
              std::vector<Finding>& findings);
  Finding quarantine(const SubjectKey& key, Time now, const Settings& settings, std::string why);
  std::optional<std::string> withheld_because(SubjectKind kind, Time now,
                                              const Settings& settings) const;
  std::string evidence(const SubjectKey& key, Time now, const Settings& settings) const;
  void watch_everywhere(Time now, const Settings& settings, std::vector<Finding>& findings);
  bool fails_everywhere(double before, Time now, const Settings& settings) const;
  bool one_explains(SubjectKind kind, double raised, Time now) const;
  void make_room(Time now);

  std::map<SubjectKey, Subject> subjects_;
  std::size_t workers_ = 0;  // of subjects_
  DecayedCounts slow_{slow_half_life}, fast_{fast_half_life};
  DecayedCounts all_{slow_half_life};
  Time everywhere_since_{};
  double everywhere_before_ = 0;  // the share that failed before that
  Time everywhere_looked_{};
  Time withheld_told_{};
  // The last tasks that completed, and on what. Not kept over a restart: others come.
  struct Completed {
    Time started;
    std::vector<SubjectKey> on;
  };
  std::deque<Completed> completed_;
  std::set<SubjectKey> changed_;
};

}  // namespace muster::outcome_health
