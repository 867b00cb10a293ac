#include "host/command_line.hpp"

#include <CLI/CLI.hpp>

#include "lib/base/daemon_options.hpp"

namespace muster {
namespace {

constexpr const char* footer =
    "Signals:\n"
    "  SIGTERM, SIGINT  drain and stop; a second one stops at once\n"
    "  SIGHUP           read the configuration again; a wrong one is refused as a whole\n"
    "\n"
    "Exit codes:\n"
    "  0  stopped after all was drained; --check: the configuration is valid\n"
    "  1  failed to start or to continue, or stopped before all was drained;\n"
    "     --check: the configuration has errors\n"
    "  2  the command line is wrong\n"
    "  3  the configuration has errors\n"
    "  4  the data directory is in use by another musterd\n"
    "  5  the address to listen on is in use, or not of this machine\n"
    "  6  the disk is full or fails: make room; a later start may do better\n";

}  // namespace

std::optional<int> parse_command_line(int argc, char** argv, CommandLine& command_line) {
  CLI::App app{"musterd keeps fleets of CI workers at the right size"};
  app.name("musterd");
  app.set_version_flag("--version", "musterd " MUSTER_VERSION);
  app.footer(footer);
  std::string config;
  const auto* config_option =
      app.add_option("--config", config,
                     "The host configuration (TOML). Without it a built-in one is used")
          ->type_name("FILE");
  app.add_option_function<std::string>(
         "--listen",
         [&](const std::string& text) { command_line.listen = config::parse_listen_address(text); },
         "The address to serve on, whatever the configuration says: 127.0.0.1:8600, [::1]:8600; "
         "port 0: any that is free")
      ->type_name("ADDRESS")
      ->check([](const std::string& text) {
        return config::parse_listen_address(text)
                   ? std::string()
                   : text + " is not an IP address and a port; write for example 127.0.0.1:8600";
      });
  app.add_option_function<std::string>(
         "--data-directory",
         [&](const std::string& text) {
           command_line.data_directory = std::filesystem::absolute(text).lexically_normal();
         },
         "The data directory, whatever the configuration says")
      ->type_name("FOLDER")
      ->check([](const std::string& text) {
        return text.empty() ? std::string("it is empty; name a folder") : std::string();
      });
  add_daemon_options(app, command_line.check, command_line.log_level);
  app.add_flag("--print-default-config", command_line.print_default_config,
               "Print the built-in configuration, a commented file to start from");
  if (const auto exit_code = parse_command_line(app, argc, argv)) return exit_code;
  if (config_option->count() > 0) command_line.config = config;
  return std::nullopt;
}

}  // namespace muster
