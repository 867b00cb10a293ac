#include "host/command_line.hpp"

#include <CLI/CLI.hpp>

#include "lib/base/exit_code.hpp"

namespace muster {
namespace {

constexpr const char* footer =
    "Signals:\n"
    "  SIGTERM, SIGINT  drain and stop; a second one stops at once\n"
    "  SIGHUP           read the configuration again; a wrong one is refused whole\n"
    "\n"
    "Exit codes:\n"
    "  0  stopped after all was drained; --check: the configuration is good\n"
    "  1  could not start or go on, or was stopped before all was drained;\n"
    "     --check: the configuration has mistakes\n"
    "  2  the command line is wrong\n"
    "  3  the configuration has mistakes\n"
    "  4  the data directory is in use by another musterd\n"
    "  5  the address to listen on is taken, or is none of this machine's\n";

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, CommandLine& command_line) {
  CLI::App app{"musterd keeps fleets of CI workers at the right size"};
  app.name("musterd");
  app.set_version_flag("--version", "musterd " MUSTER_VERSION);
  app.footer(footer);
  std::string config, level;
  const auto* config_option =
      app.add_option("--config", config,
                     "The host configuration (TOML). Without it a built-in one is used")
          ->type_name("FILE");
  app.add_flag("--check", command_line.check, "Only check the configuration");
  app.add_flag("--print-default-config", command_line.print_default_config,
               "Print the built-in configuration, a commented file to start from");
  const auto* level_option =
      app.add_option("--log-level", level, "Write no lines less important than this")
          ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
          ->type_name("LEVEL");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(app.exit(error) == 0 ? ExitCode::ok : ExitCode::usage);
  }
  if (config_option->count() > 0) command_line.config = config;
  if (level_option->count() > 0) command_line.log_level = log_level_from(level);
  return std::nullopt;
}

}  // namespace muster
