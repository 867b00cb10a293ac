// Processes that the agent starts, and their end. Everything that becomes a child of the agent is
// reaped, also what others left behind: it may be the first process of a container.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <vector>

#include <muster/error.hpp>

#include "agent/configuration.hpp"
#include "agent/event_loop.hpp"
#include "lib/process/run_as.hpp"

namespace muster::agent {

// "status 3" or "signal 9 (Killed)"; nothing for status 0.
std::optional<std::string> how_it_failed(int wait_status);

struct Spawn {
  Words command;
  std::vector<std::string> environment;  // "NAME=value", all of it
  int output = -1;                       // its standard output; -1: the agent's
  std::optional<RunAs> user = {};        // nothing: the agent's own
  bool errors_too = false;               // its standard error goes to `output`, too
};

// What is to disappear with an agent that is killed, and the lock that tells others when it has.
struct LeftBehind {
  int lock = -1;
  std::filesystem::path folder = {};  // remove_secret_files()
  std::filesystem::path file = {};    // one more
};

// A small process that outlives the agent for a moment, however that ends. It kills the groups
// that the agent has left (on its own the kernel would kill only the first process of each),
// removes its secrets, and then releases its lock. It is started again if it is killed first.
class Guard {
 public:
  explicit Guard(LeftBehind left);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  void began(pid_t group) const { tell(group); }
  void ended(pid_t group) const { tell(-group); }
  bool is(pid_t pid) const { return pid == pid_; }
  void start();  // a new one, which knows of no group

 private:
  void tell(pid_t group) const;

  const LeftBehind left_;
  FileDescriptor pipe_;
  pid_t pid_ = -1;
};

// THREADS: the loop's.
class Children {
 public:
  // `mask` is what children start with. SIGCHLD must be blocked; its reader calls reap().
  explicit Children(const sigset_t& mask, LeftBehind left = {});
  ~Children();  // kills the groups of those that still run

  using Ended = std::function<void(int wait_status)>;
  // In a process group of its own, killed if the agent dies. Fails as `config` if the program
  // cannot be run.
  Result<pid_t> start(const Spawn& spawn, Ended ended);
  void signal_group(pid_t leader, int number) const;
  // Its `ended` is not called any more, and its group is killed.
  void abandon(pid_t leader);
  // Takes the ends of whatever has ended. Called for SIGCHLD.
  void reap();

 private:
  const sigset_t mask_;
  Guard guard_;
  std::map<pid_t, Ended> running_;
};

// Runs a command to its end and hands over the first 4 KiB that it wrote to its standard output,
// without white space at the end; fails as `transient` if it fails or takes too long.
class OutputOf {
 public:
  using Done = std::function<void(Result<std::string>)>;
  OutputOf(EventLoop& loop, Children& children, Spawn spawn, Milliseconds timeout, Done done);
  ~OutputOf();
  OutputOf(const OutputOf&) = delete;
  OutputOf& operator=(const OutputOf&) = delete;

 private:
  void read_some();
  void finish(Result<std::string> result);

  EventLoop& loop_;
  Children& children_;
  const std::string program_;
  Done done_;
  pid_t pid_ = -1;
  FileDescriptor pipe_;
  EventLoop::Id watch_ = 0, limit_ = 0;
  std::string output_;
};

// The agent's own environment, for children.
std::vector<std::string> own_environment();
// The same with these in it; each name occurs once.
std::vector<std::string> environment_with(std::map<std::string, std::string> variables);

}  // namespace muster::agent
