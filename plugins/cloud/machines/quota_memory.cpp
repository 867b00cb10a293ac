#include "plugins/cloud/machines/quota_memory.hpp"

namespace muster::cloud {
namespace {

constexpr std::chrono::minutes remembered_for{1};

}  // namespace

void QuotaMemory::used_up(const Machine& machine, const std::string& quota, Error error, Time now) {
  forget(now);
  Entry& entry = entries_[{machine.region, quota}];
  entry.error = std::move(error);
  entry.at = now;
  entry.told.insert(machine.type_and_market());
}

void QuotaMemory::forget(Time now) {
  std::erase_if(entries_,
                [&](const auto& entry) { return entry.second.at + remembered_for <= now; });
}

std::optional<Error> QuotaMemory::tell(const Machine& machine, const std::string& quota, Time now) {
  forget(now);
  const auto found = entries_.find({machine.region, quota});
  if (found == entries_.end() || !found->second.told.insert(machine.type_and_market()).second)
    return std::nullopt;
  Error error = found->second.error;
  error.scope = {};
  error.scope.region = machine.region;
  error.scope.instance_type = machine.type_and_market();
  return error;
}

}  // namespace muster::cloud
