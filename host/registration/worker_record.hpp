// What the fleet knows of a worker that registers, before its provider is asked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/registration/claim.hpp"
#include "host/registration/refusal.hpp"

namespace muster::fleet {
class Fleet;
struct LaunchConfigSpec;
}  // namespace muster::fleet

namespace muster::registration {

// The provider judges by this; its answer is valid as long as none of it changes.
struct WorkerRecord {
  std::string provider_data;
  std::shared_ptr<const fleet::LaunchConfigSpec> launch_config;  // null: none
  std::vector<std::string> pool_keys;  // the worker has to prove that it has one of these

  bool operator==(const WorkerRecord& other) const;
};

WorkerRecord worker_record(const fleet::Fleet& fleet, const Claim& claim);

std::optional<Refusal> check_pool_exists(const fleet::Fleet& fleet, const Claim& claim);
// Now, or before: workers that were launched earlier may still come.
std::optional<Refusal> check_pool_uses_provider(const fleet::Fleet& fleet, const Claim& claim);

Refusal worker_does_not_exist(const Claim& claim, const std::string& why = {});

}  // namespace muster::registration
