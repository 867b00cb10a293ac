// The thin shell around Lifecycle: carries out what it decides, and tells it what happened.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <signal.h>

#include "agent/children.hpp"
#include "agent/configuration.hpp"
#include "agent/event_loop.hpp"
#include "agent/folder.hpp"
#include "agent/host_calls.hpp"
#include "agent/identity.hpp"
#include "agent/interruptions.hpp"
#include "agent/lifecycle.hpp"
#include "agent/reports.hpp"
#include "agent/worker_output.hpp"
#include "lib/base/log.hpp"

namespace muster::agent {

// THREADS: one, which must have SIGTERM, SIGINT, SIGHUP and SIGCHLD blocked and SIGPIPE ignored;
// `mask` is what the implementation starts with.
class Agent {
 public:
  Agent(Configuration configuration, AgentFolder folder, Log log, const sigset_t& mask);
  ~Agent();

  // Until the end of the worker's life.
  ExitCode run();

 private:
  void step();  // after each event: does what Lifecycle wants and sets the timer
  void perform(const Register&);
  void perform(const Renew& renew);
  void perform(const WriteConfiguration&);
  void perform(const StartWorker&);
  void perform(const RefreshWorker&);
  void perform(const TerminateWorker&);
  void perform(const KillWorker&);
  void perform(const ReportError& error);
  void perform(const ReportInterruption& interruption);
  void perform(const ReportActivity& activity);
  void perform(const AskAdvice&);
  void perform(const RemoveWorker&);
  void perform(const WriteLog& say);
  void perform(const Exit& exit);

  // Calls the host, and once more after a moment if it is out of reach.
  void send_report(const std::function<void(HostCalls::Answered)>& call, bool again = true);
  void take_grant(const CallOutcome& outcome, std::optional<Grant> grant);
  void watch_interruptions();
  // Sends what the implementation has printed, now and then every few seconds.
  void send_output();
  void take_signal();
  void take_report(const Report& report);
  std::map<std::string, std::string> variables() const;
  std::string credentials_text() const;
  void write_status();
  void remove_secrets() const;

  const Configuration configuration_;
  const AgentFolder folder_;
  const Log log_;
  BootClock clock_;
  EventLoop loop_;
  HttpClient http_;
  HostCalls host_;
  Children children_;
  WorkerOutput output_{loop_};
  EventLoop::Id output_timer_ = 0;
  bool sending_output_ = false;
  std::mt19937_64 random_;
  Lifecycle lifecycle_;
  std::unique_ptr<Registrar> registrar_;
  std::unique_ptr<ReportPipe> reports_;
  std::unique_ptr<InterruptionWatch> interruptions_;
  FileDescriptor signals_;
  EventLoop::Id timer_ = 0;
  bool stepping_ = false;
  Phase shown_phase_ = Phase::registering;  // in status.json
  ExitCode exit_code_ = ExitCode::internal;

  Place place_;
  Grant grant_;
  json::object worker_config_;
  std::optional<Secret> previous_secret_;
  Secret used_secret_{""};
  pid_t worker_ = -1;
};

}  // namespace muster::agent
