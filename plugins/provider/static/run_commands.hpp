// Runs programs of the configuration and waits for them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <muster/context.hpp>

namespace muster::static_machines {

struct CommandOutcome {
  enum class How {
    succeeded,
    failed,     // ended by itself, not with 0; could not be run; or took too long and was ended
    cancelled,  // the host stops or the call's deadline came, and it was ended or never begun
  };
  How how = How::cancelled;
  std::string words = {};  // unless it succeeded: "ended with 3: no route to host"
};

// At most `most_at_once` run at a time; each gets `timeout`, and all of them together the call's
// deadline with a little left to answer. What takes longer is sent SIGTERM and then SIGKILL. A
// command is a process group: when its first process ends, whatever it has left in the group is
// killed. It reads nothing, has no descriptor of ours but for its output, of which the last line is
// kept, and the environment of this process. When this returns, none of them is left, not even as a
// zombie. THREADS: any; starts none. One outcome for each command, in their order.
inline constexpr std::size_t most_at_once = 8;
std::vector<CommandOutcome> run_commands(const std::vector<std::vector<std::string>>& commands,
                                         std::chrono::milliseconds timeout, const Context& context);

}  // namespace muster::static_machines
