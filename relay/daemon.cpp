#include "relay/daemon.hpp"

#include <algorithm>
#include <unistd.h>

#include "relay/dns_server.hpp"
#include "relay/routes.hpp"

namespace muster::relay {
namespace {

constexpr std::uint64_t largest_head = 16 * 1024, largest_body = 64 * 1024;
constexpr std::size_t waiting_for_each_request_to_the_host = 32;

http::ServerSettings server_settings(const Settings& settings) {
  http::ServerSettings server;
  server.address = settings.listen.address;
  server.port = settings.listen.port;
  server.threads = settings.threads;
  server.max_connections = settings.max_connections;
  server.limits = {largest_head, largest_body};
  server.body_timeout = std::chrono::seconds(10);
  server.access_log = settings.access_log;
  server.peers.max_connections = settings.max_connections_per_peer;
  server.trusted_proxies = settings.trusted_proxies;
  server.tls = settings.tls;
  return server;
}

std::vector<std::string> servers_of(const DnsSettings& dns) {
  return dns.servers.empty() ? system_servers() : dns.servers;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) (all += all.empty() ? "" : ", ") += word;
  return all;
}

}  // namespace

Daemon::Daemon(const Report& report, Environment environment, std::optional<LogLevel> level)
    : file_(report.file),
      environment_(std::move(environment)),
      level_(level),
      settings_(report.settings),
      log_(standard_error_output(), LogLevel::info, format_for_standard_error()) {
  apply_log_settings();
  log_mistakes(report);
}

// The order matters: a part ends before the parts that it uses.
Daemon::~Daemon() {
  server_.reset();
  if (host_) host_->stop();
  if (resolver_) resolver_->stop();
  workers_.reset();
  readiness_workers_.reset();
}

void Daemon::apply_log_settings() {
  log_.set_level(level_.value_or(settings_->log_level));
  log_.set_format(settings_->log_format.value_or(format_for_standard_error()));
}

void Daemon::log_mistakes(const Report& report) const {
  for (const config::Mistake& mistake : report.mistakes) {
    const std::string text = config::to_string(mistake, report.file);
    if (mistake.severity == config::Severity::error)
      log_.error(text);
    else
      log_.warning(text);
  }
}

std::optional<ExitCode> Daemon::failed(const Error& error, ExitCode code) const {
  log_.error(error.message);
  return code;
}

ExitCode Daemon::run() {
  if (const auto code = start()) return *code;
  serve();
  return drain();
}

std::optional<ExitCode> Daemon::start() {
  if (const auto code = make_parts()) return code;
  return listen();
}

std::optional<ExitCode> Daemon::make_parts() {
  audit_ = std::make_unique<Audit>(log_);
  if (const auto opened = audit_->open(settings_->audit_file); !opened)
    return failed(opened.error(), ExitCode::failed);
  const HostSettings& host = settings_->host;
  auto token = read_access_token(host);
  if (!token) return failed(token.error(), ExitCode::configuration);
  host_ = std::make_unique<HostLink>(
      host, [host] { return read_access_token(host); }, std::move(*token), log_);
  workers_ = std::make_unique<http::WorkerThreads>(
      host.at_once, host.at_once * waiting_for_each_request_to_the_host, log_);
  readiness_workers_ = std::make_unique<http::WorkerThreads>(1, 16, log_);
  auto resolver = DnsResolver::start(settings_->dns, log_);
  if (!resolver) return failed(resolver.error(), ExitCode::failed);
  resolver_ = std::move(*resolver);
  verifier_ = std::make_unique<Verifier>(
      *resolver_, clock_, VerifierSettings{settings_->dns.deadline, settings_->dns.at_once},
      settings_->cache, settings_->names);
  readiness_ = std::make_unique<Readiness>(
      servers_of(settings_->dns),
      [timeout = settings_->dns.timeout](const std::string& server) {
        return ask_once(server, question_of_readiness(), timeout);
      },
      [this] { return host_->reach(); }, clock_);
  relay_ = std::make_unique<Relay>(Parts{*verifier_, *host_, *workers_, *audit_, meters_, clock_},
                                   settings_);
  return std::nullopt;
}

std::optional<ExitCode> Daemon::listen() {
  router_ = std::make_unique<http::Router>(log_);
  add_routes(*router_, *relay_, *readiness_, *readiness_workers_, metrics_);
  auto server = http::Server::listen(server_settings(*settings_), *router_, clock_, log_);
  if (!server) return failed(server.error(), ExitCode::cannot_listen);
  server_ = std::move(*server);
  metrics_.add_source([this](metrics::Page& page) {
    page.gauge("muster_build_info", "1; the label says which version runs", 1,
               {{"version", MUSTER_VERSION}});
    metrics::write_process_metrics(page);
    server_->write_metrics(page);
    write_metrics(page, meters_, *verifier_, *resolver_);
  });
  server_->start();
  config::ListenAddress at = settings_->listen;
  at.port = server_->port();
  const std::string url = (settings_->tls ? "https://" : "http://") + config::to_string(at);
  log_.info("muster-relay serves " + url, {{"version", MUSTER_VERSION},
                                           {"pid", ::getpid()},
                                           {"configurationFile", file_},
                                           {"hostUrl", settings_->host.url},
                                           {"providerId", settings_->host.provider_id},
                                           {"dnsServers", joined(servers_of(settings_->dns))}});
  notifier_.ready("serves " + url);
  return std::nullopt;
}

// The watchdog's pings go on whatever is waited for, as long as the HTTP threads run.
Signals::Event Daemon::wait(SteadyTime until) {
  using std::chrono::milliseconds;
  const milliseconds forever = std::chrono::hours(24);
  const milliseconds interval = notifier_.watchdog_interval().value_or(forever);
  for (;;) {
    const milliseconds left =
        until == SteadyTime::max()
            ? forever
            : std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - clock_.steady()));
    const auto event = signals_.wait(std::min(left, interval));
    if (event != Signals::Event::timeout || clock_.steady() >= until) return event;
    server_->prove_alive([this] { notifier_.alive(); });
  }
}

void Daemon::serve() {
  for (;;) {
    const auto event = wait();
    if (event == Signals::Event::stop) return;
    if (event == Signals::Event::reload) reload();
  }
}

void Daemon::reload() {
  notifier_.reloading();
  const Report report = read_settings(file_, environment_);
  log_mistakes(report);
  if (report.settings)
    take_over(report.settings);
  else
    log_.error("the configuration has errors; the relay keeps the current one");
  notifier_.ready("serves");
}

void Daemon::take_over(std::shared_ptr<const Settings> next) {
  if (const auto keys = settings_->needs_restart(*next); !keys.empty())
    log_.warning("these keys take effect after a restart: " + joined(keys));
  if (settings_->tls && next->tls) {
    if (const auto replaced = server_->replace_certificate(*next->tls); !replaced)
      log_.error("the old certificate stays in use: " + replaced.error().message);
  }
  server_->trust_proxies(next->trusted_proxies);
  host_->reread_token();
  if (const auto opened = audit_->open(next->audit_file); !opened)
    log_.error("the old audit file stays in use: " + opened.error().message);
  // The way to the host stays as it is until a restart.
  auto merged = std::make_shared<Settings>(*next);
  merged->host = settings_->host;
  verifier_->replace_rules(merged->names);
  relay_->replace_settings(merged);
  settings_ = std::move(next);
  apply_log_settings();
  log_.info(
      "the configuration, the certificate and the access token were read again; what the "
      "DNS said is asked anew");
}

ExitCode Daemon::drain() {
  notifier_.stopping("drains");
  log_.info("stopping: no new connections, running requests may end",
            {{"connections", server_->connections()},
             {"milliseconds", settings_->shutdown_deadline.count()}});
  server_->drain([this] { signals_.wake(); });
  const SteadyTime until = clock_.steady() + settings_->shutdown_deadline;
  Signals::Event event;
  do event = wait(until);
  while (event == Signals::Event::reload);
  const std::size_t left = server_->connections();
  server_->stop();
  if (event == Signals::Event::woken) {
    log_.info("stopped");
    return ExitCode::ok;
  }
  log_.warning(event == Signals::Event::stop ? "stopped at once by a second signal"
                                             : "stopped at the deadline, before all was drained",
               {{"connections", left}});
  return ExitCode::failed;
}

}  // namespace muster::relay
