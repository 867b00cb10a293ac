// Teams, the pools that are dedicated to them, and what waits for workers.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/fleet_api.hpp"
#include "host/api/queue_json.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;
using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;

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

Response list_teams(const Request&, const Query&, const Fleet& fleet, Now now) {
  json::array teams;
  for (const queue::Team& team : fleet.queue().teams())
    teams.push_back(team_document(team, fleet, now));
  return json_answer(json::object{{"teams", std::move(teams)}});
}

template <class Body>
boost::system::result<Body, Response> body_of(const Request& request) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  if (const std::string unknown = unknown_key<Body>(*body); !unknown.empty())
    return error_answer(request, 400, "InputError", "`" + unknown + "` is not known here");
  auto given = from_value<Body>(json::value(*body));
  if (!given) return error_answer(request, 400, "InputError", given.error().message);
  return *given;
}

Paths::AnsweringRead read_team(const Request& request, const Query&) {
  const auto body = body_of<TeamBody>(request);
  if (!body) return body.error();
  return Paths::Answering(
      [id = queue::TeamId(request.path_parameter("team")),
       numbers = queue::TeamNumbers{body->weight, body->max_held, body->max_pending}](
          Fleet& fleet, Now now) -> Result<json::value> {
        if (const auto done = fleet.change_queue(now).set_team(id, numbers, now.wall); !done)
          return done.error();
        const auto& teams = fleet.queue().teams();
        return team_document(*std::ranges::find(teams, id, &queue::Team::id), fleet, now);
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

Response list_team_pools(const Request&, const Query&, const Fleet& fleet, Now) {
  json::array pools;
  for (const queue::TeamPool& pool : fleet.queue().pools())
    if (pool.dedicated || !pool.public_keys.empty())
      pools.push_back(team_pool_document(pool, fleet));
  return json_answer(json::object{{"workerPools", std::move(pools)}});
}

// Answers with the pool as it is then; with nothing if it is gone.
template <class Change>
Paths::Answering changing_pool(const Request& request, Change change) {
  return [id = pool_of(request), change](Fleet& fleet, Now now) -> Result<json::value> {
    if (const auto done = change(fleet.change_queue(now), id, now.wall); !done) return done.error();
    const queue::TeamPool* pool = fleet.queue().find_pool(id);
    return pool && pool->dedicated ? team_pool_document(*pool, fleet) : json::object{};
  };
}

Paths::AnsweringRead read_set_pool(const Request& request, const Query&) {
  PoolBody wanted;
  if (!request.body.empty()) {
    auto body = body_of<PoolBody>(request);
    if (!body) return body.error();
    wanted = std::move(*body);
  }
  return changing_pool(request, [keys = std::move(wanted.public_keys)](
                                    queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return queue.set_pool(id, keys, now);
  });
}

Paths::AnsweringRead read_destroy_pool(const Request& request, const Query&) {
  return changing_pool(request, [](queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return queue.destroy_pool(id, now);
  });
}

template <class Change>
Paths::AnsweringRead read_attachment(const Request& request, Change change) {
  const auto body = body_of<Attachment>(request);
  if (!body) return body.error();
  std::vector<queue::TeamId> teams(body->teams.begin(), body->teams.end());
  if (teams.empty() || teams.size() > 1000)
    return error_answer(request, 400, "InputError", "`teams` names 1 to 1000 teams");
  return changing_pool(request, [teams = std::move(teams), exclusive = body->exclusive, change](
                                    queue::Queue& queue, const WorkerPoolId& id, Time now) {
    return change(queue, id, teams, exclusive, now);
  });
}

Paths::AnsweringRead read_attach(const Request& request, const Query&) {
  return read_attachment(
      request, [](queue::Queue& queue, const WorkerPoolId& id, const auto& teams, bool exclusive,
                  Time now) { return queue.attach(id, teams, exclusive, now); });
}

Paths::AnsweringRead read_detach(const Request& request, const Query&) {
  return read_attachment(request, [](queue::Queue& queue, const WorkerPoolId& id, const auto& teams,
                                     bool, Time now) { return queue.detach(id, teams, now); });
}

// -------------------------------------------------------------------------------------------------
// Load

Response show_load(const Request&, const Query&, const Fleet& fleet, Now now) {
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

void add_queue_teams(Paths& paths) {
  paths.view("queue", {}, show_load);
  paths.view("teams", {}, list_teams);
  paths.ask("PUT", "teams/{team}", {}, read_team);
  const std::string pool = "worker-pools/{workerPoolId}";
  paths.view("worker-pools", {}, list_team_pools);
  paths.ask("PUT", pool, {}, read_set_pool);
  paths.ask("DELETE", pool, {}, read_destroy_pool);
  paths.ask("POST", pool + "/attach", {}, read_attach);
  paths.ask("POST", pool + "/detach", {}, read_detach);
}

}  // namespace muster::api
