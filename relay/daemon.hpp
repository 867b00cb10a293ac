// The relay as a service: starts, serves, reads its configuration again, ends.
#pragma once

#include <memory>

#include "lib/base/clock.hpp"
#include "lib/base/exit_code.hpp"
#include "lib/base/log.hpp"
#include "lib/base/service_notifier.hpp"
#include "lib/base/signals.hpp"
#include "lib/http/server.hpp"
#include "lib/metrics/metrics.hpp"
#include "relay/audit.hpp"
#include "relay/dns_resolver.hpp"
#include "relay/host_link.hpp"
#include "relay/readiness.hpp"
#include "relay/relay.hpp"
#include "relay/verifier.hpp"

namespace muster::relay {

class Daemon {
 public:
  // `report` has settings; its warnings are logged.
  Daemon(const Report& report, Environment environment, std::optional<LogLevel> level);
  ~Daemon();

  ExitCode run();  // once

 private:
  std::optional<ExitCode> start();  // an exit code if that is not possible; it was logged
  std::optional<ExitCode> make_parts();
  std::optional<ExitCode> listen();
  void serve();
  void reload();
  void take_over(std::shared_ptr<const Settings> next);
  ExitCode drain();
  Signals::Event wait(SteadyTime until = SteadyTime::max());
  void log_mistakes(const Report& report) const;
  void apply_log_settings();
  std::optional<ExitCode> failed(const Error& error, ExitCode code) const;

  const std::string file_;
  const Environment environment_;
  const std::optional<LogLevel> level_;
  std::shared_ptr<const Settings> settings_;
  Signals signals_;  // before any thread
  const SystemClock clock_{};
  const ServiceNotifier notifier_{};
  Log log_;
  metrics::Metrics metrics_;
  Counters meters_;
  std::unique_ptr<Audit> audit_;
  std::unique_ptr<HostLink> host_;
  std::unique_ptr<http::WorkerThreads> workers_, readiness_workers_;
  std::unique_ptr<DnsResolver> resolver_;
  std::unique_ptr<Verifier> verifier_;
  std::unique_ptr<Readiness> readiness_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace muster::relay
