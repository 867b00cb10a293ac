#include "cli/import/pools.hpp"

#include <algorithm>

#include "cli/import/documents.hpp"

namespace muster::importing {
namespace {

constexpr std::pair<const char*, const char*> other_names[] = {
    {"pool_id", "workerPoolId"}, {"provider_id", "providerId"}, {"email_on_error", "emailOnError"}};

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

const json::array* list_in(const json::object& document, std::string_view key) {
  const json::value* value = document.if_contains(key);
  return value ? value->if_array() : nullptr;
}

void add_pool(const json::value& item, std::vector<TaskclusterPool>& pools, Report& report) {
  const json::object* given = item.if_object();
  // Other things that tc-admin makes, such as roles.
  if (given && given->contains("kind") && text_in(*given, "kind") != "WorkerPool") return;
  json::object document = given ? *given : json::object();
  for (const auto& [other, name] : other_names)
    if (document.contains(other) && !document.contains(name))
      document[name] = take(document, other);
  const std::string id = text_in(document, "workerPoolId");
  const auto refuse = [&](const std::string& name, const char* why) {
    report.pools.push_back({.worker_pool_id = name, .refused = why});
  };
  if (!is_worker_pool_id(id))
    return refuse("pool " + std::to_string(report.pools.size() + pools.size() + 1),
                  "its workerPoolId is no provisionerId/workerType as Taskcluster has them");
  if (std::ranges::any_of(pools, [&](const auto& pool) { return pool.worker_pool_id == id; }))
    return refuse(id, "it is there twice; only the first is imported");
  pools.push_back({id, std::move(document)});
}

}  // namespace

bool is_worker_pool_id(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos) return false;
  const std::string_view provisioner = text.substr(0, slash), type = text.substr(slash + 1);
  const auto in_provisioner = [](char c) {
    return is_small_letter(c) || is_decimal(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  const auto in_type = [](char c) { return is_small_letter(c) || is_decimal(c) || c == '-'; };
  return !provisioner.empty() && provisioner.size() <= 38 && !type.empty() && type.size() <= 38 &&
         std::ranges::all_of(provisioner, in_provisioner) && std::ranges::all_of(type, in_type) &&
         is_small_letter(type.front()) && type.back() != '-';
}

Result<void> add_pools(const json::value& document, std::vector<TaskclusterPool>& pools,
                       Report& report) {
  const json::object* object = document.if_object();
  const json::array* list = document.if_array();
  for (const char* key : {"workerPools", "resources", "pools"})
    if (object && !list) list = list_in(*object, key);
  if (!list && object && (object->contains("workerPoolId") || object->contains("pool_id"))) {
    add_pool(document, pools, report);
    return {};
  }
  if (!list)
    return Error::invalid(
        "it holds no worker pools; expected an answer of worker-manager's listWorkerPools or "
        "workerPool, a list of pools, or what `tc-admin generate --json` prints");
  for (const json::value& item : *list) {
    if (pools.size() + report.pools.size() >= most_pools)
      return Error::invalid("it holds more than " + std::to_string(most_pools) + " worker pools");
    add_pool(item, pools, report);
  }
  return {};
}

}  // namespace muster::importing
