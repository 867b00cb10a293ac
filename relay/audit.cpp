#include "relay/audit.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include <muster/codec.hpp>
#include <muster/json.hpp>
#include <muster/utf8.hpp>

#include "lib/base/atomic_file.hpp"

namespace muster::relay {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) (all += all.empty() ? "" : " ") += name;
  return all;
}

std::int64_t in_milliseconds(std::chrono::nanoseconds took) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
}

}  // namespace

std::string audit_line(const AuditEntry& entry) {
  json::object line;
  line["time"] = format_time(entry.time);
  line["event"] = "relayAnswer";
  line["requestId"] = entry.request_id;
  line["peer"] = entry.peer;
  line["address"] = entry.address;
  json::array& names = line["names"].emplace_array();
  for (const std::string& name : entry.names) names.emplace_back(valid_utf8(name));
  line["acceptedName"] = entry.accepted_name;
  line["workerPoolId"] = valid_utf8(entry.worker_pool_id);
  line["decision"] = decision_of(entry.outcome);
  line["reason"] = to_string(entry.outcome);
  line["why"] = valid_utf8(entry.why);
  line["status"] = entry.status;
  line["hostStatus"] = entry.host_status ? json::value(*entry.host_status) : json::value(nullptr);
  line["cached"] = entry.cached;
  line["milliseconds"] = in_milliseconds(entry.took);
  return json::write(line) + "\n";
}

Result<void> Audit::open(const std::filesystem::path& file) {
  FileDescriptor opened;
  if (!file.empty()) {
    opened = FileDescriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
    if (!opened) return system_error("open", file, errno);
  }
  const std::lock_guard guard(mutex_);
  file_ = std::move(opened);
  complained_ = false;
  return {};
}

void Audit::note(const AuditEntry& entry, Counters& counters) {
  const bool good = entry.outcome == RegistrationOutcome::registered;
  log_.write(good ? LogLevel::info : LogLevel::warning,
             good ? "a machine got credentials" : "a machine got no credentials",
             {{"requestId", entry.request_id},
              {"peer", entry.peer},
              {"address", entry.address},
              {"names", joined(entry.names)},
              {"acceptedName", entry.accepted_name},
              {"workerPoolId", entry.worker_pool_id},
              {"decision", decision_of(entry.outcome)},
              {"reason", to_string(entry.outcome)},
              {"why", entry.why},
              {"status", entry.status},
              {"hostStatus", entry.host_status.value_or(0)},
              {"cached", entry.cached},
              {"milliseconds", in_milliseconds(entry.took)}});
  const std::lock_guard guard(mutex_);
  if (!file_) return;
  const std::string line = audit_line(entry);
  const ssize_t written = ::write(file_.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return;
  ++counters.audit_lines_lost;
  if (std::exchange(complained_, true)) return;
  log_.error("the audit's file takes no more lines; the log still has them",
             {{"error", written < 0 ? std::strerror(errno) : "it is full"}});
}

}  // namespace muster::relay
