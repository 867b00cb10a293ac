// Teams, the pools that are dedicated to them, and what waits for workers.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/api/queue_json.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;

// -------------------------------------------------------------------------------------------------
// Teams

struct TeamBody {
  double weight = 1;
  std::int64_t max_held = 0;
  std::int64_t max_pending = 0;

  static constexpr auto fields(auto visit) {
    return visit(optional("weight", &TeamBody::weight), optional("maxHeld", &TeamBody::max_held),
                 optional("maxPending", &TeamBody::max_pending));
  }
};

Answer list_teams(const Call&, const Fleet& fleet, Now now) {
  json::array teams;
  for (const queue::Team& team : fleet.queue().teams())
    teams.push_back(team_document(team, fleet, now));
  return json_answer(json::object{{"teams", std::move(teams)}});
}

FleetChangeOrFailure read_team(const Call& call) {
  const auto body = body_as<TeamBody>(call);
  if (!body) return body.error();
  return FleetChange([id = queue::TeamId(call.parameter("team")),
                      numbers =
                          queue::TeamNumbers{body->weight, body->max_held, body->max_pending}](
                         Fleet& fleet, Now now) -> Answer {
    if (const auto done = fleet.change_queue(now).set_team(id, numbers, now.wall); !done)
      return to_failure(done.error());
    const auto& teams = fleet.queue().teams();
    return json_answer(team_document(*std::ranges::find(teams, id, &queue::Team::id), fleet, now));
  });
}

// -------------------------------------------------------------------------------------------------
// Pools

struct PoolBody {
  std::optional<std::vector<std::string>> public_keys = {};  // nothing: as they are

  static constexpr auto fields(auto visit) {
    return visit(optional("publicKeys", &PoolBody::public_keys));
  }
};

struct Attachment {
  std::vector<std::string> teams;
  bool exclusive = false;

  static constexpr auto fields(auto visit) {
    return visit(required("teams", &Attachment::teams),
                 optional("exclusive", &Attachment::exclusive));
  }
};

Answer list_team_pools(const Call&, const Fleet& fleet, Now) {
  json::array pools;
  for (const queue::TeamPool& pool : fleet.queue().pools())
    if (pool.dedicated || !pool.public_keys.empty())
      pools.push_back(team_pool_document(pool, fleet));
  return json_answer(json::object{{"workerPools", std::move(pools)}});
}

// Answers with the pool as it is then; with nothing if it is gone.
template <class Change>
FleetChange changing_pool(const Call& call, Change change) {
  return [id = call.worker_pool_id(), change = std::move(change)](Fleet& fleet, Now now) -> Answer {
    if (const auto done = change(fleet.change_queue(now), id, now.wall); !done)
      return to_failure(done.error());
    const queue::TeamPool* pool = fleet.queue().find_pool(id);
    return json_answer(pool && pool->dedicated ? team_pool_document(*pool, fleet) : json::object{});
  };
}

FleetChangeOrFailure read_set_pool(const Call& call) {
  PoolBody wanted;
  if (!call.request().body.empty()) {
    auto body = body_as<PoolBody>(call);
    if (!body) return body.error();
    wanted = std::move(*body);
  }
  return changing_pool(call, [keys = std::move(wanted.public_keys)](
                                 queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return queue.set_pool(id, keys, now);
  });
}

FleetChangeOrFailure read_destroy_pool(const Call& call) {
  return changing_pool(call, [](queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return queue.destroy_pool(id, now);
  });
}

template <class Change>
FleetChangeOrFailure read_attachment(const Call& call, Change change) {
  const auto body = body_as<Attachment>(call);
  if (!body) return body.error();
  std::vector<queue::TeamId> teams(body->teams.begin(), body->teams.end());
  if (teams.empty() || teams.size() > 1000) return input_error("`teams` names 1 to 1000 teams");
  return changing_pool(call, [teams = std::move(teams), exclusive = body->exclusive, change](
                                 queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return change(queue, id, teams, exclusive, now);
  });
}

FleetChangeOrFailure read_attach(const Call& call) {
  return read_attachment(
      call, [](queue::Queue& queue, const WorkerPoolId& id, const auto& teams, bool exclusive,
               Time now) { return queue.attach(id, teams, exclusive, now); });
}

FleetChangeOrFailure read_detach(const Call& call) {
  return read_attachment(call, [](queue::Queue& queue, const WorkerPoolId& id, const auto& teams,
                                  bool, Time now) { return queue.detach(id, teams, now); });
}

// -------------------------------------------------------------------------------------------------
// Load

Answer show_load(const Call&, const Fleet& fleet, Now now) {
  const queue::Queue& queue = fleet.queue();
  const fleet::QueueLoad load = fleet::load_of(fleet);
  json::array teams;
  for (std::size_t at = 0; at < queue.teams().size(); ++at) {
    json::object team = team_document(queue.teams()[at], fleet, now);
    put_oldest(team, load.oldest_of_team[at], now);
    teams.push_back(std::move(team));
  }
  json::array pools;
  for (const auto& [id, of] : load.pools) {
    const queue::TeamPool* known = queue.find_pool(id);
    json::object pool = team_pool_document(known ? *known : queue::TeamPool{.id = id}, fleet);
    put_load(pool, of, now);
    pools.push_back(std::move(pool));
  }
  json::object unserved{{"waiting", load.unserved.requests}};
  put_oldest(unserved, load.unserved.oldest, now);
  json::object document{{"waiting", queue.waiting()},
                        {"teams", std::move(teams)},
                        {"workerPools", std::move(pools)},
                        {"unserved", std::move(unserved)}};
  put_oldest(document, load.oldest, now);
  return json_answer(document);
}

}  // namespace

std::vector<Endpoint> team_endpoints() {
  return {
      {.name = "showQueue",
       .method = "GET",
       .path = base + "/queue",
       .scopes = all_of({"muster:get:queue"}),
       .handler = show_load,
       .output = "QueueLoad",
       .errors = {unavailable},
       .category = "queue",
       .title = "What waits for workers, by team and by pool"},
      {.name = "listTeams",
       .method = "GET",
       .path = base + "/teams",
       .scopes = all_of({"muster:get:teams"}),
       .handler = list_teams,
       .output = "TeamList",
       .errors = {unavailable},
       .category = "queue",
       .title = "The teams that the queue knows"},
      {.name = "setTeam",
       .method = "PUT",
       .path = base + "/teams/{team}",
       .scopes = all_of({"muster:set-team:<team>"}),
       .handler = read_team,
       .input = "TeamRequest",
       .audit = audited({"weight", "maxHeld", "maxPending"}),
       .output = "Team",
       .errors = {bad_input, unavailable},
       .category = "queue",
       .title = "Set a team's weight and limits",
       .description = "Refused for a team that a file configures."},
      {.name = "listWorkerPools",
       .method = "GET",
       .path = base + "/worker-pools",
       .scopes = all_of({"muster:get:worker-pools"}),
       .handler = list_team_pools,
       .output = "TeamPoolList",
       .errors = {unavailable},
       .category = "queue",
       .title = "The pools that are dedicated to teams, or whose workers need a key"},
      {.name = "setWorkerPool",
       .method = "PUT",
       .path = base + "/worker-pools/{workerPoolId}",
       .scopes = all_of({"muster:manage-worker-pools:<workerPoolId>"}),
       .handler = read_set_pool,
       .input = "TeamPoolRequest",
       .input_required = false,
       .audit = audited({"publicKeys"}),
       .output = "TeamPool",
       .errors = {bad_input, unavailable},
       .category = "queue",
       .title = "Dedicate a pool to the teams that are attached to it, and set the keys that "
                "workers need to join",
       .description = "Refused for what a file configures: its teams, or its keys."},
      {.name = "destroyWorkerPool",
       .method = "DELETE",
       .path = base + "/worker-pools/{workerPoolId}",
       .scopes = all_of({"muster:manage-worker-pools:<workerPoolId>"}),
       .handler = read_destroy_pool,
       .audit = audited(),
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Dedicate it no longer; it must have no teams and no workers"},
      {.name = "attachWorkerPool",
       .method = "POST",
       .path = base + "/worker-pools/{workerPoolId}/attach",
       .scopes = all_of({"muster:manage-worker-pools:<workerPoolId>"}),
       .handler = read_attach,
       .input = "AttachRequest",
       .audit = audited({"teams", "exclusive"}),
       .output = "TeamPool",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Attach teams, all of them or none"},
      {.name = "detachWorkerPool",
       .method = "POST",
       .path = base + "/worker-pools/{workerPoolId}/detach",
       .scopes = all_of({"muster:manage-worker-pools:<workerPoolId>"}),
       .handler = read_detach,
       .input = "AttachRequest",
       .audit = audited({"teams"}),
       .output = "TeamPool",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Detach teams, all of them or none; their leases go on"},
  };
}

}  // namespace muster::api
