// The agent's own folder: its lock, and what it writes for the implementation.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agent/configuration.hpp"
#include "agent/host_responses.hpp"
#include "lib/base/file_descriptor.hpp"
#include "lib/process/run_as.hpp"

namespace muster::agent {

// Who sees the lock taken knows that the agent lives. THREADS: one.
class AgentFolder {
 public:
  // Makes the folder (0700) if there is none, and takes its lock. Fails as `config` if it cannot
  // be had, and as `quota` if another agent has it. If that one was killed, its guard has the lock
  // for a moment longer, and is waited for. With a `reader`, the user of the implementation, the
  // folder is 0711, and the files that are for the implementation are that user's; all others stay
  // the agent's own.
  static Result<AgentFolder> take(const std::filesystem::path& path,
                                  const std::optional<RunAs>& reader = {});

  std::filesystem::path file(const char* name) const { return path_ / name; }
  std::filesystem::path credentials() const { return file("credentials.json"); }
  std::filesystem::path worker_config() const { return file("worker-config.json"); }
  std::filesystem::path environment() const { return file("environment.sh"); }
  std::filesystem::path reports() const { return file("reports"); }

  // All three files, each of them whole or as it was.
  Result<void> write(const std::string& credentials_text, const std::string& worker_config_text,
                     const std::map<std::string, std::string>& variables) const;
  // For the guard, which keeps it until it has cleaned up.
  int lock() const { return lock_.get(); }
  const std::filesystem::path& path() const { return path_; }
  // Makes a file that is there the implementation's. True if it need not be.
  bool hand_over(const std::filesystem::path& file) const;
  void write_worker_pid(pid_t pid) const;
  // Credentials and what has them inside, also what an agent that was killed had begun to write.
  // IDEMPOTENT
  void remove_secrets() const;
  // What the worker shows with each registration, so that nobody else registers as it: made once,
  // and the same after a restart. If it cannot be kept, it is good for this agent only.
  Secret registration_key() const;
  // For people; failures are ignored.
  void write_status(const std::string& text) const;

  // Kills what an agent that was killed left running: processes whose environment names the
  // reports of this folder. How many there were.
  int end_leftovers() const;

 private:
  AgentFolder(std::filesystem::path path, FileDescriptor lock, std::optional<RunAs> reader)
      : path_(std::move(path)), lock_(std::move(lock)), reader_(std::move(reader)) {}

  Result<void> write_for_reader(const std::filesystem::path& file, const std::string& text) const;

  std::filesystem::path path_;
  FileDescriptor lock_;
  std::optional<RunAs> reader_;
};

// Removes the files with secrets from a folder, and what an agent that was killed had begun to
// write of them. Allocates nothing: the guard calls it, which is a fork of a program that may have
// threads. IDEMPOTENT
void remove_secret_files(const char* folder);

// `NAME='value'`, a line for each that a shell can take as a variable.
std::string shell_text(const std::map<std::string, std::string>& variables);

}  // namespace muster::agent
