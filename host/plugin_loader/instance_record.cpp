#include "host/plugin_loader/instance_record.hpp"

#include <algorithm>
#include <cmath>

#include <muster/utf8.hpp>

#include "lib/base/log.hpp"

namespace muster::plugin_loader {
namespace {

// By the nearest rank.
double quantile(const std::vector<double>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

void InstanceRecord::add_call(std::string_view method, std::chrono::duration<double> took,
                              bool failed) {
  const std::lock_guard guard(mutex_);
  auto found = calls_.find(method);
  if (found == calls_.end()) {
    if (calls_.size() >= most_methods) return;
    found = calls_.emplace(method, Calls{}).first;
  }
  Calls& calls = found->second;
  const auto place = static_cast<std::size_t>(calls.calls) % counted_calls;
  if (place < calls.seconds.size())
    calls.seconds[place] = took.count();
  else
    calls.seconds.push_back(took.count());
  ++calls.calls;
  if (failed) ++calls.failed;
}

void InstanceRecord::add_line(Time at, LogLevel level, std::string_view text) {
  LogEntry entry{at, std::string(to_string(level)), valid_utf8(text.substr(0, longest_line))};
  const std::lock_guard guard(mutex_);
  log_.push_back(std::move(entry));
  if (log_.size() > most_lines) log_.pop_front();
}

std::vector<MethodTimes> InstanceRecord::times() const {
  const std::lock_guard guard(mutex_);
  std::vector<MethodTimes> all;
  for (const auto& [method, calls] : calls_) {
    std::vector<double> sorted = calls.seconds;
    std::ranges::sort(sorted);
    all.push_back({method, calls.calls, calls.failed, quantile(sorted, 0.5), quantile(sorted, 0.9),
                   quantile(sorted, 0.99)});
  }
  return all;
}

std::vector<LogEntry> InstanceRecord::log() const {
  const std::lock_guard guard(mutex_);
  return {log_.begin(), log_.end()};
}

std::shared_ptr<InstanceRecord> InstanceRecords::of(std::string_view instance_id) {
  const std::lock_guard guard(mutex_);
  if (const auto found = records_.find(instance_id); found != records_.end()) return found->second;
  if (records_.size() >= most)
    std::erase_if(records_, [](const auto& entry) { return entry.second.use_count() == 1; });
  return records_.emplace(instance_id, std::make_shared<InstanceRecord>()).first->second;
}

std::shared_ptr<const InstanceRecord> InstanceRecords::find(std::string_view instance_id) const {
  const std::lock_guard guard(mutex_);
  const auto found = records_.find(instance_id);
  return found == records_.end() ? nullptr : found->second;
}

}  // namespace muster::plugin_loader
