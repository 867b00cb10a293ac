#include "agent/agent.hpp"

#include <cerrno>
#include <cstring>
#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "agent/worker_runner.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/process/environment_names.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

constexpr Milliseconds before_reporting_again = 1s, between_outputs = 2s;

Lifecycle::Options options_of(const Configuration& configuration) {
  return {configuration.timings, configuration.remove_on_exit,
          is_launched(configuration.identity.kind)};
}

sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&set, number);
  return set;
}

}  // namespace

Agent::Agent(Configuration configuration, AgentFolder folder, Log log, const sigset_t& mask)
    : configuration_(std::move(configuration)),
      folder_(std::move(folder)),
      log_(std::move(log)),
      http_(loop_, configuration_.ca_file.string()),
      host_(http_, clock_, configuration_.timings.request_timeout),
      children_(mask, {folder_.lock(), folder_.path(), configuration_.worker_config_path}),
      random_(std::random_device{}()),
      lifecycle_(options_of(configuration_),
                 [this] { return std::uniform_real_distribution<double>(0, 1)(random_); }),
      place_(configuration_.place) {
  const Time boot = configuration_.identity.kind == IdentityKind::local ? clock_.now()
                                                                        : machine_boot_time(clock_);
  registrar_ = std::make_unique<Registrar>(configuration_, loop_, http_, host_, children_, boot,
                                           folder_.registration_key());
}

Agent::~Agent() = default;

ExitCode Agent::run() {
  const sigset_t set = handled_signals();
  signals_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) {
    log_.error("no signalfd", {{"error", std::strerror(errno)}});
    return ExitCode::internal;
  }
  if (const int ended = folder_.end_leftovers())
    log_.warning("ended processes that an earlier agent left behind", {{"processes", ended}});
  remove_secrets();  // of that one
  auto reports = ReportPipe::open(
      loop_, folder_.reports(), [this](const Report& report) { take_report(report); },
      [this](const std::string& why) {
        log_.warning("the worker sent something that is not a report", {{"why", why}});
      });
  if (!reports) {
    log_.error("no pipe for reports", {{"error", reports.error().message}});
    return ExitCode::configuration;
  }
  reports_ = std::move(*reports);
  if (!folder_.hand_over(folder_.reports()))
    log_.warning("the worker cannot write reports", {{"error", std::strerror(errno)}});
  loop_.watch(signals_.get(), POLLIN, [this](short) { take_signal(); });
  const ClockWatch clock_changes(loop_, [this] { step(); });
  send_output();
  lifecycle_.begin(loop_.now());
  step();
  loop_.run();
  http_.cancel_all();
  remove_secrets();
  return exit_code_;
}

void Agent::remove_secrets() const {
  folder_.remove_secrets();
  if (!configuration_.worker_config_path.empty())
    ::unlink(configuration_.worker_config_path.c_str());
}

// Actions may lead to further events at once, which come here again: one loop does all.
void Agent::step() {
  if (std::exchange(stepping_, true)) return;
  lifecycle_.credentials_last(loop_.now(), Milliseconds(grant_.expires - host_.host_time()));
  for (auto actions = lifecycle_.take(); !actions.empty(); actions = lifecycle_.take())
    for (const Action& action : actions)
      std::visit([this](const auto& one) { perform(one); }, action);
  stepping_ = false;
  loop_.remove(timer_);
  timer_ = 0;
  if (const auto next = lifecycle_.next())
    timer_ = loop_.at(*next, [this] {
      lifecycle_.tick(loop_.now());
      step();
    });
  if (lifecycle_.phase() != shown_phase_) write_status();
}

// -------------------------------------------------------------------------------------------------
// Registration and renewal

void Agent::perform(const Register&) {
  registrar_->register_worker(
      [this](const CallOutcome& outcome, std::optional<Grant> grant, const Place& place) {
        place_ = place;
        if (grant) {
          const Place& told = grant->place;
          if (!told.worker_pool_id.empty()) place_.worker_pool_id = told.worker_pool_id;
          if (!told.provider_id.empty()) place_.provider_id = told.provider_id;
          if (!told.worker_group.empty()) place_.worker_group = told.worker_group;
          if (!told.worker_id.empty()) place_.worker_id = told.worker_id;
        }
        take_grant(outcome, std::move(grant));
        watch_interruptions();
      });
}

// The secret that was used stays at hand until the next one has been used: the host accepts it so
// long, and so a lost answer locks nobody out.
void Agent::perform(const Renew& renew) {
  used_secret_ = renew.with_previous_secret && previous_secret_ ? *previous_secret_ : grant_.secret;
  host_.renew(used_secret_, [this](const CallOutcome& outcome, std::optional<Grant> grant) {
    if (grant) previous_secret_ = used_secret_;
    take_grant(outcome, std::move(grant));
  });
}

void Agent::take_grant(const CallOutcome& outcome, std::optional<Grant> grant) {
  const SteadyTime now = loop_.now();
  if (!grant) {
    lifecycle_.not_granted(now, outcome);
    return step();
  }
  const bool first = lifecycle_.phase() == Phase::registering;
  grant_ = std::move(*grant);
  if (grant_.worker_config) {
    auto base = json::parse_object(configuration_.worker_config);
    worker_config_ = base ? std::move(*base) : json::object{};
    for (auto& member : *grant_.worker_config) worker_config_[member.key()] = member.value();
    grant_.worker_config.reset();
  }
  host_.use(place_, grant_.credentials);
  const Milliseconds lasts = std::max(0ms, Milliseconds(grant_.expires - host_.host_time()));
  log_.info(first ? "registered" : "renewed", {{"workerPoolId", place_.worker_pool_id},
                                               {"workerGroup", place_.worker_group},
                                               {"workerId", place_.worker_id},
                                               {"expires", format_time(grant_.expires)}});
  if (first && host_.offset() != 0ms)
    log_.warning("this machine's clock is wrong; the host's counts",
                 {{"milliseconds", -host_.offset().count()}});
  lifecycle_.granted(now, lasts, std::exchange(grant_.outdated, std::nullopt));
  step();
  write_status();
  ::malloc_trim(0);
}

std::string Agent::credentials_text() const {
  return json::write_pretty(json::object{{"rootUrl", place_.root_url},
                                         {"clientId", grant_.credentials.client_id},
                                         {"accessToken", grant_.credentials.access_token.reveal()},
                                         {"certificate", grant_.credentials.certificate},
                                         {"expires", format_time(grant_.expires)}}) +
         "\n";
}

// What the implementation finds in its environment when it starts, and in a file ever after.
std::map<std::string, std::string> Agent::variables() const {
  std::map<std::string, std::string> all = configuration_.worker.environment;
  const json::value* configured = worker_config_.if_contains("environment");
  if (configured && configured->is_object())
    for (const auto& member : configured->get_object())
      if (member.value().is_string() &&
          member.value().get_string().find('\0') == json::string::npos &&
          !refused_variable(member.key(), configuration_.worker.allowed_environment))
        all[std::string(member.key())] = std::string(member.value().get_string());
  all["TASKCLUSTER_ROOT_URL"] = place_.root_url;
  all["TASKCLUSTER_CLIENT_ID"] = grant_.credentials.client_id;
  all["TASKCLUSTER_ACCESS_TOKEN"] = grant_.credentials.access_token.reveal();
  all["TASKCLUSTER_CERTIFICATE"] = grant_.credentials.certificate;
  all["MUSTER_CREDENTIALS_FILE"] = folder_.credentials().string();
  all["MUSTER_WORKER_CONFIG_FILE"] = folder_.worker_config().string();
  all["MUSTER_ENVIRONMENT_FILE"] = folder_.environment().string();
  all["MUSTER_REPORTS"] = folder_.reports().string();
  all["MUSTER_WORKER_POOL_ID"] = place_.worker_pool_id;
  all["MUSTER_PROVIDER_ID"] = place_.provider_id;
  all["MUSTER_WORKER_GROUP"] = place_.worker_group;
  all["MUSTER_WORKER_ID"] = place_.worker_id;
  all["MUSTER_CAPACITY"] = std::to_string(configuration_.capacity);
  return all;
}

void Agent::perform(const WriteConfiguration&) {
  if (const auto good =
          check_environment(worker_config_, configuration_.worker.allowed_environment);
      !good)
    log_.warning("a variable of the worker's configuration is left out",
                 {{"why", good.error().message}});
  Result<void> written =
      folder_.write(credentials_text(), json::write_pretty(worker_config_) + "\n", variables());
  if (written && !configuration_.worker_config_path.empty())
    written = write_file_atomically(configuration_.worker_config_path,
                                    generic_worker_text(worker_config_, place_, grant_.credentials),
                                    0600);
  std::optional<std::string> failure;
  if (!written) failure = written.error().message;
  lifecycle_.written(loop_.now(), failure);
}

// -------------------------------------------------------------------------------------------------
// The implementation

void Agent::perform(const StartWorker&) {
  const Spawn spawn{configuration_.worker.command, environment_with(variables()),
                    output_.descriptor(), configuration_.worker.user, true};
  const auto started = children_.start(spawn, [this](int status) {
    worker_ = -1;
    reports_->drain();  // its last words
    output_.drain();
    send_output();
    lifecycle_.worker_ended(loop_.now(), how_it_failed(status));
    step();
  });
  if (!started) return lifecycle_.worker_ended(loop_.now(), started.error().message);
  worker_ = *started;
  folder_.write_worker_pid(worker_);
  log_.info("started the worker", {{"pid", worker_}, {"command", spawn.command.front()}});
}

// A report that is lost is not sent again: the next one says how much is missing.
void Agent::send_output() {
  loop_.remove(output_timer_);
  output_timer_ = loop_.after(between_outputs, [this] { send_output(); });
  if (sending_output_ || output_.empty() || place_.worker_id.empty() ||
      grant_.credentials.client_id.empty())
    return;
  WorkerOutput::Part part = output_.take();
  if (part.text.empty()) return;
  sending_output_ = true;
  host_.report_log(part.from, part.next, part.text,
                   [this](const CallOutcome&) { sending_output_ = false; });
}

void Agent::perform(const RefreshWorker&) {
  using Refresh = WorkerSettings::Refresh;
  if (configuration_.worker.refresh == Refresh::signal && worker_ > 0) ::kill(worker_, SIGHUP);
  if (configuration_.worker.refresh != Refresh::command) return;
  auto more = variables();
  more["MUSTER_WORKER_PID"] = std::to_string(worker_);
  const Spawn spawn{configuration_.worker.refresh_command, environment_with(std::move(more)), -1,
                    configuration_.worker.user};
  const auto started = children_.start(spawn, [this](int status) {
    if (const auto failed = how_it_failed(status))
      log_.warning("the refresh command failed", {{"how", *failed}});
  });
  if (!started) log_.error("no refresh command", {{"error", started.error().message}});
}

void Agent::perform(const TerminateWorker&) {
  children_.signal_group(worker_, SIGTERM);
}

void Agent::perform(const KillWorker&) {
  children_.signal_group(worker_, SIGKILL);
}

void Agent::take_report(const Report& report) {
  const SteadyTime now = loop_.now();
  if (const auto* busy = std::get_if<BusyReport>(&report))
    lifecycle_.reported_busy(now, busy->tasks);
  if (const auto* error = std::get_if<ReportError>(&report)) lifecycle_.reported_error(now, *error);
  if (std::holds_alternative<FinishedReport>(report)) lifecycle_.reported_finished(now);
  step();
}

// -------------------------------------------------------------------------------------------------
// Talks with the host

void Agent::send_report(const std::function<void(HostCalls::Answered)>& call, bool again) {
  call([this, call, again](const CallOutcome& outcome) {
    const bool out_of_reach = outcome.kind == CallOutcome::Kind::try_again ||
                              outcome.kind == CallOutcome::Kind::wrong_clock;
    if (out_of_reach && again) {
      loop_.after(before_reporting_again, [this, call] { send_report(call, false); });
      return;
    }
    if (outcome.kind != CallOutcome::Kind::done)
      log_.warning("the report to the host failed", {{"why", outcome.why}});
    lifecycle_.report_answered(loop_.now());
    step();
  });
}

void Agent::perform(const ReportError& error) {
  log_.warning("the worker has an error", {{"title", error.title}});
  const auto extra = json::parse_object(error.extra);
  send_report([this, error, document = extra ? *extra : json::object{}](HostCalls::Answered done) {
    host_.report_error(error.kind, error.title, error.description, document, std::move(done));
  });
}

void Agent::perform(const ReportInterruption& interruption) {
  const Time at = host_.host_time() + interruption.in;
  send_report([this, at, reason = interruption.reason](HostCalls::Answered done) {
    host_.report_interruption(at, reason, std::move(done));
  });
}

void Agent::perform(const ReportActivity& activity) {
  host_.report_activity(activity.busy, [this](const CallOutcome& outcome) {
    lifecycle_.activity_answered(loop_.now(), outcome);
    step();
  });
}

void Agent::perform(const AskAdvice&) {
  host_.ask_advice([this](const CallOutcome& outcome, bool terminate, const std::string& reason) {
    if (outcome.kind == CallOutcome::Kind::done)
      lifecycle_.advised(loop_.now(), terminate, reason);
    else
      lifecycle_.not_advised(loop_.now(), outcome);
    step();
  });
}

void Agent::perform(const RemoveWorker&) {
  host_.remove([this](const CallOutcome& outcome) {
    lifecycle_.removed(loop_.now(), outcome);
    step();
  });
}

void Agent::watch_interruptions() {
  const IdentityKind kind = configuration_.identity.kind;
  const bool in_a_cloud = tells_place(kind) && kind != IdentityKind::relay;
  if (!in_a_cloud || interruptions_ || place_.worker_id.empty()) return;
  interruptions_ = std::make_unique<InterruptionWatch>(
      kind, configuration_.identity.metadata_url, place_.worker_id,
      configuration_.timings.interruption_check, loop_, http_,
      [this](const InterruptionNotice& notice) {
        const Milliseconds in = notice.at
                                    ? std::max(0ms, Milliseconds(*notice.at - host_.host_time()))
                                    : notice.otherwise;
        lifecycle_.interrupted(loop_.now(), in, notice.reason, notice.only_a_warning);
        step();
      });
}

// -------------------------------------------------------------------------------------------------

void Agent::take_signal() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    switch (static_cast<int>(info.ssi_signo)) {
      case SIGCHLD:
        children_.reap();
        break;
      case SIGHUP:
        lifecycle_.renewal_requested(loop_.now());
        break;
      default:
        lifecycle_.stop_requested(loop_.now());
    }
    step();
  }
}

void Agent::perform(const WriteLog& say) {
  say.alarming ? log_.warning(say.sentence) : log_.info(say.sentence);
}

void Agent::perform(const Exit& exit) {
  exit_code_ = exit.code;
  log_.info("ended", {{"exitCode", static_cast<int>(exit.code)}});
  loop_.stop();
}

void Agent::write_status() {
  shown_phase_ = lifecycle_.phase();
  json::object status{{"pid", static_cast<std::int64_t>(::getpid())},
                      {"phase", std::string(to_string(lifecycle_.phase()))},
                      {"workerPoolId", place_.worker_pool_id},
                      {"providerId", place_.provider_id},
                      {"workerGroup", place_.worker_group},
                      {"workerId", place_.worker_id}};
  if (lifecycle_.lease_end()) status["expires"] = format_time(grant_.expires);
  if (lifecycle_.renew_at())
    status["renewAt"] = format_time(host_.host_time() + std::chrono::duration_cast<Milliseconds>(
                                                            *lifecycle_.renew_at() - loop_.now()));
  if (worker_ > 0) status["workerPid"] = static_cast<std::int64_t>(worker_);
  if (!lifecycle_.reason().empty()) status["reason"] = lifecycle_.reason();
  if (lifecycle_.phase() == Phase::ended) status["exitCode"] = static_cast<int>(exit_code_);
  folder_.write_status(json::write_pretty(status) + "\n");
}

}  // namespace muster::agent
