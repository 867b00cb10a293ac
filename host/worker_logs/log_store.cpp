#include "host/worker_logs/log_store.hpp"

#include <algorithm>

#include <muster/utf8.hpp>

namespace muster::worker_logs {

void LogStore::append(const std::string& worker, const Part& part) {
  const std::lock_guard guard(mutex_);
  auto [found, is_new] = logs_.try_emplace(worker);
  Log& log = found->second;
  if (is_new) log.place = by_age_.insert(by_age_.end(), worker);
  const bool is_older = part.from < log.of_agent;
  if (is_older && part.next == log.of_agent) return;  // sent twice
  if (is_older) add(log, "[the agent began anew]\n");
  const std::int64_t expected = is_older ? 0 : log.of_agent;
  if (part.from > expected)
    add(log, "[" + std::to_string(part.from - expected) + " bytes are not kept]\n");
  add(log, valid_utf8(part.text));
  log.of_agent = part.next;
  log.at = part.at;
  by_age_.splice(by_age_.end(), by_age_, log.place);
  evict(worker);
}

void LogStore::add(Log& log, std::string_view text) {
  bytes_ -= log.text.size();
  log.text += text;
  if (log.text.size() > limits_.bytes_of_worker) {
    std::size_t cut = log.text.size() - limits_.bytes_of_worker;
    while (cut < log.text.size() && (static_cast<unsigned char>(log.text[cut]) & 0xC0U) == 0x80U)
      ++cut;  // between characters
    log.text.erase(0, cut);
    log.begin += static_cast<std::int64_t>(cut);
  }
  bytes_ += log.text.size();
}

void LogStore::evict(const std::string& but) {
  while (bytes_ > limits_.bytes_of_all && by_age_.front() != but) {
    const auto oldest = logs_.find(by_age_.front());
    bytes_ -= oldest->second.text.size();
    by_age_.pop_front();
    logs_.erase(oldest);
  }
}

std::optional<Part> LogStore::read(const std::string& worker, std::int64_t from) const {
  const std::lock_guard guard(mutex_);
  const auto found = logs_.find(worker);
  if (found == logs_.end()) return std::nullopt;
  const Log& log = found->second;
  const std::int64_t end = log.begin + static_cast<std::int64_t>(log.text.size());
  const std::int64_t begin = std::clamp(from, log.begin, end);
  return Part{begin, end, log.text.substr(static_cast<std::size_t>(begin - log.begin)), log.at};
}

std::size_t LogStore::bytes() const {
  const std::lock_guard guard(mutex_);
  return bytes_;
}

}  // namespace muster::worker_logs
