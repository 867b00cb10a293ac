// Verdicts about addresses: from memory, from a lookup that runs already, or from a new one. There
// is never more than one lookup of an address at a time, and never more than so many in all.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "relay/resolver.hpp"
#include "relay/verdict_cache.hpp"

namespace muster::relay {

struct VerifierSettings {
  std::chrono::milliseconds deadline = std::chrono::seconds(5);  // of one lookup
  std::size_t at_once = 64;                                      // lookups
};

enum class Source { cache, shared_lookup, own_lookup, too_busy };
inline constexpr std::size_t sources = 4;

// THREADS: any. Resolver and clock are borrowed; no answer of the resolver may come after this is
// gone.
class Verifier {
 public:
  // The verdict is null if there are too many lookups.
  using Done = std::function<void(std::shared_ptr<const Verdict>, Source)>;

  Verifier(Resolver& resolver, const Clock& clock, VerifierSettings settings, CacheSettings cache,
           std::shared_ptr<const NameRules> rules);

  // `done` is called once, from here or from the resolver's thread.
  void verify(const Address& address, Done done);

  // From now on; what was found by the old ones is forgotten.
  void replace_rules(std::shared_ptr<const NameRules> rules);

  std::uint64_t counted(Source source) const {
    return counts_[static_cast<std::size_t>(source)].load();
  }
  std::size_t cached() const { return cache_.size(); }
  std::size_t running() const;

 private:
  struct Flight;
  void step(const std::shared_ptr<Flight>& flight);
  void land(const std::shared_ptr<Flight>& flight);

  Resolver& resolver_;
  const Clock& clock_;
  const VerifierSettings settings_;
  VerdictCache cache_;
  mutable std::mutex mutex_;
  std::shared_ptr<const NameRules> rules_;
  std::unordered_map<Address, std::shared_ptr<Flight>, AddressHash> flights_;
  std::array<std::atomic<std::uint64_t>, sources> counts_{};
};

}  // namespace muster::relay
