// The rows of a pool's outcomes.
#include <cmath>

#include <muster/codec.hpp>

#include "host/outcome_health/pool_outcomes.hpp"

namespace muster::outcome_health {
namespace {

json::value to_value(const DecayedCounts& counts) {
  return json::array{counts.counts().failed, counts.counts().total,
                     counts.changed().time_since_epoch().count()};
}

json::value to_value(Time time) {
  return json::value(std::int64_t{time.time_since_epoch().count()});
}

// A number that is there, finite and not negative; else 0.
double number_in(const json::value& value) {
  const double number = value.is_number() ? value.to_number<double>() : 0;
  return std::isfinite(number) && number > 0 ? number : 0;
}

const json::value& member(const json::object& object, std::string_view name) {
  static const json::value none;
  const json::value* found = object.if_contains(name);
  return found ? *found : none;
}

Time time_in(const json::value& value) {
  return Time(std::chrono::milliseconds(value.is_int64() ? value.get_int64() : 0));
}

std::int64_t count_in(const json::value& value) {
  return value.is_int64() ? std::max<std::int64_t>(0, value.get_int64()) : 0;
}

void restore(DecayedCounts& counts, const json::value& value) {
  const json::array* parts = value.if_array();
  if (!parts || parts->size() != 3) return;
  const double total = number_in((*parts)[1]);
  counts.restore({std::min(number_in((*parts)[0]), total), total}, time_in((*parts)[2]));
}

}  // namespace

json::object PoolOutcomes::to_json() const {
  return {{"slow", to_value(slow_)},
          {"fast", to_value(fast_)},
          {"all", to_value(all_)},
          {"everywhereSince", to_value(everywhere_since_)},
          {"everywhereBefore", everywhere_before_}};
}

json::object PoolOutcomes::to_json(const Subject& subject) {
  return {{"slow", to_value(subject.slow)},   {"fast", to_value(subject.fast)},
          {"all", to_value(subject.all)},     {"score", subject.score},
          {"failed", subject.failed},         {"completed", subject.completed},
          {"since", to_value(subject.since)}, {"until", to_value(subject.quarantined_until)},
          {"strikes", subject.strikes}};
}

void PoolOutcomes::restore(const json::object& pool) {
  outcome_health::restore(slow_, member(pool, "slow"));
  outcome_health::restore(fast_, member(pool, "fast"));
  outcome_health::restore(all_, member(pool, "all"));
  everywhere_since_ = time_in(member(pool, "everywhereSince"));
  everywhere_before_ = std::min(1.0, number_in(member(pool, "everywhereBefore")));
}

void PoolOutcomes::restore(const SubjectKey& key, const json::object& from) {
  const bool added = !subjects_.contains(key);
  workers_ += added && key.kind == SubjectKind::worker ? 1 : 0;
  Subject& subject = subjects_[key];
  outcome_health::restore(subject.slow, member(from, "slow"));
  outcome_health::restore(subject.fast, member(from, "fast"));
  outcome_health::restore(subject.all, member(from, "all"));
  const json::value& score = member(from, "score");
  const double read = score.is_number() ? score.to_number<double>() : 0;
  subject.score = std::isfinite(read) ? read : 0;
  subject.failed = count_in(member(from, "failed"));
  subject.completed = count_in(member(from, "completed"));
  subject.since = time_in(member(from, "since"));
  subject.first_failure = time_in(member(from, "firstFailure"));
  if (const json::string* worker = member(from, "lastFailed").if_string())
    subject.last_failed = std::string(worker->data(), worker->size());
  subject.quarantined_until = time_in(member(from, "until"));
  subject.strikes = count_in(member(from, "strikes"));
}

}  // namespace muster::outcome_health
