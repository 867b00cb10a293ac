#include "relay/verdict_cache.hpp"

#include <algorithm>

namespace muster::relay {

std::chrono::milliseconds kept_for(const Verdict& verdict, const CacheSettings& settings) {
  if (verdict.finding == Finding::dns_failed) return {};
  const std::chrono::milliseconds said = std::chrono::seconds(verdict.ttl);
  if (verdict.finding == Finding::accepted)
    return std::min(std::max(said, settings.min_ttl), settings.max_ttl);
  return std::min(std::max(said, settings.min_ttl), settings.negative_ttl);
}

std::shared_ptr<const Verdict> VerdictCache::find(const Address& address, SteadyTime now) {
  const std::lock_guard guard(mutex_);
  const auto place = places_.find(address);
  if (place == places_.end()) return nullptr;
  if (place->second->expires <= now) {
    entries_.erase(place->second);
    places_.erase(place);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, place->second);
  return place->second->verdict;
}

void VerdictCache::put(const Address& address, std::shared_ptr<const Verdict> verdict,
                       SteadyTime now) {
  const auto kept = kept_for(*verdict, settings_);
  const std::lock_guard guard(mutex_);
  if (const auto place = places_.find(address); place != places_.end()) {
    entries_.erase(place->second);
    places_.erase(place);
  }
  if (kept.count() <= 0 || settings_.entries == 0) return;
  if (entries_.size() >= settings_.entries) {
    places_.erase(entries_.back().address);
    entries_.pop_back();
  }
  entries_.push_front({address, std::move(verdict), now + kept});
  places_.emplace(address, entries_.begin());
}

void VerdictCache::clear() {
  const std::lock_guard guard(mutex_);
  entries_.clear();
  places_.clear();
}

std::size_t VerdictCache::size() const {
  const std::lock_guard guard(mutex_);
  return entries_.size();
}

}  // namespace muster::relay
