// What musterd was asked for on its command line.
#pragma once

#include <filesystem>
#include <optional>

#include "lib/base/log.hpp"
#include "lib/toml/units.hpp"

namespace muster {

struct CommandLine {
  std::optional<std::filesystem::path> config;
  bool check = false;
  bool print_default_config = false;
  // Stronger than the configuration's.
  std::optional<LogLevel> log_level;
  std::optional<config::ListenAddress> listen;
  std::optional<std::filesystem::path> data_directory;  // absolute
};

// Prints help, version or what is wrong. The number is then the exit code; empty: go on.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& command_line);

}  // namespace muster
