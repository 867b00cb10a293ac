// What the command lines of the daemons have in common. Needs CLI11, which the programs link.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "lib/base/exit_code.hpp"
#include "lib/base/log.hpp"

namespace muster {

// Adds --check and --log-level. Both variables must live until the command line is parsed.
inline void add_daemon_options(CLI::App& app, bool& check, std::optional<LogLevel>& log_level) {
  app.add_flag("--check", check, "Only check the configuration");
  app.add_option_function<std::string>(
         "--log-level", [&log_level](const std::string& word) { log_level = log_level_from(word); },
         "Write no lines less important than this")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->type_name("LEVEL");
}

// The number is the exit code of a program that has nothing more to do: the command line was wrong,
// or asked for help or the version.
inline std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return static_cast<int>(app.exit(error) == 0 ? ExitCode::ok : ExitCode::usage);
  }
  return std::nullopt;
}

}  // namespace muster
