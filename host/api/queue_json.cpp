#include "host/api/queue_json.hpp"

#include <muster/codec.hpp>

#include "host/api/fleet_json.hpp"
#include "host/api/json_members.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/queue/lines.hpp"
#include "host/queue/pool_keys.hpp"

namespace muster::api {
namespace {

json::object worker_document(const fleet::Worker& worker, const fleet::Fleet& fleet) {
  return {{"workerPoolId", fleet.pools()[worker.pool].id.str()},
          {"workerGroup", fleet.group_name(worker.group)},
          {"workerId", worker.worker_id},
          {"providerId", fleet.providers()[worker.provider].id.str()},
          {"capacity", worker.capacity}};
}

}  // namespace

namespace {

json::object without_verdict(const queue::Request& request, const fleet::Fleet& fleet) {
  const queue::Queue& queue = fleet.queue();
  const queue::Line& line = queue.lines()[request.line];
  json::object document{{"requestId", std::to_string(request.number)},
                        {"team", queue.teams()[request.team].id.str()},
                        {"state", name_of(request.state)},
                        {"resources", codec::to_value(request.needs.named())},
                        {"tags", codec::to_value(line.tags)},
                        {"priority", request.priority},
                        {"heartbeatSeconds", request.heartbeat.count() / 1000},
                        {"created", format_time(request.created)}};
  if (line.pool != queue::no_index) document["workerPoolId"] = queue.pools()[line.pool].id.str();
  put_time(document, "deadline", request.deadline);
  put_time(document, "granted", request.granted);
  put_time(document, "until", request.until);
  put_time(document, "ended", request.ended);
  return document;
}

}  // namespace

json::object request_document(const queue::Request& request, const verdict::Verdict& verdict,
                              const fleet::Fleet& fleet) {
  json::object document = without_verdict(request, fleet);
  document["verdict"] = verdict_document(verdict);
  if (request.worker == queue::no_index) return document;
  const fleet::Worker* worker = fleet.find_worker(fleet.queue().workers()[request.worker].number);
  if (worker) document["worker"] = worker_document(*worker, fleet);
  return document;
}

json::object request_document(const queue::Request& request, const fleet::Fleet& fleet,
                              fleet::Now now) {
  if (request.state != queue::RequestState::ended)
    return request_document(request, fleet.verdict_of(request, now), fleet);
  json::object document = without_verdict(request, fleet);
  document["reason"] = request.reason;
  return document;
}

json::object team_document(const queue::Team& team, const fleet::Fleet& fleet, fleet::Now now) {
  const queue::Queue& queue = fleet.queue();
  json::array pools;
  for (const queue::Index pool : team.pools) pools.emplace_back(queue.pools()[pool].id.str());
  json::object document{{"team", team.id.str()},          {"weight", team.weight},
                        {"maxHeld", team.max_held},       {"maxPending", team.max_pending},
                        {"pending", team.pending},        {"held", team.held},
                        {"leases", team.leases},          {"usage", queue.usage_of(team, now.wall)},
                        {"workerPools", std::move(pools)}};
  if (!team.origin.empty()) document["origin"] = team.origin;
  return document;
}

json::object team_pool_document(const queue::TeamPool& pool, const fleet::Fleet& fleet) {
  const queue::Queue& queue = fleet.queue();
  json::array teams;
  for (const queue::Index team : pool.teams) teams.emplace_back(queue.teams()[team].id.str());
  json::object document{{"workerPoolId", pool.id.str()},
                        {"dedicated", pool.dedicated},
                        {"teams", std::move(teams)},
                        {"workers", pool.workers}};
  if (!pool.origin.empty()) document["origin"] = pool.origin;
  if (const auto keys = queue::read_pool_keys("publicKeys", pool.public_keys); keys) {
    json::array fingerprints;
    for (const ssh::PublicKey& key : *keys) fingerprints.emplace_back(key.fingerprint());
    document["keyFingerprints"] = std::move(fingerprints);
  }
  if (!pool.keys_origin.empty()) document["keysOrigin"] = pool.keys_origin;
  return document;
}

void put_oldest(json::object& document, const std::optional<Time>& oldest, fleet::Now now) {
  if (!oldest) return;
  document["oldest"] = format_time(*oldest);
  document["oldestWaitSeconds"] = fleet::seconds_since(*oldest, now.wall);
}

void put_load(json::object& pool, const fleet::PoolLoad& load, fleet::Now now) {
  json::object resources;
  for (const fleet::ResourceLoad& resource : load.resources())
    resources[resource.name] = json::object{
        {"has", resource.has}, {"used", resource.used}, {"utilisation", resource.utilisation()}};
  pool["capacity"] = load.has.active_task;
  pool["used"] = load.used.active_task;
  pool["resources"] = std::move(resources);
  pool["waiting"] = load.waiting.requests;
  pool["pending"] = fleet::whole_capacity(load.waiting.capacity);
  pool["wouldBe"] = load.would_be();
  put_oldest(pool, load.waiting.oldest, now);
}

}  // namespace muster::api
