// Runs the real programs and watches them. Every wait is for an event and ends after 30 seconds.
#pragma once

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include <muster/json.hpp>

#include "cli/host_client.hpp"
#include "lib/base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::testing {

using Variables = std::map<std::string, std::string>;

// A child process whose standard error and output are read as one text.
class Process {
 public:
  // `program` is the name of one of ours. The environment is PATH and `variables`, nothing else.
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const Variables& variables = {});
  ~Process();  // kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  // Reads until the text has come; throws with all that came if it does not come.
  void wait_for(const std::string& text);
  // Waits for the end. 128 + n if signal n ended it.
  int exit_code();
  const std::string& output() const { return output_; }

 private:
  bool read_some();

  pid_t pid_ = -1;
  int exit_code_ = -1;
  FileDescriptor pipe_;
  std::string output_;
};

// A running host with a data directory and a configuration of its own, on a free port.
class Musterd {
 public:
  explicit Musterd(const std::string& more_configuration = "", const Variables& variables = {},
                   std::string plugin_folder = "data/plugins.d");

  void kill();       // -9
  void start();      // again, on the same folder
  void keep_port();  // for all further starts: workers look for the host where it was

  Process& process() { return *process_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path data_directory() const { return folder_ / "data"; }
  std::filesystem::path configuration_file() const { return folder_ / "muster.toml"; }
  void configure(const std::string& more_configuration);

  cli::HostAddress address() const;
  std::uint16_t port() const;
  cli::HostClient client() const { return cli::HostClient(address()); }
  json::object status() const;

 private:
  TemporaryFolder folder_;
  Variables variables_;
  std::string plugin_folder_, more_configuration_;
  std::uint16_t listens_on_ = 0;  // 0: any free port
  std::unique_ptr<Process> process_;
};

// Runs a program to its end.
struct Finished {
  int exit_code;
  std::string output;
};
Finished run(const std::string& program, const std::vector<std::string>& arguments,
             const Variables& variables = {});

// A command that runs one of our programs with a network and a /var/lib of its own, as root of a
// user namespace: every port is free, and no host is installed, whatever else this machine runs.
// Needs user namespaces, or root.
struct Command {
  std::string program;
  std::vector<std::string> arguments;
};
Command isolated(const std::string& program, const std::vector<std::string>& arguments = {});

std::string content_of(const std::filesystem::path& file);

}  // namespace muster::testing
