// From the files of worker configurations to the pools of the fleet, or to all that is wrong with
// them.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <muster/rules/configuration_set.hpp>

#include "host/fleet/model/configuration.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster::pools {

// A provider that cannot be asked at the moment: pools go on with what they have of it.
struct Wait {
  ProviderId provider_id;
  std::string reason;
  friend bool operator==(const Wait&, const Wait&) = default;
};

struct Outcome {
  // Null if there are errors among the problems, or undecided files.
  std::shared_ptr<const fleet::Configuration> configuration;
  rules::Problems problems;         // errors and warnings, sorted
  std::vector<Wait> waits;          // one for each provider
  std::set<std::string> undecided;  // files that nobody can judge before those providers answer
};

// Remembers what it has built, so that a small change costs little: what is the same as in the
// last configuration is the same object. THREADS: one at a time; what it returns may be read by
// any.
class Builder {
 public:
  explicit Builder(rules::Limits limits = {});
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  // Calls `expand` once for each launch document that changed, and a provider no more after it
  // failed for a reason that is not in the document.
  Outcome build(std::span<const rules::SourceFile> files, const std::string& revision,
                const ProviderContext& provider_context, const Expand& expand,
                const rules::WorkerTypeOwners& owners = {});

  struct State;  // its own business

 private:
  std::unique_ptr<State> state_;
};

// The pool of a worker type of a worker configuration.
WorkerPoolId worker_pool_of(const std::string& worker_type);

}  // namespace muster::pools
