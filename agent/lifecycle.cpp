#include "agent/lifecycle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

// A refusal may be about a proof that was a moment too old; the second one is believed.
constexpr int refusals_to_believe = 2;
// Of a worker that runs: the host may have to learn of it from its provider first.
constexpr int refusals_to_believe_anew = 6;
// What is left of the time that a cloud gives, for saying goodbye.
constexpr Milliseconds for_goodbye = 2s;
// A host that wants more is asked nevertheless.
constexpr Milliseconds longest_obeyed = 1h;
// Clocks that differ by less agree: the Date of an answer knows seconds only.
constexpr Milliseconds clock_tolerance = 10s;

Milliseconds times(Milliseconds time, double factor) {
  return Milliseconds(std::llround(static_cast<double>(time.count()) * factor));
}

void keep_earliest(std::optional<SteadyTime>& earliest, const std::optional<SteadyTime>& time) {
  if (time && (!earliest || *time < *earliest)) earliest = time;
}

}  // namespace

std::string_view to_string(Phase phase) {
  constexpr std::array<std::string_view, 5> names{"registering", "running", "stopping", "removing",
                                                  "ended"};
  return names.at(static_cast<std::size_t>(phase));
}

Milliseconds renewal_delay(Milliseconds lasts, const Timings& timings, double random) {
  const Milliseconds margin = std::min(timings.renew_before, lasts / 3);
  const Milliseconds latest = std::max(0ms, lasts - times(margin, 1 + random / 2));
  return timings.renew_every ? std::min(latest, times(*timings.renew_every, 1 - random / 2))
                             : latest;
}

Lifecycle::Lifecycle(Options options, std::function<double()> random)
    : options_(options), random_(std::move(random)) {}

std::vector<Action> Lifecycle::take() {
  return std::exchange(actions_, {});
}

std::optional<SteadyTime> Lifecycle::next() const {
  std::optional<SteadyTime> earliest;
  keep_earliest(earliest, call_at_);
  keep_earliest(earliest, kill_at_);
  if (phase_ == Phase::running) {
    keep_earliest(earliest, lease_end_);
    keep_earliest(earliest, activity_at_);
    if (may_ask()) keep_earliest(earliest, ask_at_);
  }
  if (phase_ == Phase::removing) {
    keep_earliest(earliest, remove_at_);
    keep_earliest(earliest, remove_until_);
  }
  return phase_ == Phase::ended ? std::nullopt : earliest;
}

Milliseconds Lifecycle::jittered(Milliseconds time) {
  return times(time, 0.9 + 0.2 * random_());
}

Milliseconds Lifecycle::backoff(int failures, const CallOutcome& outcome) {
  const Timings& timings = options_.timings;
  const double doubled =
      std::ldexp(static_cast<double>(timings.retry_min.count()), std::min(failures, 30));
  const Milliseconds longest(
      std::llround(std::min(doubled, static_cast<double>(timings.retry_max.count()))));
  const Milliseconds own = times(longest, 0.5 + 0.5 * random_());
  if (!outcome.after) return own;
  return std::max(own, times(std::min(*outcome.after, longest_obeyed), 1 + 0.1 * random_()));
}

// -------------------------------------------------------------------------------------------------
// Registration and renewal

void Lifecycle::begin(SteadyTime now) {
  give_up_at_ = now + options_.timings.registration_timeout;
  do_next(Register{});
}

void Lifecycle::granted(SteadyTime now, Milliseconds lasts, std::optional<std::string> outdated) {
  if (phase_ != Phase::registering && phase_ != Phase::running && !retiring_) return;
  have_previous_ = phase_ != Phase::registering;
  if (phase_ == Phase::registering) phase_ = Phase::running;
  activity_known_ = true;
  outdated_ = std::move(outdated);
  take_lease(now, lasts);
  if (retiring_) kill_at_ = lease_end_;
  do_next(WriteConfiguration{});
}

void Lifecycle::take_lease(SteadyTime now, Milliseconds lasts) {
  failures_ = refusals_ = 0;
  trying_previous_ = registering_anew_ = lease_in_doubt_ = false;
  const Timings& timings = options_.timings;
  const bool lasts_at_all = lasts > 0ms;
  lease_end_ = now + (lasts_at_all ? lasts : timings.request_timeout);
  renew_at_ = now + (lasts_at_all ? renewal_delay(lasts, timings, random_()) : timings.retry_min);
  call_at_ = renew_at_;
}

void Lifecycle::written(SteadyTime now, const std::optional<std::string>& failure) {
  if (phase_ != Phase::running && !retiring_) return;
  if (failure) {
    do_next(WriteLog{true, *failure});
    reported_error(now, {"could not write the worker's configuration", *failure});
    return stop(now, ExitCode::cannot_refresh, "the configuration could not be written",
                options_.timings.stop_grace);
  }
  if (alive_) {
    do_next(RefreshWorker{});
  } else {
    alive_ = true;
    do_next(StartWorker{});
  }
  if (outdated_ && !retiring_) retire(now);
}

// It takes no more work and finishes what it has; that may take longer than these credentials last.
void Lifecycle::retire(SteadyTime now) {
  const auto renew_at = call_at_;
  stop_until_lease_end(now, ExitCode::no_longer_current, *outdated_);
  retiring_ = phase_ == Phase::stopping;
  if (retiring_) call_at_ = renew_at;
}

void Lifecycle::not_granted(SteadyTime now, const CallOutcome& outcome) {
  if (phase_ == Phase::registering) return registration_failed(now, outcome);
  if (phase_ == Phase::running || retiring_) renewal_failed(now, outcome);
}

void Lifecycle::registration_failed(SteadyTime now, const CallOutcome& outcome) {
  do_next(WriteLog{true, "not registered: " + outcome.why});
  if (outcome.kind == CallOutcome::Kind::gone) {
    code_ = ExitCode::no_longer_current;
    return end();
  }
  refusals_ = outcome.kind == CallOutcome::Kind::refused ? refusals_ + 1 : 0;
  if (refusals_ >= refusals_to_believe || now >= give_up_at_) {
    code_ = ExitCode::never_registered;
    return end();
  }
  const SteadyTime next = now + backoff(failures_++, outcome);
  // What the host wants counts more than our patience: after an end somebody would start us again,
  // and we would ask sooner than it wants.
  call_at_ = outcome.after ? next : std::min(next, give_up_at_);
}

void Lifecycle::renewal_requested(SteadyTime now) {
  if (phase_ != Phase::running || !call_at_) return;
  call_at_ = now;
  tick(now);
}

void Lifecycle::credentials_last(SteadyTime now, Milliseconds left) {
  if (phase_ != Phase::running || lease_in_doubt_ || now + left + clock_tolerance >= *lease_end_)
    return;
  lease_in_doubt_ = true;
  do_next(WriteLog{true, "the clock has jumped: the credentials may expire earlier than expected"});
  lease_end_ = std::min(*lease_end_, now + std::max(left, options_.timings.request_timeout));
  renewal_requested(now);
}

void Lifecycle::renewal_failed(SteadyTime now, const CallOutcome& outcome) {
  do_next(WriteLog{true, "not renewed: " + outcome.why});
  switch (outcome.kind) {
    case CallOutcome::Kind::gone:
      return stop_until_lease_end(now, ExitCode::no_longer_current, outcome.why);
    case CallOutcome::Kind::refused:
    case CallOutcome::Kind::unknown:
      // The host may have taken our last renewal without our knowing, or have lost it.
      if (have_previous_ && !trying_previous_) {
        trying_previous_ = true;
        return do_next(Renew{true});
      }
      // A host that lost its database does not know our secrets, and knows us by our proof once its
      // provider has told it of us.
      if (refusals_++ >= refusals_to_believe_anew)
        return stop_until_lease_end(now, ExitCode::cannot_refresh, outcome.why);
      if (!std::exchange(registering_anew_, true)) return do_next(Register{});
      break;
    case CallOutcome::Kind::done:
    case CallOutcome::Kind::try_again:
    case CallOutcome::Kind::wrong_clock:
      break;
  }
  // However long the host wants us to wait: at least one more attempt before the lease is over.
  const auto left = std::chrono::duration_cast<Milliseconds>(*lease_end_ - now);
  const Milliseconds least = std::min(options_.timings.retry_min, std::max(left, 1ms));
  call_at_ = now + std::clamp(backoff(failures_++, outcome), least, std::max(least, left / 2));
}

// -------------------------------------------------------------------------------------------------
// The implementation

void Lifecycle::worker_ended(SteadyTime now, const std::optional<std::string>& failure) {
  alive_ = false;
  kill_at_.reset();
  if (phase_ == Phase::running) {
    code_ = failure ? ExitCode::worker_failed : ExitCode::ok;
    reason_ = failure ? "the worker failed: " + *failure : "the worker has ended";
    do_next(WriteLog{failure.has_value(), reason_});
    if (failure) reported_error(now, {"the worker failed", "The worker failed: " + *failure + "."});
  }
  if (phase_ == Phase::running || phase_ == Phase::stopping) leave(now);
}

void Lifecycle::reported_busy(SteadyTime now, int tasks) {
  busy_ = tasks;
  if (phase_ != Phase::running) return;
  ask_at_.reset();
  if (tasks == 0) ask_at_ = now;
  report_activity(now);
  tick(now);
}

void Lifecycle::reported_error(SteadyTime, ReportError error) {
  if (!lease_end_ || phase_ == Phase::ended || phase_ == Phase::removing) return;
  ++pending_reports_;
  do_next(std::move(error));
}

void Lifecycle::reported_finished(SteadyTime now) {
  if (phase_ == Phase::running)
    stop(now, ExitCode::ok, "the worker has finished", options_.timings.stop_grace);
}

// -------------------------------------------------------------------------------------------------
// Talks with the host

void Lifecycle::report_activity(SteadyTime) {
  if (!activity_known_) return;
  if (activity_under_way_) {
    activity_changed_ = true;
    return;
  }
  activity_under_way_ = true;
  activity_at_.reset();
  do_next(ReportActivity{busy_.value_or(0)});
}

void Lifecycle::activity_answered(SteadyTime now, const CallOutcome& outcome) {
  activity_under_way_ = false;
  if (phase_ != Phase::running) return;
  const bool changed = std::exchange(activity_changed_, false);
  switch (outcome.kind) {
    case CallOutcome::Kind::gone:
      return stop_until_lease_end(now, ExitCode::no_longer_current, outcome.why);
    case CallOutcome::Kind::unknown:  // an older host; asked again after the next renewal
      activity_known_ = false;
      return;
    case CallOutcome::Kind::refused:
      do_next(WriteLog{true, "the host refuses reports of activity: " + outcome.why});
      [[fallthrough]];
    case CallOutcome::Kind::done:
      activity_failures_ = 0;
      if (changed) return report_activity(now);
      if (busy_.value_or(0) > 0) activity_at_ = now + jittered(options_.timings.activity_interval);
      return;
    case CallOutcome::Kind::try_again:
    case CallOutcome::Kind::wrong_clock:
      activity_at_ = now + backoff(activity_failures_++, outcome);
  }
}

void Lifecycle::advised(SteadyTime now, bool terminate, const std::string& reason) {
  asking_ = false;
  if (phase_ != Phase::running || busy_.value_or(1) != 0) return;
  if (terminate)
    return stop(now, ExitCode::ok, "the host wants it to end: " + reason,
                options_.timings.stop_grace);
  ask_at_ = now + jittered(options_.timings.idle_check);
}

void Lifecycle::not_advised(SteadyTime now, const CallOutcome& outcome) {
  asking_ = false;
  if (phase_ != Phase::running) return;
  if (outcome.kind == CallOutcome::Kind::gone)
    return stop_until_lease_end(now, ExitCode::no_longer_current, outcome.why);
  if (busy_.value_or(1) != 0) return;
  ask_at_ = now + std::max(jittered(options_.timings.idle_check), outcome.after.value_or(0ms));
}

void Lifecycle::report_answered(SteadyTime now) {
  if (pending_reports_ > 0) --pending_reports_;
  if (phase_ == Phase::removing && !removing_ && pending_reports_ == 0) remove_or_end(now);
}

void Lifecycle::interrupted(SteadyTime now, Milliseconds in, const std::string& reason,
                            bool only_a_warning) {
  if (phase_ == Phase::registering && !only_a_warning) {
    code_ = ExitCode::interrupted;
    do_next(WriteLog{true, "interrupted before it was registered: " + reason});
    return end();
  }
  if (phase_ != Phase::running && phase_ != Phase::stopping) return;
  ++pending_reports_;
  do_next(ReportInterruption{in, reason});
  if (!only_a_warning)
    stop(now, ExitCode::interrupted, "interrupted: " + reason,
         std::min(options_.timings.stop_grace, std::max(0ms, in - for_goodbye)));
}

// -------------------------------------------------------------------------------------------------
// The end

void Lifecycle::stop_requested(SteadyTime now) {
  const bool again = std::exchange(stop_asked_, true);
  switch (phase_) {
    case Phase::registering:
      do_next(WriteLog{false, "asked to stop before it was registered"});
      return end();
    case Phase::running:
      return stop(now, ExitCode::ok, "asked to stop", options_.timings.stop_grace);
    case Phase::stopping:
      return stop(now, code_, reason_, again ? 0ms : options_.timings.stop_grace);
    case Phase::removing:
      if (again) end();
      return;
    case Phase::ended:
      return;
  }
}

void Lifecycle::stop(SteadyTime now, ExitCode code, std::string reason, Milliseconds grace) {
  call_at_.reset();
  if (phase_ == Phase::stopping) {  // only ever sooner
    retiring_ = false;
    if (kill_at_) kill_at_ = std::min(*kill_at_, now + grace);
    return tick(now);
  }
  phase_ = Phase::stopping;
  code_ = code;
  reason_ = std::move(reason);
  do_next(WriteLog{code != ExitCode::ok, "stopping: " + reason_});
  if (!alive_) return leave(now);
  kill_at_ = now + grace;
  do_next(TerminateWorker{});
  tick(now);
}

// Nothing is wrong with what it works on: it may finish that as long as its credentials are good.
void Lifecycle::stop_until_lease_end(SteadyTime now, ExitCode code, std::string reason) {
  const auto left = std::chrono::duration_cast<Milliseconds>(*lease_end_ - now);
  stop(now, code, std::move(reason), std::max(options_.timings.stop_grace, left));
}

void Lifecycle::leave(SteadyTime now) {
  phase_ = Phase::removing;
  retiring_ = false;
  call_at_.reset();
  remove_until_ = now + options_.timings.remove_timeout / 2;  // for what is still to be told
  if (pending_reports_ == 0) remove_or_end(now);
}

void Lifecycle::remove_or_end(SteadyTime now) {
  const bool outdated = code_ == ExitCode::no_longer_current && !options_.remove_when_outdated;
  if (!lease_end_ || !options_.remove_on_exit || outdated || code_ == ExitCode::lease_over)
    return end();
  removing_ = true;
  remove_until_ = now + options_.timings.remove_timeout;
  do_next(RemoveWorker{});
}

void Lifecycle::removed(SteadyTime now, const CallOutcome& outcome) {
  if (phase_ != Phase::removing) return;
  const bool again = outcome.kind == CallOutcome::Kind::try_again ||
                     outcome.kind == CallOutcome::Kind::wrong_clock;
  if (!again) {
    if (outcome.kind == CallOutcome::Kind::refused)
      do_next(WriteLog{true, "the host refuses to remove the worker: " + outcome.why});
    return end();
  }
  remove_at_ = now + backoff(remove_failures_++, outcome);
  if (*remove_at_ < remove_until_) return;
  do_next(WriteLog{true, "the worker was not removed: " + outcome.why});
  end();
}

void Lifecycle::end() {
  phase_ = Phase::ended;
  do_next(Exit{code_});
}

// -------------------------------------------------------------------------------------------------
// Time

void Lifecycle::tick(SteadyTime now) {
  switch (phase_) {
    case Phase::registering:
      if (!call_at_ || now < *call_at_) return;
      call_at_.reset();
      return do_next(Register{});
    case Phase::running:
      return tick_running(now);
    case Phase::stopping:
      if (retiring_ && call_at_ && now >= *call_at_) {
        call_at_.reset();
        do_next(Renew{trying_previous_});
      }
      if (!kill_at_ || now < *kill_at_) return;
      kill_at_.reset();
      do_next(WriteLog{true, "the worker did not end in time and is killed"});
      return do_next(KillWorker{});
    case Phase::removing:
      if (remove_at_ && now >= *remove_at_) {
        remove_at_.reset();
        return do_next(RemoveWorker{});
      }
      if (now < remove_until_) return;
      if (!removing_) return remove_or_end(now);
      do_next(WriteLog{true, "the worker was not removed: no answer in time"});
      return end();
    case Phase::ended:
      return;
  }
}

void Lifecycle::tick_running(SteadyTime now) {
  if (now >= *lease_end_)
    return stop(now, ExitCode::lease_over, "the host was unreachable until the credentials expired",
                options_.timings.stop_grace);
  if (call_at_ && now >= *call_at_) {
    call_at_.reset();
    if (registering_anew_)
      do_next(Register{});
    else
      do_next(Renew{trying_previous_});
  }
  if (activity_at_ && now >= *activity_at_) report_activity(now);
  if (ask_at_ && now >= *ask_at_ && may_ask()) {
    ask_at_.reset();
    asking_ = true;
    do_next(AskAdvice{});
  }
}

}  // namespace muster::agent
