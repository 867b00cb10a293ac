// What the agent does next: a state machine without I/O. Events come in with the time at which they
// happened, actions go out; the caller carries them out and reports back. The clock and the random
// source are the caller's, so that every path can be walked in a test.
//
//   registering ─► running ─► stopping ─► removing ─► ended
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/call_outcome.hpp"
#include "agent/exit_code.hpp"
#include "lib/base/clock.hpp"

namespace muster::agent {

using Milliseconds = std::chrono::milliseconds;

struct Timings {
  Milliseconds request_timeout = std::chrono::seconds(30);
  Milliseconds registration_timeout = std::chrono::minutes(30);  // then: never registered
  Milliseconds retry_min = std::chrono::seconds(1);
  Milliseconds retry_max = std::chrono::minutes(1);
  Milliseconds renew_before = std::chrono::minutes(30);  // of long lives; of short ones a third
  std::optional<Milliseconds> renew_every = {};          // and not later than that after the last
  Milliseconds idle_check = std::chrono::seconds(30);
  Milliseconds activity_interval = std::chrono::minutes(5);  // while busy
  Milliseconds interruption_check = std::chrono::seconds(5);
  Milliseconds remove_timeout = std::chrono::seconds(10);
  Milliseconds stop_grace = std::chrono::seconds(30);
};

// -------------------------------------------------------------------------------------------------
// Actions

struct Register {};
struct Renew {
  bool with_previous_secret = false;
};
// Credentials and worker configuration of the last grant. Answered by written().
struct WriteConfiguration {};
struct StartWorker {};
struct RefreshWorker {};
struct TerminateWorker {};
struct KillWorker {};
struct ReportError {  // answered by report_answered()
  std::string title, description;
  std::string kind = "worker-error";
  std::string extra = "{}";  // a JSON object
};
struct ReportInterruption {  // answered by report_answered()
  Milliseconds in{};         // from now
  std::string reason;
};
struct ReportActivity {
  int busy = 0;
};
struct AskAdvice {};
struct RemoveWorker {};
struct WriteLog {  // for the log
  bool alarming = false;
  std::string sentence;
};
struct Exit {
  ExitCode code;
};
using Action = std::variant<Register, Renew, WriteConfiguration, StartWorker, RefreshWorker,
                            TerminateWorker, KillWorker, ReportError, ReportInterruption,
                            ReportActivity, AskAdvice, RemoveWorker, WriteLog, Exit>;

enum class Phase { registering, running, stopping, removing, ended };
std::string_view to_string(Phase phase);

// THREADS: one.
class Lifecycle {
 public:
  struct Options {
    Timings timings = {};
    bool remove_on_exit = true;
    bool remove_when_outdated = true;  // false: the host keeps a machine that is in quarantine
  };

  // `random` gives numbers from 0 to below 1.
  Lifecycle(Options options, std::function<double()> random);

  // What is to be done now, in order; each is handed out once.
  std::vector<Action> take();
  // When tick() is due if nothing happens before.
  std::optional<SteadyTime> next() const;

  void begin(SteadyTime now);
  void tick(SteadyTime now);

  // Credentials that last so long; of a registration or a renewal. Not at all: we do not know the
  // host's time, and ask again soon. `outdated`: the implementation is to end when its work is
  // done, and why; until it has, its credentials are renewed.
  void granted(SteadyTime now, Milliseconds lasts, std::optional<std::string> outdated = {});
  // By the wall clock they last so long from now. If that is less than it seemed, the machine was
  // frozen or a clock was set: they are renewed at once, and the host has the time of one request
  // to say that they are still good.
  void credentials_last(SteadyTime now, Milliseconds left);
  void not_granted(SteadyTime now, const CallOutcome& outcome);
  void written(SteadyTime now, const std::optional<std::string>& failure);

  // `failure`: nothing if it ended as it should; else how it ended, or why it never began.
  void worker_ended(SteadyTime now, const std::optional<std::string>& failure);
  void reported_busy(SteadyTime now, int tasks);  // 0: idle
  void reported_error(SteadyTime now, ReportError error);
  void reported_finished(SteadyTime now);

  void activity_answered(SteadyTime now, const CallOutcome& outcome);
  void advised(SteadyTime now, bool terminate, const std::string& reason);
  void not_advised(SteadyTime now, const CallOutcome& outcome);
  void report_answered(SteadyTime now);
  void removed(SteadyTime now, const CallOutcome& outcome);

  void stop_requested(SteadyTime now);
  void renewal_requested(SteadyTime now);
  // The cloud takes the machine away in so long. A warning is passed on and changes nothing else.
  void interrupted(SteadyTime now, Milliseconds in, const std::string& reason, bool only_a_warning);

  Phase phase() const { return phase_; }
  std::optional<int> busy() const { return busy_; }
  std::optional<SteadyTime> lease_end() const { return lease_end_; }
  std::optional<SteadyTime> renew_at() const { return renew_at_; }
  const std::string& reason() const { return reason_; }  // why it stops

 private:
  void do_next(Action action) { actions_.push_back(std::move(action)); }
  Milliseconds backoff(int failures, const CallOutcome& outcome);
  Milliseconds jittered(Milliseconds time);  // 90 to 110 percent
  void take_lease(SteadyTime now, Milliseconds lasts);
  void retire(SteadyTime now);
  void registration_failed(SteadyTime now, const CallOutcome& outcome);
  void renewal_failed(SteadyTime now, const CallOutcome& outcome);
  void stop(SteadyTime now, ExitCode code, std::string reason, Milliseconds grace);
  void stop_until_lease_end(SteadyTime now, ExitCode code, std::string reason);
  void leave(SteadyTime now);  // the implementation is gone
  void remove_or_end(SteadyTime now);
  void end();
  void report_activity(SteadyTime now);
  // The host gets the worker's activity before it is asked for advice.
  bool may_ask() const { return !asking_ && !activity_under_way_; }
  void tick_running(SteadyTime now);

  const Options options_;
  const std::function<double()> random_;
  std::vector<Action> actions_;

  Phase phase_ = Phase::registering;
  ExitCode code_ = ExitCode::ok;
  std::string reason_;

  // Registration and renewal
  std::optional<SteadyTime> call_at_;  // the next attempt of either, if none is under way
  SteadyTime give_up_at_{};
  int failures_ = 0, refusals_ = 0;
  bool have_previous_ = false, trying_previous_ = false, registering_anew_ = false;
  bool lease_in_doubt_ = false;  // that the lease lasts as long as it seemed; until the next grant
  std::optional<SteadyTime> lease_end_, renew_at_;

  // The implementation finishes its work, and its credentials are renewed.
  bool retiring_ = false;
  std::optional<std::string> outdated_;

  // The implementation
  bool alive_ = false, stop_asked_ = false;
  std::optional<SteadyTime> kill_at_;
  std::optional<int> busy_;

  // Reports to the host
  int pending_reports_ = 0;
  bool activity_under_way_ = false, activity_changed_ = false, activity_known_ = true;
  int activity_failures_ = 0;
  std::optional<SteadyTime> activity_at_;
  bool asking_ = false;
  std::optional<SteadyTime> ask_at_;

  // The end
  bool removing_ = false;
  int remove_failures_ = 0;
  std::optional<SteadyTime> remove_at_;
  SteadyTime remove_until_{};
};

// When credentials that last so long are renewed: `renew_before` or a third of their life before
// their end, whichever is less, and up to half of that earlier by chance (`random` from 0 to 1), so
// that a fleet that started together does not renew together. With `renew_every`: after that time,
// or up to half of it earlier, if that comes first.
Milliseconds renewal_delay(Milliseconds lasts, const Timings& timings, double random);

}  // namespace muster::agent
