// Workers: listed, declared, removed, and told whether they should end.
#include <algorithm>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/fleet/service.hpp"
#include "host/registration/claim.hpp"
#include "host/taskcluster_api/documents.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"
#include "lib/base/secret.hpp"

namespace muster::taskcluster_api {
namespace {

using fleet::Fleet;
using fleet::Now;
using fleet::Pool;
using fleet::Worker;
using fleet::WorkerName;
using fleet::WorkerState;

constexpr char worker_token = 'w';
constexpr std::size_t usual_worker_bytes = 512;

WorkerName name_of(const Call& call) {
  return {call.worker_pool_id(), WorkerGroup(call.parameter("workerGroup")),
          WorkerId(call.parameter("workerId"))};
}

WorkerPoolId joined_pool_id(const Call& call) {
  return WorkerPoolId(call.parameter("provisionerId") + "/" + call.parameter("workerType"));
}

std::string group_and_id(const WorkerName& name) {
  return name.worker_group.str() + "/" + name.worker_id.str();
}

// -------------------------------------------------------------------------------------------------
// Lists

struct WantedWorkers {
  WorkerPoolId pool;
  std::optional<std::int64_t> before = {};  // the number of the last one that was shown
  std::size_t limit = 0;
  std::optional<std::string> group = {}, launch_config = {}, state = {};
  std::optional<bool> quarantined = {};
};

bool fits(const Fleet& fleet, const Worker& worker, const WantedWorkers& wanted, Time now) {
  if (!has_name(worker) || (wanted.before && worker.number >= *wanted.before)) return false;
  if (wanted.group && fleet.group_name(worker.group) != *wanted.group) return false;
  if (wanted.state && muster::name_of(shown_state(worker)) != *wanted.state) return false;
  if (wanted.quarantined && (worker.in_quarantine_until() > now) != *wanted.quarantined)
    return false;
  if (!wanted.launch_config) return true;
  const auto& spec = fleet.launch_configs()[worker.launch_config].spec;
  return spec && spec->launch_config.launch_config_id.str() == *wanted.launch_config;
}

// The newest first: numbers grow with time.
template <class Write>
std::string list(const Fleet& fleet, const Pool* pool, const WantedWorkers& wanted, Time now,
                 Write write) {
  std::vector<const Worker*> workers;
  if (pool)
    for (const auto* indexes : {&pool->workers, &pool->stopped})
      for (const fleet::Index at : *indexes)
        if (fits(fleet, fleet.workers()[at], wanted, now)) workers.push_back(&fleet.workers()[at]);
  const bool more = workers.size() > wanted.limit;
  const auto end =
      workers.begin() + static_cast<std::ptrdiff_t>(std::min(wanted.limit, workers.size()));
  std::ranges::partial_sort(workers, end, std::ranges::greater(),
                            [](const Worker* worker) { return worker->number; });
  workers.erase(end, workers.end());
  PrettyText text((workers.size() + 1) * usual_worker_bytes);
  text.begin_object().key("workers").begin_array();
  auto last = write_page(text, workers, [&](PrettyText& item, const Worker* worker) {
    write(item, fleet, *worker, now);
  });
  if (!last && more && !workers.empty()) last = &workers.back();
  text.end_array();
  if (last)
    text.key("continuationToken").string(make_token(worker_token, std::to_string((*last)->number)));
  return text.end_object().take();
}

std::optional<std::string> query_text(const Call& call, std::string_view name) {
  const auto value = call.query().find(name);
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

// Nothing, and the call answered, if its token is wrong.
std::optional<WantedWorkers> wanted_of(const CallPtr& call, WorkerPoolId pool) {
  const auto before = number_of_token(*call, worker_token);
  if (!before) {
    call->fail(before.error());
    return std::nullopt;
  }
  WantedWorkers wanted{.pool = std::move(pool), .before = *before, .limit = limit_of(*call)};
  wanted.launch_config = query_text(*call, "launchConfigId");
  return wanted;
}

}  // namespace

void list_workers_for_worker_pool(const CallPtr& call) {
  auto wanted = wanted_of(call, call->worker_pool_id());
  if (!wanted) return;
  wanted->state = query_text(*call, "state");
  read_fleet(call, [wanted = std::move(*wanted)](const Fleet& fleet, Now now) -> Answer {
    const Pool* pool = fleet.find_pool(wanted.pool);
    if (!pool) return not_found("Worker Pool does not exist");
    return list(fleet, pool, wanted, now.wall, write_worker);
  });
}

void list_workers_for_worker_group(const CallPtr& call) {
  auto wanted = wanted_of(call, call->worker_pool_id());
  if (!wanted) return;
  wanted->group = call->parameter("workerGroup");
  read_fleet(call, [wanted = std::move(*wanted)](const Fleet& fleet, Now now) -> Answer {
    return list(fleet, fleet.find_pool(wanted.pool), wanted, now.wall, write_worker);
  });
}

void list_workers(const CallPtr& call) {
  auto wanted = wanted_of(call, joined_pool_id(*call));
  if (!wanted) return;
  wanted->state = query_text(*call, "workerState");
  if (const auto flag = call->query().find("quarantined")) wanted->quarantined = *flag == "true";
  const worker_state::Service* runs = parts_of(*call).runs;
  read_fleet(call, [wanted = std::move(*wanted), runs](const Fleet& fleet, Now now) -> Answer {
    return list(fleet, fleet.find_pool(wanted.pool), wanted, now.wall,
                [runs](PrettyText& text, const Fleet& of, const Worker& worker, Time at) {
                  write_queue_worker(text, of, worker, at, runs, false);
                });
  });
}

// -------------------------------------------------------------------------------------------------
// One worker

namespace {

std::string shown(const Fleet& fleet, const WorkerName& name, Now now) {
  PrettyText text(usual_worker_bytes);
  write_worker(text, fleet, *fleet.find_worker(name), now.wall);
  return text.take();
}

}  // namespace

Answer worker(const Call& call, const Fleet& fleet, Now now) {
  const WorkerName name = name_of(call);
  if (!fleet.find_worker(name)) return not_found("Worker not found");
  return shown(fleet, name, now);
}

Answer get_worker(const Call& call, const Fleet& fleet, Now now) {
  const WorkerName name{joined_pool_id(call), WorkerGroup(call.parameter("workerGroup")),
                        WorkerId(call.parameter("workerId"))};
  const Worker* worker = fleet.find_worker(name);
  // One that is on its way has claimed nothing, so that a queue would not know it.
  if (!worker || worker->state == WorkerState::requested)
    return not_found("Worker with workerId `" + name.worker_id.str() + "`, workerGroup `" +
                     name.worker_group.str() + "`,worker-type `" + call.parameter("workerType") +
                     "` and provisioner `" + call.parameter("provisionerId") +
                     "` not found. Are you sure it was created?");
  PrettyText text(usual_worker_bytes);
  write_queue_worker(text, fleet, *worker, now.wall, parts_of(call).runs, true);
  return text.take();
}

bool is_worker_itself(const Call& call) {
  const registration::Claim claim{name_of(call), {}};
  return call.client_id().starts_with("worker/") && call.client_id().ends_with("/" + claim.key());
}

FleetChangeOrFailure remove_worker(const Call& call) {
  return FleetChange([name = name_of(call), by = call.client_id(),
                      providers = parts_of(call).providers()](Fleet& fleet, Now now) -> Answer {
    const Worker* worker = fleet.find_worker(name);
    if (!worker) return not_found("Worker not found");
    const ProviderId& provider = fleet.providers()[worker->provider].id;
    const bool itself = by == registration::Claim{name, provider}.client_id();
    // Nobody could end it. One that is only down is asked when it is up again.
    if (!itself && std::ranges::find(providers, provider, &ProviderInfo::id) == providers.end())
      return not_found("Provider " + provider.str() + " for this worker does not exist");
    const auto removed =
        itself ? fleet.sign_off(name, "the worker has signed off", now)
               : fleet.remove_worker(name, "workerManager.removeWorker API call", now);
    return removed ? Answer("{}") : to_failure(removed.error());
  });
}

namespace {

std::string advice(bool terminate, std::string_view reason) {
  PrettyText text;
  text.begin_object().key("terminate").boolean(terminate);
  text.key("reason").string(reason.empty() ? "none" : reason);
  return text.end_object().take();
}

// What can be said of it without deciding anything.
Answer advice_of(const Fleet& fleet, const WorkerName& name) {
  const Worker* worker = fleet.find_worker(name);
  if (!worker) return not_found("Worker not found");
  const bool ends = worker->state == WorkerState::stopping ||
                    worker->state == WorkerState::stopped || worker->is_draining_out();
  return advice(ends, ends || worker->drain != fleet::Drain::none ? worker->reason : "needed");
}

}  // namespace

// The answer need not be durable: a host that has forgotten it decides again when it is asked
// again.
void should_worker_terminate(const CallPtr& call) {
  const WorkerName name = name_of(*call);
  fleet::Service* fleet = parts_of(*call).fleet;
  if (!fleet || !fleet->store_health().ok)
    return read_fleet(call, [name](const Fleet& of, Now) { return advice_of(of, name); });
  post_to_fleet(call, [call, name](Fleet& of, Now now) {
    if (!of.find_worker(name)) return call->fail(not_found("Worker not found"));
    const auto should = of.should_terminate(name, now);
    call->finish(should ? Answer(advice(should->terminate, should->reason))
                        : Answer(to_failure(should.error())));
  });
}

// -------------------------------------------------------------------------------------------------
// Declared workers

namespace {

// The pool's provider that takes declared workers, or why there is none.
boost::system::result<ProviderId, Failure> declaring_provider(
    const Fleet& fleet, const WorkerPoolId& pool_id, const std::vector<ProviderInfo>& providers) {
  const Pool* pool = fleet.find_pool(pool_id);
  if (!pool || !pool->spec) return not_found("Worker pool " + pool_id.str() + " does not exist");
  Failure why = input_error("not supported for this provider");
  for (const ProviderId& id : pool->spec->providers) {
    const auto found = std::ranges::find(providers, id, &ProviderInfo::id);
    if (found == providers.end())
      why = not_found("Provider " + id.str() + " for worker pool " + pool_id.str() +
                      " does not exist");
    else if (!found->running)
      why = {"ProviderSetupFailed", "Provider backend may be down or misconfigured"};
    else if (found->declares)
      return id;
  }
  return why;
}

std::optional<std::string> static_secret(const json::object& body) {
  const json::value* info = body.if_contains("providerInfo");
  if (!info || !info->is_object()) return std::nullopt;
  const json::value* secret = info->get_object().if_contains("staticSecret");
  if (!secret) return std::nullopt;
  return std::string(secret->as_string());
}

// Of the secret only its digest is kept.
json::object provider_data(const std::string& secret) {
  return {{"v", 1}, {"staticSecretSha256", to_hex(sha256(secret))}};
}

// A whole number by the schema, but of any size and perhaps written as 2.0.
std::int64_t capacity_in(const json::object& body) {
  const json::value* capacity = body.if_contains("capacity");
  if (!capacity) return 1;
  return static_cast<std::int64_t>(std::clamp(capacity->to_number<double>(), 1.0, 1e9));
}

fleet::DeclaredWorker declared_worker(const Call& call) {
  fleet::DeclaredWorker declared;
  declared.name = name_of(call);
  declared.capacity = capacity_in(call.body());
  // The beginning of time means something else to the fleet; both are past.
  const Time earliest(std::chrono::milliseconds(1));
  declared.expires = std::max(parse_time(call.text("expires")).value_or(earliest), earliest);
  if (const auto secret = static_secret(call.body()))
    declared.provider_data = provider_data(*secret);
  return declared;
}

}  // namespace

void create_worker(const CallPtr& call) {
  change_fleet(
      call, [call, providers = parts_of(*call).providers()](Fleet& fleet, Now now) -> Answer {
        fleet::DeclaredWorker declared = declared_worker(*call);
        const Pool* pool = fleet.find_pool(declared.name.worker_pool_id);
        if (pool && declared.expires <= now.wall)
          return input_error("worker.expires must be in the future");
        const auto provider = declaring_provider(fleet, declared.name.worker_pool_id, providers);
        if (!provider) return provider.error();
        if (declared.provider_data.empty()) return input_error("no worker staticSecret provided");
        declared.provider_id = *provider;
        if (const auto done = fleet.declare_worker(declared, now); !done) {
          Failure failure = to_failure(done.error());
          if (done.error().code == "conflict") failure.message = "Worker already exists";
          return failure;
        }
        return shown(fleet, declared.name, now);
      });
}

void update_worker(const CallPtr& call) {
  change_fleet(
      call, [call, providers = parts_of(*call).providers()](Fleet& fleet, Now now) -> Answer {
        fleet::DeclaredWorker declared = declared_worker(*call);
        const auto provider = declaring_provider(fleet, declared.name.worker_pool_id, providers);
        if (!provider) return provider.error();
        const Worker* there = fleet.find_worker(declared.name);
        if (!there)
          return not_found("Worker " + declared.name.worker_pool_id.str() + "/" +
                           group_and_id(declared.name) + " does not exist");
        declared.provider_id = *provider;
        if (declared.provider_data.empty())  // it keeps the secret that it has
          if (auto kept = json::parse_object(there->provider_data)) declared.provider_data = *kept;
        if (const auto done = fleet.update_declared_worker(declared, now); !done)
          return to_failure(done.error());
        return shown(fleet, declared.name, now);
      });
}

}  // namespace muster::taskcluster_api
