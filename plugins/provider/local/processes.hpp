// Processes of workers: how they are started, found and ended without ever hitting a stranger. A
// number alone never names a process here: a process that is signalled was pinned (pidfd) first,
// and then shown to be the worker's.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <utility>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>

namespace muster::local {

// In the environment of everything that a worker runs: its folder.
inline constexpr const char* folder_variable = "MUSTER_LOCAL_FOLDER";

struct Program {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // all of it: nothing of the host's is passed on
  std::filesystem::path working_folder;
  std::filesystem::path output;  // appended to
  std::vector<std::pair<int, rlim_t>> limits = {};
  std::filesystem::path cgroup = {};  // empty: the host's own
};

// Starts the program in a process group of its own. It dies with this thread until it is replaced
// by children of its own. The caller waits for it.
Result<pid_t> start(const Program& program);

// Its exit status; `transient` if it was killed, or had to be because the time was over.
Result<int> wait_for(pid_t child, std::chrono::milliseconds at_most, const Context& context);

// A worker's folder, by which its processes are known.
class WorkerProcesses {
 public:
  explicit WorkerProcesses(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Sends the signal to the agent, if it lives: the process that the lock names, and that has the
  // lock's file open or our configuration in its command line. False: there is none.
  bool signal_agent(int signal) const;

  // Whether the process that the lock names does not exist any more: its lock lives on in a child.
  bool agent_is_gone() const;

  // Whether any process was started for this folder, although none has the lock (yet).
  bool anybody() const;

  // SIGKILL to everything that was started for this folder and to the implementation's process
  // group, until nothing is left. Returns how many were killed.
  std::size_t kill_all() const;

 private:
  struct Found {
    pid_t pid;
    std::uint64_t started;  // with the number, names one process for ever
  };

  bool is_agent(pid_t pid) const;
  bool has_our_mark(pid_t pid) const;
  std::vector<Found> marked() const;
  std::vector<Found> members_of_group() const;

  std::filesystem::path folder_;
};

}  // namespace muster::local
