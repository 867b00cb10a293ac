// The agent's command line.
#pragma once

#include <string>
#include <vector>

#include <muster/error.hpp>

#include "agent/configuration.hpp"

namespace muster::agent {

struct CommandLine {
  std::string file = "/etc/muster/agent.toml";
  bool check = false, detach = false, help = false, version = false;
  Overrides overrides;
};

// The words behind the program's name. Fails as `invalid`, in a sentence for the user.
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);

}  // namespace muster::agent
