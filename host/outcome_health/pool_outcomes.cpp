#include "host/outcome_health/pool_outcomes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/outcome_health/evidence.hpp"

namespace muster::outcome_health {
namespace {

using namespace std::chrono_literals;

constexpr auto look_everywhere_every = 30s;
// What fails everywhere does not change what is usual, for so long; and then it is.
constexpr auto unusual_at_most = 2h;
constexpr auto everywhere_at_most = 12h;
constexpr auto withheld_told_every = 1h;
constexpr auto strikes_kept = 24h;
constexpr double stale_below = 0.25;   // of one outcome
constexpr double active_above = 0.25;  // of one outcome of the last minutes
constexpr double fewest_compared = 3;
constexpr std::size_t completed_kept = 64;
constexpr double everywhere_deviations = 4;
constexpr std::int64_t most_doublings = 10;

void begin_test(Subject& subject, Time now) {
  subject.score = 0;
  subject.failed = subject.completed = 0;
  subject.since = now;
  subject.first_failure = {};
  subject.last_failed.clear();
}

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

std::string in_words(const SubjectKey& key) {
  switch (key.kind) {
    case SubjectKind::worker:
      return "worker " + key.name;
    case SubjectKind::image:
      return "image " + key.name;
    case SubjectKind::launch_config:
      break;
  }
  return "launch configuration " + key.name;
}

std::vector<SubjectKey> keys_of(const TaskOutcome& outcome) {
  std::vector<SubjectKey> keys{worker_key(outcome.worker_group, outcome.worker_id)};
  if (!outcome.image.empty()) keys.push_back({SubjectKind::image, outcome.image});
  if (!outcome.launch_config_id.empty())
    keys.push_back({SubjectKind::launch_config, outcome.launch_config_id.str()});
  return keys;
}

}  // namespace

SubjectKey worker_key(const WorkerGroup& group, const WorkerId& id) {
  return {SubjectKind::worker, group.str() + "/" + id.str()};
}

std::vector<Finding> PoolOutcomes::add(const TaskOutcome& outcome, Time now,
                                       const Settings& settings) {
  std::vector<Finding> findings;
  const Counted counts = counted(outcome.resolution, outcome.reason);
  if (!settings.enabled || counts == Counted::not_at_all) return findings;
  const bool failed = counts == Counted::as_failed;
  const std::vector<SubjectKey> keys = keys_of(outcome);
  for (const SubjectKey& key : keys) subject(key, now);
  const double weight = weight_of(subjects_.at(keys.front()), now);
  // What is in quarantine or on trial is no measure for others.
  bool is_measure = true;
  for (const SubjectKey& key : keys) {
    judge(key, outcome, failed, now, settings, findings);
    is_measure = is_measure && subjects_.at(key).quarantined_until == Time{};
  }
  subjects_.at(keys.front()).all.add(failed, 1, now);
  all_.add(failed, 1, now);
  if (is_measure) {
    const bool usual = everywhere_since_ == Time{} || now > everywhere_since_ + unusual_at_most;
    if (usual) slow_.add(failed, weight, now);
    fast_.add(failed, weight, now);
    for (const SubjectKey& key : keys) {
      if (usual) subjects_.at(key).slow.add(failed, weight, now);
      subjects_.at(key).fast.add(failed, weight, now);
    }
  }
  if (is_measure && !failed) {
    completed_.push_back({outcome.started, keys});
    if (completed_.size() > completed_kept) completed_.pop_front();
  }
  changed_.insert(keys.begin(), keys.end());
  if (now >= everywhere_looked_ + look_everywhere_every || now < everywhere_looked_)
    watch_everywhere(now, settings, findings);
  return findings;
}

Subject& PoolOutcomes::subject(const SubjectKey& key, Time now) {
  if (const auto found = subjects_.find(key); found != subjects_.end()) return found->second;
  if (subjects_.size() >= most_subjects) make_room(now);
  workers_ += key.kind == SubjectKind::worker ? 1 : 0;
  Subject& made = subjects_[key];
  made.since = now;
  return made;
}

double PoolOutcomes::weight_of(const Subject& worker, Time now) const {
  if (workers_ < 2) return 1;
  const double own = worker.all.at(now).total;
  const double others = (all_.at(now).total - own) / static_cast<double>(workers_ - 1);
  return std::min(1.0, std::max(1.0, others) / std::max(1.0, own));
}

Counts PoolOutcomes::slow_others(const Subject& subject, Time now) const {
  return slow_.at(now) - subject.slow.at(now);
}

double PoolOutcomes::baseline_for(const Subject& subject, Time now) const {
  return baseline(slow_others(subject, now), fast_.at(now) - subject.fast.at(now));
}

// -------------------------------------------------------------------------------------------------
// The test

void PoolOutcomes::judge(const SubjectKey& key, const TaskOutcome& outcome, bool failed, Time now,
                         const Settings& settings, std::vector<Finding>& findings) {
  Subject& subject = subjects_.at(key);
  if (subject.in_quarantine(now)) return;  // a task that it had before
  if (subject.on_trial(now)) {
    const bool began_before =
        outcome.started != Time{} && outcome.started < subject.quarantined_until;
    if (!began_before) judge_canary(key, failed, now, settings, findings);
    return;
  }
  if (everywhere_since_ != Time{}) return begin_test(subject, now);
  if (slow_others(subject, now).total < fewest_others) return;
  if (failed && key.kind != SubjectKind::worker) {
    std::string worker = worker_key(outcome.worker_group, outcome.worker_id).name;
    if (worker == subject.last_failed) return;
    subject.last_failed = std::move(worker);
  }
  const double expected = baseline_for(subject, now);
  (failed ? subject.failed : subject.completed) += 1;
  if (failed && subject.first_failure == Time{})
    subject.first_failure = outcome.started == Time{} ? now : outcome.started;
  subject.score += score_of(failed, expected, settings);
  if (subject.score <= healthy_at(settings)) return begin_test(subject, now);
  const double accused = accused_at(subjects_.size(), settings);
  if (subject.score < accused) return;
  // When its first tasks failed, less was known of the others: all is judged again by what is now.
  subject.score = std::max(
      0.0, static_cast<double>(subject.failed) * score_of(true, expected, settings) +
               static_cast<double>(subject.completed) * score_of(false, expected, settings));
  if (is_convincing(key, subject.score, accused)) accuse(key, now, settings, findings);
}

bool PoolOutcomes::is_convincing(const SubjectKey& key, double score, double accused) const {
  if (score < accused) return false;
  if (score >= without_witnesses * accused) return true;
  const Time since = subjects_.at(key).first_failure;
  return std::ranges::count_if(completed_, [&](const Completed& task) {
           return task.started >= since && std::ranges::find(task.on, key) == task.on.end();
         }) >= witnesses_needed;
}

// Where everything fails, its failure says nothing.
void PoolOutcomes::judge_canary(const SubjectKey& key, bool failed, Time now,
                                const Settings& settings, std::vector<Finding>& findings) {
  if (failed && everywhere_since_ != Time{}) return;
  if (failed) {
    findings.push_back(
        quarantine(key, now, settings, "the first task after its quarantine failed, too"));
    return;
  }
  Subject& subject = subjects_.at(key);
  subject.quarantined_until = {};
  begin_test(subject, now);
  findings.push_back({.kind = FindingKind::released,
                      .subject = key,
                      .text = "the first task after its quarantine completed"});
}

void PoolOutcomes::accuse(const SubjectKey& key, Time now, const Settings& settings,
                          std::vector<Finding>& findings) {
  watch_everywhere(now, settings, findings);
  if (everywhere_since_ != Time{}) return begin_test(subjects_.at(key), now);
  const std::string why = evidence(key, now, settings);
  if (const auto withheld = withheld_because(key.kind, now, settings)) {
    if (now < withheld_told_ + withheld_told_every && now >= withheld_told_) return;
    withheld_told_ = now;
    findings.push_back(
        {.kind = FindingKind::withheld,
         .subject = key,
         .text = in_words(key) + " stays in service, because " + *withheld + ": " + why});
    return;
  }
  findings.push_back(quarantine(key, now, settings, why));
}

Finding PoolOutcomes::quarantine(const SubjectKey& key, Time now, const Settings& settings,
                                 std::string why) {
  Subject& subject = subjects_.at(key);
  const auto grown =
      settings.first_quarantine * (std::int64_t{1} << std::min(subject.strikes, most_doublings));
  subject.quarantined_until = now + std::min(grown, settings.longest_quarantine);
  ++subject.strikes;
  begin_test(subject, now);
  return {.kind = FindingKind::quarantined,
          .subject = key,
          .until = subject.quarantined_until,
          .text = std::move(why)};
}

std::optional<std::string> PoolOutcomes::withheld_because(SubjectKind kind, Time now,
                                                          const Settings& settings) const {
  if (!settings.quarantine) return "quarantine by outcomes is switched off";
  std::int64_t held = 0, watched = 0;
  for (const auto& [key, subject] : subjects_) {
    if (key.kind != kind) continue;
    held += subject.in_quarantine(now) ? 1 : 0;
    ++watched;
  }
  const auto most = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(settings.largest_share * static_cast<double>(watched)));
  if (held < most) return std::nullopt;
  return std::to_string(held) + " of " + std::to_string(watched) +
         " are in quarantine by outcomes, which is the most";
}

// "failed 6 of 6 tasks since 2026-01-02T03:04:05.000Z, where others fail 6.7 % at most (…)"
std::string PoolOutcomes::evidence(const SubjectKey& key, Time now,
                                   const Settings& settings) const {
  const Subject& subject = subjects_.at(key);
  const Counts others = slow_others(subject, now);
  std::string text = "failed " + std::to_string(subject.failed) + " of " +
                     std::to_string(subject.failed + subject.completed) + " tasks since " +
                     format_time(subject.since) + ", where the others of the pool fail " +
                     percent(baseline_for(subject, now)) + " at most (" + rounded(others.failed) +
                     " of " + rounded(others.total) + " in the last hours)";
  if (key.kind == SubjectKind::worker && workers_ > 1) {
    const double own = subject.all.at(now).total;
    const double each = (all_.at(now).total - own) / static_cast<double>(workers_ - 1);
    if (own > 2 * each)
      text += "; it took " + rounded(own) + " tasks, the others " + rounded(each) + " each";
  }
  return text + "; score " + rounded(subject.score) + " of " +
         rounded(accused_at(subjects_.size(), settings));
}

// -------------------------------------------------------------------------------------------------
// Everything fails

void PoolOutcomes::watch_everywhere(Time now, const Settings& settings,
                                    std::vector<Finding>& findings) {
  everywhere_looked_ = now;
  const Counts fast = fast_.at(now);
  if (everywhere_since_ != Time{}) {
    const double calm = everywhere_before_ + (1 - everywhere_before_) * settings.effect / 2;
    if (fast.rate() >= calm && now - everywhere_since_ < everywhere_at_most) return;
    everywhere_since_ = {};
    findings.push_back({.kind = FindingKind::everywhere_ended,
                        .text = "tasks no longer fail everywhere: " + percent(fast.rate()) +
                                " of the last minutes failed; outcomes tell workers apart again"});
    return;
  }
  // A few outcomes are no past: then 5 % are taken to fail.
  const Counts older = slow_.at(now) - fast;
  const double before = (older.failed + 0.5) / (older.total + 10);
  if (!fails_everywhere(before, now, settings)) return;
  everywhere_since_ = now;
  everywhere_before_ = before;
  findings.push_back({.kind = FindingKind::everywhere_began,
                      .text = "tasks fail everywhere at once: " + percent(fast.rate()) +
                              " of the last minutes, and " + percent(before) +
                              " before; that is no worker's fault, so none is quarantined for it"});
}

bool PoolOutcomes::fails_everywhere(double before, Time now, const Settings& settings) const {
  const double raised = before + (1 - before) * settings.effect / 2;
  const Counts fast = fast_.at(now);
  if (fast.failed < fewest_compared || fast.rate() < raised ||
      lower_end(fast, everywhere_deviations) <= before)
    return false;
  std::int64_t active = 0, failing = 0;
  for (const auto& [key, subject] : subjects_) {
    if (key.kind != SubjectKind::worker) break;  // they come first
    const Counts counts = subject.fast.at(now);
    if (counts.total < active_above) continue;
    ++active;
    failing += counts.rate() >= raised ? 1 : 0;
  }
  return failing >= 3 && 2 * failing >= active && !one_explains(SubjectKind::image, raised, now) &&
         !one_explains(SubjectKind::launch_config, raised, now);
}

// Without it, the failures are no more than usual.
bool PoolOutcomes::one_explains(SubjectKind kind, double raised, Time now) const {
  Counts worst;
  for (auto at = subjects_.lower_bound({kind, ""}); at != subjects_.end() && at->first.kind == kind;
       ++at)
    if (const Counts counts = at->second.fast.at(now); counts.failed > worst.failed) worst = counts;
  const Counts rest = fast_.at(now) - worst;
  return rest.total >= fewest_compared && rest.rate() < raised;
}

// -------------------------------------------------------------------------------------------------
// What others ask

bool PoolOutcomes::release(const SubjectKey& key) {
  const auto found = subjects_.find(key);
  if (found == subjects_.end()) return false;
  Subject& subject = found->second;
  const bool known = subject.quarantined_until != Time{} || subject.score > 0;
  subject.quarantined_until = {};
  subject.strikes = 0;
  begin_test(subject, subject.since);
  changed_.insert(key);
  return known;
}

WeightFactor PoolOutcomes::weight_factor(const SubjectKey& key, Time now,
                                         const Settings& settings) const {
  const Subject* subject = find(key);
  if (!settings.enabled || !subject) return {};
  const std::string whose = key.kind == SubjectKind::image ? "tasks of its image" : "its tasks";
  if (subject->in_quarantine(now))
    return {0, "0 (" + whose + " fail where others' do not, until " +
                   format_time(subject->quarantined_until) + ")"};
  if (subject->on_trial(now))
    return {canary_weight, rounded(canary_weight) + " (the next of " + whose + " is a canary)"};
  if (everywhere_since_ != Time{} || subject->score <= 0) return {};
  const double accused = accused_at(subjects_.size(), settings);
  return {std::clamp(1 - subject->score / accused, 0.0, 1.0),
          "(1 − " + rounded(subject->score) + "/" + rounded(accused) +
              " by outcomes: " + std::to_string(subject->failed) + " of " +
              std::to_string(subject->failed + subject->completed) + " of " + whose + " failed)"};
}

const Subject* PoolOutcomes::find(const SubjectKey& key) const {
  const auto found = subjects_.find(key);
  return found == subjects_.end() ? nullptr : &found->second;
}

// -------------------------------------------------------------------------------------------------
// Bounds

void PoolOutcomes::forget_stale(Time now) {
  std::erase_if(subjects_, [&](const auto& entry) {
    const auto& [key, subject] = entry;
    const bool stale = subject.slow.at(now).total < stale_below &&
                       subject.all.at(now).total < stale_below &&
                       subject.quarantined_until + strikes_kept < now;
    if (!stale) return false;
    workers_ -= key.kind == SubjectKind::worker ? 1 : 0;
    changed_.insert(key);
    return true;
  });
}

// A tenth at once, so that the next ones need not look at all of them again.
void PoolOutcomes::make_room(Time now) {
  forget_stale(now);
  if (subjects_.size() < most_subjects) return;
  std::vector<std::pair<Time, SubjectKey>> oldest;
  for (const auto& [key, subject] : subjects_)
    if (key.kind == SubjectKind::worker && !subject.in_quarantine(now))
      oldest.emplace_back(subject.all.changed(), key);
  const auto count = static_cast<std::ptrdiff_t>(std::min(oldest.size(), most_subjects / 10));
  std::ranges::nth_element(oldest, oldest.begin() + count);
  for (auto at = oldest.begin(); at != oldest.begin() + count; ++at) {
    subjects_.erase(at->second);
    changed_.insert(at->second);
    --workers_;
  }
}

}  // namespace muster::outcome_health
