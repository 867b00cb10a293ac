// Worker pools: made, changed, shown and counted.
#include <algorithm>
#include <map>

#include "host/fleet/fleet.hpp"
#include "host/fleet/service.hpp"
#include "host/identifiers/identifiers.hpp"
#include "host/pools/api_pool.hpp"
#include "host/taskcluster_api/documents.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"

namespace muster::taskcluster_api {
namespace {

using fleet::Fleet;
using fleet::Now;
using fleet::Pool;

constexpr char pool_token = 'p';
constexpr std::string_view no_such_pool = "Worker pool does not exist";
constexpr std::size_t usual_pool_bytes = 2048;

std::string shown(const Fleet& fleet, const WorkerPoolId& id) {
  PrettyText text(usual_pool_bytes);
  write_pool(text, fleet, *fleet.find_pool(id));
  return text.take();
}

// -------------------------------------------------------------------------------------------------
// Changing

std::optional<Failure> refuse_provider(const Parts& parts, const std::string& id) {
  if (id == pools::null_provider) return std::nullopt;
  const std::vector<ProviderInfo> providers = parts.providers();
  const auto found = std::ranges::find(providers, ProviderId(id), &ProviderInfo::id);
  if (found == providers.end()) return input_error("Invalid Provider");
  if (!found->running)
    return Failure{"ProviderSetupFailed", "Provider backend may be down or misconfigured"};
  return std::nullopt;
}

// What its maker said, without what is ours or only shown.
json::object definition_of(const json::object& body) {
  json::object definition;
  for (const char* key : {"providerId", "description", "config", "owner", "emailOnError"})
    definition[key] = body.at(key);
  return definition;
}

struct NewPool {
  std::shared_ptr<const fleet::PoolSpec> spec;
  json::object document;
};

// Writes into each launch configuration of the document the id that it got, where it has just one:
// clients that send back what they were shown then speak of the same ones.
void name_launch_configs(json::object& document, const fleet::PoolSpec& spec,
                         const std::vector<std::size_t>& expanded) {
  json::value* list = document.at("config").as_object().if_contains("launchConfigs");
  if (!list || !list->is_array() || list->get_array().size() != expanded.size()) return;
  std::size_t next = 0;
  for (std::size_t i = 0; i < expanded.size(); next += expanded[i++]) {
    if (expanded[i] != 1 || next >= spec.launch_configs.size()) continue;
    json::object& item = list->get_array()[i].as_object();
    json::value& own = item["workerManager"];
    if (!own.is_object()) own = json::object();
    own.get_object()["launchConfigId"] =
        spec.launch_configs[next]->launch_config.launch_config_id.str();
  }
}

boost::system::result<NewPool, Failure> make_pool(const Call& call) {
  NewPool made{nullptr, definition_of(call.body())};
  std::vector<std::size_t> expanded;
  const auto counting = [&](const ProviderId& id, const ExpandRequest& request) {
    auto expansion = parts_of(call).expand(id, request);
    if (expansion) expanded.push_back(expansion->launch_documents.size());
    return expansion;
  };
  auto spec = pools::pool_from_api(call.worker_pool_id(), made.document,
                                   parts_of(call).provider_context(), counting);
  if (!spec) {
    const Error& error = spec.error();
    if (error.code == "providerId") return input_error("Invalid Provider");
    if (error.code == "duplicateLaunchConfigId") return conflict(error.message);
    if (error.error_class == ErrorClass::invalid)
      return Failure{"InputValidationError", error.message};
    return Failure{"ProviderSetupFailed",
                   "Provider backend may be down or misconfigured: " + error.message};
  }
  name_launch_configs(made.document, *spec, expanded);
  made.spec = std::make_shared<const fleet::PoolSpec>(std::move(*spec));
  return made;
}

// A launch configuration is the same for ever, but for what muster itself reads of it.
bool same_launch(const fleet::LaunchConfigSpec& a, const fleet::LaunchConfigSpec& b) {
  const auto core = [](json::object document) {
    document.erase("workerManager");
    document.erase("workerConfig");
    return document;
  };
  return a.provider_id == b.provider_id && a.launch_config.placement == b.launch_config.placement &&
         core(a.launch_config.document) == core(b.launch_config.document);
}

std::optional<Failure> refuse_reused_ids(const Fleet& fleet, const NewPool& made) {
  const Pool* pool = fleet.find_pool(made.spec->worker_pool_id);
  if (!pool) return std::nullopt;
  std::map<std::string_view, const fleet::LaunchConfigSpec*> known;
  for (const fleet::Index at : pool->launch_configs) {
    const fleet::LaunchConfigSpec& spec = *fleet.launch_configs()[at].spec;
    known[spec.launch_config.launch_config_id.str()] = &spec;
  }
  for (const auto& spec : made.spec->launch_configs) {
    const std::string& id = spec->launch_config.launch_config_id.str();
    const auto found = known.find(id);
    if (found != known.end() && !same_launch(*found->second, *spec))
      return conflict("Launch config with ID `" + id +
                      "` already exists with different configuration");
  }
  return std::nullopt;
}

// A pool of a file belongs to its file.
std::optional<Failure> refuse_file_pool(const Fleet& fleet, const WorkerPoolId& id) {
  const Pool* pool = fleet.find_pool(id);
  if (!pool || !pool->spec || pool->spec->origin.empty()) return std::nullopt;
  return conflict("Worker pool " + id.str() + " comes from the worker configuration " +
                  pool->spec->origin + ": edit it there");
}

Answer put_pool(Fleet& fleet, const NewPool& made, Now now) {
  if (auto refusal = refuse_reused_ids(fleet, made)) return *refusal;
  const WorkerPoolId& id = made.spec->worker_pool_id;
  if (const auto done = fleet.put_api_pool(made.spec, made.document, now); !done)
    return to_failure(done.error());
  return shown(fleet, id);
}

// What both have in common: the provider is asked on a thread that may wait, then the fleet takes
// the pool if `may` allows it.
using May = std::function<std::optional<Answer>(const Fleet&, const NewPool&)>;

void put(const CallPtr& call, May may) {
  const std::string provider = call->text("providerId");
  if (!can_change(call)) return;
  if (const auto refusal = refuse_provider(parts_of(*call), provider)) return call->fail(*refusal);
  visit_fleet(call, [call, may = std::move(may)](const Fleet& now_there, Now) {
    // An edit in the wrong place is refused before it is checked.
    if (const auto refusal = refuse_file_pool(now_there, call->worker_pool_id()))
      return call->fail(*refusal);
    run_on_worker(call, [call, may] {
      auto made = make_pool(*call);
      if (!made) return call->fail(made.error());
      change_fleet(call, [call, made = std::move(*made), may](Fleet& fleet, Now now) -> Answer {
        if (auto refusal = refuse_file_pool(fleet, made.spec->worker_pool_id)) return *refusal;
        if (auto refusal = refuse_current_providers(*call, fleet)) return *refusal;
        if (auto answer = may(fleet, made)) return *answer;
        return put_pool(fleet, made, now);
      });
    });
  });
}

}  // namespace

void create_worker_pool(const CallPtr& call) {
  put(call, [](const Fleet& fleet, const NewPool& made) -> std::optional<Answer> {
    const WorkerPoolId& id = made.spec->worker_pool_id;
    const fleet::ApiPoolRow* there = fleet.find_api_pool(id);
    if (!there) return std::nullopt;
    if (there->document == made.document) return Answer(shown(fleet, id));
    return Answer(conflict("Worker pool already exists"));
  });
}

void update_worker_pool(const CallPtr& call) {
  put(call, [call](const Fleet& fleet, const NewPool& made) -> std::optional<Answer> {
    const json::value* named = call->body().if_contains("workerPoolId");
    if (named && named->as_string() != made.spec->worker_pool_id.str())
      return Answer(input_error("Incorrect workerPoolId in request body"));
    if (!fleet.find_api_pool(made.spec->worker_pool_id))
      return Answer(not_found(std::string(no_such_pool)));
    return std::nullopt;
  });
}

void delete_worker_pool(const CallPtr& call) {
  change_fleet(call, [id = call->worker_pool_id()](Fleet& fleet, Now now) -> Answer {
    if (auto refusal = refuse_file_pool(fleet, id)) return *refusal;
    const fleet::ApiPoolRow* there = fleet.find_api_pool(id);
    const Pool* pool = fleet.find_pool(id);
    if (!there || !pool || !pool->spec) return not_found(std::string(no_such_pool));
    NewPool ended{nullptr, there->document};
    auto spec = std::make_shared<fleet::PoolSpec>(*pool->spec);
    spec->providers.clear();
    spec->launch_configs.clear();
    ended.spec = std::move(spec);
    ended.document["providerId"] = pools::null_provider;
    json::object& config = ended.document.at("config").as_object();
    if (config.contains("launchConfigs")) config["launchConfigs"] = json::array();
    return put_pool(fleet, ended, now);
  });
}

// -------------------------------------------------------------------------------------------------
// Showing

Answer worker_pool(const Call& call, const Fleet& fleet, Now) {
  const WorkerPoolId id = call.worker_pool_id();
  if (!fleet.find_pool(id)) return not_found(std::string(no_such_pool));
  return shown(fleet, id);
}

void worker_pool_stats(const CallPtr& call) {
  read_fleet(call, [id = call->worker_pool_id()](const Fleet& fleet, Now) -> Answer {
    const Pool* pool = fleet.find_pool(id);
    if (!pool) return not_found(std::string(no_such_pool));
    std::map<std::string_view, Counts> counts;
    for (const fleet::Index at : pool->launch_configs) {
      const fleet::LaunchConfigState& state = fleet.launch_configs()[at];
      if (state.status != fleet::LaunchConfigStatus::archived)
        counts[state.spec->launch_config.launch_config_id.str()];
    }
    for (const auto* list : {&pool->workers, &pool->stopped})
      for (const fleet::Index at : *list) {
        const fleet::Worker& worker = fleet.workers()[at];
        counts[fleet.launch_configs()[worker.launch_config]
                   .spec->launch_config.launch_config_id.str()]
            .add(worker);
      }
    PrettyText text(usual_pool_bytes);
    text.begin_object().key("launchConfigStats").begin_array();
    for (const auto& [launch_config, of_it] : counts) {
      text.item().begin_object().key("workerPoolId").string(id.str());
      text.key("launchConfigId").string(launch_config);
      write_counts(text, of_it);
      text.end_object();
    }
    return text.end_array().end_object().take();
  });
}

namespace {

// Pools by their names, one page of them.
template <class Write>
void list_pools(const CallPtr& call, const char* name, Write write) {
  const auto after = key_of_token(*call, pool_token);
  if (!after) return call->fail(after.error());
  if (*after && !identifiers::is_worker_pool_id(**after))
    return call->fail(input_error("Invalid continuation token"));
  read_fleet(
      call,
      [after = *after, limit = limit_of(*call), name, write](const Fleet& fleet, Now) -> Answer {
        std::vector<const Pool*> pools;
        for (const Pool& pool : fleet.pools())
          if (is_shown(pool) && (!after || pool.id.str() > *after)) pools.push_back(&pool);
        const bool more = pools.size() > limit;
        const auto end = pools.begin() + static_cast<std::ptrdiff_t>(std::min(limit, pools.size()));
        std::ranges::partial_sort(
            pools, end, {}, [](const Pool* pool) -> auto& { return pool->id; });
        pools.erase(end, pools.end());
        PrettyText text(pools.size() * usual_pool_bytes);
        text.begin_object().key(name).begin_array();
        auto last = write_page(
            text, pools, [&](PrettyText& item, const Pool* pool) { write(item, fleet, *pool); });
        if (!last && more && !pools.empty()) last = &pools.back();
        text.end_array();
        if (last) text.key("continuationToken").string(make_token(pool_token, (*last)->id.str()));
        return text.end_object().take();
      });
}

}  // namespace

void list_worker_pools(const CallPtr& call) {
  list_pools(call, "workerPools", write_pool);
}

void list_worker_pools_stats(const CallPtr& call) {
  list_pools(call, "workerPoolsStats", [](PrettyText& text, const Fleet& fleet, const Pool& pool) {
    text.begin_object().key("workerPoolId").string(pool.id.str());
    write_counts(text, count_workers(fleet, pool));
    text.end_object();
  });
}

}  // namespace muster::taskcluster_api
