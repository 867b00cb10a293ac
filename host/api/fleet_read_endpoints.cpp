// What the API shows of the fleet as it is now: pools, workers, launch configurations, holds.
#include <algorithm>

#include "host/api/fleet_json.hpp"
#include "host/api/handlers.hpp"
#include "host/api/list_pages.hpp"
#include "host/api/pool_list.hpp"
#include "host/api/query_parameters.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;
using fleet::Pool;
using fleet::Worker;

constexpr auto by_id = [](const Pool* a, const Pool* b) { return a->id < b->id; };

Answer show_pool(const Call& call, const Fleet& fleet, Now now) {
  const Pool* pool = fleet.find_pool(call.worker_pool_id());
  return pool ? json_answer(pool_detail(fleet, *pool, now)) : no_pool(call);
}

// -------------------------------------------------------------------------------------------------
// Workers

struct WantedWorkers {
  bool states[4] = {true, true, true, false};
  std::string launch_config, provider, search;
  std::int64_t before = INT64_MAX, offset = 0;

  bool fits(const Fleet& fleet, const Worker& worker) const {
    return worker.number < before && states[static_cast<std::size_t>(worker.state)] &&
           (launch_config.empty() ||
            fleet.launch_configs()[worker.launch_config]
                    .spec->launch_config.launch_config_id.str() == launch_config) &&
           (provider.empty() || fleet.providers()[worker.provider].id.str() == provider) &&
           (search.empty() || has_text(fleet, worker));
  }
  // In the worker's own name, or in its pool's.
  bool has_text(const Fleet& fleet, const Worker& worker) const {
    return contains_text(worker.worker_id, search) ||
           contains_text(fleet.pools()[worker.pool].id.str(), search) ||
           (worker.group != fleet::no_index &&
            contains_text(fleet.group_name(worker.group), search));
  }
};

Result<WantedWorkers> wanted_workers(const Call& call) {
  WantedWorkers wanted;
  wanted.launch_config = call.query().text("launchConfigId");
  wanted.provider = call.query().text("providerId");
  const auto before = call.query().number("before", INT64_MAX, 1, INT64_MAX);
  if (!before) return before.error();
  wanted.before = *before;
  const auto offset = call.query().number("offset", 0, 0, most_offset);
  if (!offset) return offset.error();
  wanted.offset = *offset;
  wanted.search = call.query().text("search");
  const auto states = call.query().all("state");
  if (states.empty()) return wanted;
  std::ranges::fill(wanted.states, false);
  for (const std::string& name : states) {
    const auto state = named<fleet::WorkerState>(name);
    if (!state) return not_one_of<fleet::WorkerState>("state");
    wanted.states[static_cast<std::size_t>(*state)] = true;
  }
  return wanted;
}

// Newest first, of one pool or of all.
Answer list_workers_of(const Call& call, const Fleet& fleet, const Pool* only) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto wanted = wanted_workers(call);
  if (!wanted) return to_failure(wanted.error());
  std::vector<const Worker*> chosen;
  const auto choose = [&](const Pool& pool) {
    for (const auto* list : {&pool.workers, &pool.stopped})
      for (const fleet::Index at : *list)
        if (wanted->fits(fleet, fleet.workers()[at])) chosen.push_back(&fleet.workers()[at]);
  };
  if (only) {
    choose(*only);
  } else {
    for (const Pool& pool : fleet.pools())
      if (!pool.removed()) choose(pool);
  }
  const std::size_t total = chosen.size();
  bool more = keep_page(chosen, static_cast<std::size_t>(wanted->offset), *limit,
                        [](const Worker* a, const Worker* b) { return a->number > b->number; });
  const Worker* last = nullptr;
  json::object answer{{"workers", page_of(chosen, more, last, [&](const Worker* worker) {
                         return worker_document(fleet, *worker);
                       })}};
  if (more) answer["next"] = last->number;
  answer["total"] = total;
  return json_answer(answer);
}

Answer list_workers(const Call& call, const Fleet& fleet, Now) {
  const Pool* pool = fleet.find_pool(call.worker_pool_id());
  return pool ? list_workers_of(call, fleet, pool) : no_pool(call);
}

Answer list_all_workers(const Call& call, const Fleet& fleet, Now) {
  const std::string id = call.query().text("workerPoolId");
  if (id.empty()) return list_workers_of(call, fleet, nullptr);
  if (const Pool* pool = fleet.find_pool(WorkerPoolId(id)))
    return list_workers_of(call, fleet, pool);
  return not_found("there is no worker pool " + id + "; see: muster pool list");
}

Failure no_worker(const Call& call) {
  return not_found("there is no worker " + call.parameter("workerGroup") + "/" +
                   call.parameter("workerId") +
                   "; those that stopped are forgotten after a day. See: muster workers");
}

Answer show_worker(const Call& call, const Fleet& fleet, Now) {
  const Worker* worker = fleet.find_worker(worker_of(call));
  return worker ? json_answer(worker_document(fleet, *worker)) : no_worker(call);
}

Answer find_workers(const Call& call, const Fleet& fleet, Now) {
  json::array workers;
  for (const Worker* worker : fleet.find_workers(WorkerGroup(call.parameter("workerGroup")),
                                                 WorkerId(call.parameter("workerId"))))
    workers.push_back(worker_document(fleet, *worker));
  return workers.empty() ? no_worker(call)
                         : json_answer(json::object{{"workers", std::move(workers)}});
}

// -------------------------------------------------------------------------------------------------
// Launch configurations

struct WantedLaunchConfigs {
  std::optional<fleet::LaunchConfigStatus> status;
  std::string provider, pool;
  std::string after_pool, after_id;  // of the one that was shown last
};

Result<WantedLaunchConfigs> wanted_launch_configs(const Call& call) {
  WantedLaunchConfigs wanted;
  wanted.provider = call.query().text("providerId");
  wanted.pool = call.query().text("workerPoolId");
  if (const auto given = call.query().find("status")) {
    wanted.status = named<fleet::LaunchConfigStatus>(*given);
    if (!wanted.status) return not_one_of<fleet::LaunchConfigStatus>("status");
  }
  const std::string after = call.query().text("after");
  const std::size_t slash = after.rfind('/');
  if (!after.empty() && slash == std::string::npos)
    return Error::invalid("`after` is what `next` of the page before said");
  if (after.empty()) return wanted;
  wanted.after_pool = after.substr(0, slash);
  wanted.after_id = after.substr(slash + 1);
  return wanted;
}

// Of one pool, in the order of their ids.
std::vector<fleet::Index> chosen_of(const Fleet& fleet, const Pool& pool,
                                    const WantedLaunchConfigs& wanted) {
  const auto id_of = [&](fleet::Index at) -> const std::string& {
    return fleet.launch_configs()[at].spec->launch_config.launch_config_id.str();
  };
  std::vector<fleet::Index> chosen;
  for (const fleet::Index at : pool.launch_configs) {
    const fleet::LaunchConfigState& state = fleet.launch_configs()[at];
    if (wanted.status && state.status != *wanted.status) continue;
    if (!wanted.provider.empty() && state.spec->provider_id.str() != wanted.provider) continue;
    if (pool.id.str() == wanted.after_pool && id_of(at) <= wanted.after_id) continue;
    chosen.push_back(at);
  }
  std::ranges::sort(chosen, {}, id_of);
  return chosen;
}

std::string name_of_last(const json::array& shown) {
  const json::object& last = shown.back().as_object();
  return std::string(last.at("workerPoolId").as_string()) + "/" +
         std::string(last.at("launchConfigId").as_string());
}

// In the order of pools and then of ids.
Answer list_launch_configs(const Call& call, const Fleet& fleet, Now now) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto wanted = wanted_launch_configs(call);
  if (!wanted) return to_failure(wanted.error());
  std::vector<const Pool*> pools;
  for (const Pool& pool : fleet.pools())
    if (!pool.removed() && pool.id.str() >= wanted->after_pool &&
        (wanted->pool.empty() || pool.id.str() == wanted->pool))
      pools.push_back(&pool);
  if (!wanted->pool.empty() && pools.empty() && wanted->after_pool.empty())
    return not_found("there is no worker pool " + wanted->pool + "; see: muster pools");
  std::ranges::sort(pools, by_id);
  json::array shown;
  http::PageBudget page;
  std::string next;
  const auto is_full = [&] { return shown.size() == *limit || page.is_full(); };
  for (const Pool* pool : pools) {
    const auto chosen = chosen_of(fleet, *pool, *wanted);
    if (is_full() && !chosen.empty()) next = name_of_last(shown);
    if (!next.empty()) break;
    const auto weights = fleet.weights_of(*pool, now.wall);
    for (const fleet::Index at : chosen) {
      if (is_full()) {
        next = name_of_last(shown);
        break;
      }
      shown.push_back(launch_config_document(fleet, at, weights, now));
      page.take(shown.back());
    }
  }
  json::object answer{{"launchConfigs", std::move(shown)}};
  if (!next.empty()) answer["next"] = next;
  return json_answer(answer);
}

Answer show_launch_config(const Call& call, const Fleet& fleet, Now now) {
  const Pool* pool = fleet.find_pool(call.worker_pool_id());
  if (!pool) return no_pool(call);
  const std::string& id = call.parameter("launchConfigId");
  for (const fleet::Index at : pool->launch_configs)
    if (fleet.launch_configs()[at].spec->launch_config.launch_config_id.str() == id)
      return json_answer(launch_config_detail(fleet, *pool, at, now));
  return not_found("worker pool " + pool->id.str() + " has no launch configuration " + id +
                   "; see: muster pool " + pool->id.str());
}

// -------------------------------------------------------------------------------------------------
// Holds

Answer list_holds(const Call& call, const Fleet& fleet, Now) {
  json::array holds;
  for (const bidding::Hold& hold : fleet.holds())
    if (const auto provider = call.query().find("providerId");
        !provider || hold.provider_id.str() == *provider)
      holds.push_back(hold_document(hold));
  return json_answer(json::object{{"holds", std::move(holds)}});
}

Answer list_providers(const Call&, const Fleet& fleet, Now) {
  json::array providers;
  for (const fleet::ProviderState& provider : fleet.providers())
    providers.push_back(provider_document(fleet, provider));
  return json_answer(json::object{{"providers", std::move(providers)}});
}

}  // namespace

std::vector<Endpoint> fleet_read_endpoints() {
  return {
      {.name = "listPools",
       .method = "GET",
       .path = base + "/pools",
       .scopes = all_of({"muster:get:pools"}),
       .handler = list_pools,
       .query = {parameter::limit, parameter::after, parameter::verdict, parameter::search,
                 parameter::of_provider, parameter::pool_sort, parameter::offset},
       .output = "PoolList",
       .errors = {bad_input, unavailable},
       .category = "pools",
       .title = "Worker pools in the order of their names, or in another one"},
      {.name = "getPool",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = show_pool,
       .output = "PoolDetail",
       .errors = {missing, unavailable},
       .category = "pools",
       .title = "A pool with its launch configurations, their weights and the arithmetic"},
      {.name = "listWorkers",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/workers",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = list_workers,
       .query = {parameter::limit, parameter::before, parameter::worker_state,
                 parameter::of_launch_config, parameter::of_provider, parameter::search,
                 parameter::offset},
       .output = "WorkerList",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "Workers of a pool, the newest first"},
      {.name = "listAllWorkers",
       .method = "GET",
       .path = base + "/workers",
       .scopes = all_of({"muster:get:workers"}),
       .handler = list_all_workers,
       .query = {parameter::limit, parameter::before, parameter::worker_state, parameter::of_pool,
                 parameter::of_launch_config, parameter::of_provider, parameter::search,
                 parameter::offset},
       .output = "WorkerList",
       .errors = {bad_input, missing, unavailable},
       .category = "workers",
       .title = "Workers of all pools, the newest first"},
      {.name = "getWorker",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/workers/{workerGroup}/{workerId}",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = show_worker,
       .output = "Worker",
       .errors = {missing, unavailable},
       .category = "workers",
       .title = "A worker of a pool"},
      {.name = "findWorkers",
       .method = "GET",
       .path = base + "/workers/{workerGroup}/{workerId}",
       .scopes = all_of({"muster:get:workers"}),
       .handler = find_workers,
       .output = "FoundWorkers",
       .errors = {missing, unavailable},
       .category = "workers",
       .title = "The worker of that name, whatever its pool"},
      {.name = "listLaunchConfigs",
       .method = "GET",
       .path = base + "/launch-configs",
       .scopes = all_of({"muster:get:launch-configs"}),
       .handler = list_launch_configs,
       .query = {parameter::limit, parameter::after, parameter::of_pool, parameter::of_provider,
                 parameter::launch_config_status},
       .output = "LaunchConfigList",
       .errors = {bad_input, missing, unavailable},
       .category = "launch configurations",
       .title = "Launch configurations of all pools, in the order of pools and ids"},
      {.name = "getLaunchConfig",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/launch-configs/{launchConfigId}",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = show_launch_config,
       .output = "LaunchConfigDetail",
       .errors = {missing, unavailable},
       .category = "launch configurations",
       .title = "A launch configuration, its document, and what holds it back"},
      {.name = "listHolds",
       .method = "GET",
       .path = base + "/holds",
       .scopes = all_of({"muster:get:holds"}),
       .handler = list_holds,
       .query = {parameter::of_provider},
       .output = "HoldList",
       .errors = {bad_input, unavailable},
       .category = "providers",
       .title = "What is not tried for a while, and why"},
      {.name = "listProviders",
       .method = "GET",
       .path = base + "/providers",
       .scopes = all_of({"muster:get:providers"}),
       .handler = list_providers,
       .output = "ProviderList",
       .errors = {bad_input, unavailable},
       .category = "providers",
       .title = "The providers as the fleet sees them: limits, throttle, trouble"},
  };
}

}  // namespace muster::api
