#include "plugins/cloud/machines/quota_memory.hpp"

namespace muster::cloud {
namespace {

constexpr std::chrono::minutes remembered_for{1};

}  // namespace

void QuotaMemory::used_up(const std::string& region, const std::string& quota, Error error,
                          Time now) {
  entries_.insert_or_assign({region, quota}, Entry{std::move(error), now});
}

std::optional<Error> QuotaMemory::find(const Machine& machine, const std::string& quota, Time now) {
  if (entries_.empty()) return std::nullopt;
  std::erase_if(entries_,
                [&](const auto& entry) { return entry.second.at + remembered_for <= now; });
  const auto found = entries_.find({machine.region, quota});
  if (found == entries_.end()) return std::nullopt;
  Error error = found->second.error;
  error.scope = {};
  error.scope.region = machine.region;
  error.scope.instance_type = machine.type_and_market();
  return error;
}

}  // namespace muster::cloud
