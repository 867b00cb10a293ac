// One line for each answer: who asked, what was found out and what was decided. It has no field for
// anything that the host gives to a machine.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"
#include "lib/base/log.hpp"
#include "relay/counters.hpp"

namespace muster::relay {

struct AuditEntry {
  Time time = {};
  std::string request_id = {};
  std::string peer = {};                // of the connection: "192.0.2.7:4711"
  std::string address = {};             // of the machine; empty if it is not known
  std::vector<std::string> names = {};  // as the DNS has them
  std::string accepted_name = {};
  std::string worker_pool_id = {};  // that the machine asked for
  RegistrationOutcome outcome = RegistrationOutcome::bad_request;
  std::string why = {};  // a sentence
  int status = 0;        // of the answer
  std::optional<long> host_status = {};
  bool cached = false;  // the verdict came from memory
  std::chrono::nanoseconds took = {};
};

// {"time":...,"event":"relayAnswer",...} with a line break at its end.
std::string audit_line(const AuditEntry& entry);

// THREADS: any.
class Audit {
 public:
  explicit Audit(Log log) : log_(std::move(log)) {}

  // Writes to this file, too, from now on; behind what it holds. An empty path: to none. Called
  // again it opens the file anew, as the rotation of log files needs it. On failure nothing
  // changes.
  Result<void> open(const std::filesystem::path& file);

  // To the log and to the file. A line that cannot be written to the file is counted.
  void note(const AuditEntry& entry, Counters& counters);

 private:
  const Log log_;
  std::mutex mutex_;
  FileDescriptor file_;
  bool complained_ = false;
};

}  // namespace muster::relay
