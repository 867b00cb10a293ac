// From the parser's commands to plain values.
#pragma once

#include <string>

#include "cli/reference/command_info.hpp"

namespace CLI {
class App;
}

namespace muster::cli {

// The command and all below it.
CommandInfo describe(const CLI::App& app, const std::string& path);

}  // namespace muster::cli
