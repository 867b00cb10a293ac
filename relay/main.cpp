// muster-relay: vouches for the machines of a datacenter by what the DNS says about them.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "lib/base/daemon_options.hpp"
#include "lib/base/open_files.hpp"
#include "relay/daemon.hpp"

namespace {

using namespace muster;

constexpr const char* footer =
    "Signals:\n"
    "  SIGTERM, SIGINT  drain and stop; a second one stops at once\n"
    "  SIGHUP           read the configuration, the certificate and the access token again,\n"
    "                   reopen the audit file, clear the DNS cache\n"
    "\n"
    "Exit codes:\n"
    "  0  stopped after all was drained; --check: the configuration is valid\n"
    "  1  failed to start or to continue, or stopped before all was drained;\n"
    "     --check: the configuration has errors\n"
    "  2  the command line is wrong\n"
    "  3  the configuration has errors\n"
    "  5  the address to listen on is in use, or not of this machine\n";

struct CommandLine {
  std::string config = "/etc/muster/relay.toml";
  bool check = false;
  std::optional<LogLevel> log_level;
};

// The number is the exit code; empty: go on.
std::optional<int> parse(int argc, char** argv, CommandLine& command_line) {
  CLI::App app{"muster-relay vouches for the machines of a datacenter by their names in the DNS"};
  app.name("muster-relay");
  app.set_version_flag("--version", "muster-relay " MUSTER_VERSION);
  app.footer(footer);
  app.add_option("--config", command_line.config, "The configuration (TOML)")
      ->type_name("FILE")
      ->capture_default_str();
  add_daemon_options(app, command_line.check, command_line.log_level);
  return parse_command_line(app, argc, argv);
}

// Credentials of workers pass through this process: its memory must not end in a file.
void leave_no_core() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::umask(0027);
}

ExitCode run(const CommandLine& command_line) {
  const relay::Environment environment = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const relay::Report report = relay::read_settings(command_line.config, environment);
  if (command_line.check || !report.settings)
    for (const config::Mistake& mistake : report.mistakes)
      std::fprintf(stderr, "%s\n", config::to_string(mistake, report.file).c_str());
  if (command_line.check) {
    if (!report.settings) return ExitCode::failed;
    std::printf("%s is good: %zu allowed names, host %s\n", report.file.c_str(),
                report.settings->names->allowed.size(), report.settings->host.url.c_str());
    return ExitCode::ok;
  }
  if (!report.settings) return ExitCode::configuration;
  if (const auto enough = raise_limit_of_open_files(256, 4096); !enough)
    std::fprintf(stderr, "muster-relay: %s\n", enough.error().message.c_str());
  return relay::Daemon(report, environment, command_line.log_level).run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    leave_no_core();
    CommandLine command_line;
    if (const auto code = parse(argc, argv, command_line)) return *code;
    return static_cast<int>(run(command_line));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster-relay: %s\n", error.what());
    return static_cast<int>(muster::ExitCode::failed);
  }
}
