// What rows that were set aside may stand for: workers that may be alive, and pools of which nobody
// knows what they want. Nothing is launched in their place, and nothing at a provider that may be
// theirs is ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <muster/provider.hpp>

#include "host/store/store.hpp"

namespace muster::fleet {

// A value. THREADS: any.
class ProtectedRows {
 public:
  ProtectedRows() = default;
  explicit ProtectedRows(const store::SetAside& rows);

  // Of workers that may be alive and that no row stands for, as far as their rows tell.
  std::int64_t capacity_of(const WorkerPoolId& pool) const;
  std::int64_t capacity_of(const ProviderId& provider) const;
  bool has_worker(std::int64_t number) const { return numbers_.contains(number); }
  // Whether a row of the pool itself is among them, or of one of its launch configurations.
  bool has_pool(const WorkerPoolId& pool) const { return pools_.contains(pool.str()); }
  bool has_pools() const { return !pools_.empty(); }
  // Whether an instance that no worker stands for may be the one of such a row. If a row does not
  // even tell its provider, its number or its pool, this is true for all.
  bool may_own(const ProviderId& provider, const Instance& instance) const;
  // Larger than the number of each worker that was set aside.
  std::int64_t next_number() const { return numbers_.empty() ? 1 : *numbers_.rbegin() + 1; }

 private:
  void add_worker(const store::SetAside::Entry& entry);

  std::set<std::string> pools_;      // of rows of pools, of the API too, and launch configurations
  std::set<std::int64_t> numbers_;   // of workers
  std::set<std::string> instances_;  // provider, group and worker
  std::map<std::string, std::int64_t> by_pool_, by_provider_;
  bool unidentified_ = false;
};

}  // namespace muster::fleet
