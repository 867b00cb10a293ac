#include "host/fleet/state/protected_rows.hpp"

#include <algorithm>
#include <charconv>

#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using Entry = store::SetAside::Entry;

// Null if the row has no such column.
const store::Value* column(const Entry& entry, std::string_view name) {
  const auto& columns = entry.table->columns;
  for (std::size_t i = 0; i < columns.size() && i < entry.row.size(); ++i)
    if (columns[i].name == name) return &entry.row[i];
  return nullptr;
}

std::string text_in(const Entry& entry, std::string_view name) {
  const store::Value* value = column(entry, name);
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? *text : std::string();
}

std::optional<std::int64_t> number_in(const Entry& entry, std::string_view name) {
  const store::Value* value = column(entry, name);
  const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

std::string name_of_instance(const std::string& provider, const std::string& group,
                             const std::string& worker) {
  return provider + "\n" + group + "\n" + worker;
}

// "host-7-123" → 123
std::optional<std::int64_t> number_of(const IdempotencyKey& key) {
  const std::string& text = key.str();
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, wrong] = std::from_chars(text.data() + dash + 1, end, number);
  return wrong == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

std::int64_t sum_of(const std::map<std::string, std::int64_t>& sums, const std::string& key) {
  const auto found = sums.find(key);
  return found == sums.end() ? 0 : found->second;
}

}  // namespace

ProtectedRows::ProtectedRows(const store::SetAside& rows) : unidentified_(rows.has_more()) {
  for (const Entry& entry : rows.list()) {
    if (entry.table == &store::table_of<WorkerRow>) add_worker(entry);
    if (entry.table != &store::table_of<PoolRow> &&
        entry.table != &store::table_of<LaunchConfigRow> &&
        entry.table != &store::table_of<ApiPoolRow>)
      continue;
    const std::string id = text_in(entry, "workerPoolId");
    unidentified_ = unidentified_ || id.empty();
    pools_.insert(id);
  }
}

void ProtectedRows::add_worker(const Entry& entry) {
  const auto number = number_in(entry, "number");
  const std::string provider = text_in(entry, "providerId");
  if (number) numbers_.insert(*number);
  if (!number || provider.empty()) unidentified_ = true;
  if (text_in(entry, "state") == "stopped") return;
  const std::int64_t capacity =
      std::clamp<std::int64_t>(number_in(entry, "capacity").value_or(1), 1, largest_capacity);
  by_pool_[text_in(entry, "workerPoolId")] += capacity;
  by_provider_[provider] += capacity;
  instances_.insert(
      name_of_instance(provider, text_in(entry, "workerGroup"), text_in(entry, "workerId")));
}

std::int64_t ProtectedRows::capacity_of(const WorkerPoolId& pool) const {
  return sum_of(by_pool_, pool.str());
}

std::int64_t ProtectedRows::capacity_of(const ProviderId& provider) const {
  return sum_of(by_provider_, provider.str());
}

bool ProtectedRows::may_own(const ProviderId& provider, const Instance& instance) const {
  if (unidentified_ || pools_.contains(instance.worker_pool_id.str())) return true;
  if (const auto number = number_of(instance.idempotency_key); number && has_worker(*number))
    return true;
  return instances_.contains(
      name_of_instance(provider.str(), instance.worker_group.str(), instance.worker_id.str()));
}

}  // namespace muster::fleet
