#include "host/api/fleet_api.hpp"

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

namespace muster::api {

using http::error_answer;
using http::Reply;
using http::Request;
using http::Response;

void Paths::view(const std::string& path, std::vector<std::string_view> known, View answer) {
  router_.add(
      "GET", base_path + path,
      [access = access_, known = std::move(known), answer](Request&& request, const Reply& reply) {
        if (!access.fleet) return reply(error_answer(request, 503, "NoFleet", access.problem));
        auto query = Query::parse(request.query, known);
        if (!query) return reply(error_answer(request, query.error()));
        const auto asked = std::make_shared<const Request>(std::move(request));
        access.fleet->fleet().look([asked, query = std::move(*query), answer, reply](
                                       const fleet::Fleet& fleet, fleet::Now now) {
          reply(answer(*asked, query, fleet, now));
        });
      });
}

void Paths::work(const char* method, const std::string& path, std::vector<std::string_view> known,
                 Work answer) {
  router_.add(method, base_path + path,
              http::later(workers_, [access = access_, known = std::move(known),
                                     answer](const Request& request) {
                if (!access.fleet) return error_answer(request, 503, "NoFleet", access.problem);
                const auto query = Query::parse(request.query, known);
                if (!query) return error_answer(request, query.error());
                return answer(request, *query, *access.fleet);
              }));
}

void Paths::post(const char* method, const std::string& path, std::vector<std::string_view> known,
                 ReadPosted read) {
  router_.add(method, base_path + path,
              [access = access_, known = std::move(known), read = std::move(read)](
                  Request&& request, const Reply& reply) {
                if (!access.fleet)
                  return reply(error_answer(request, 503, "NoFleet", access.problem));
                const auto query = Query::parse(request.query, known);
                if (!query) return reply(error_answer(request, query.error()));
                auto answer = read(request, *query);
                if (!answer) return reply(answer.error());
                const store::Health health = access.fleet->fleet().store_health();
                if (!health.ok)
                  return reply(error_answer(request, 503, "ReadOnly", health.sentence));
                const auto asked = std::make_shared<const Request>(std::move(request));
                const auto made = std::make_shared<Result<json::value>>();
                access.fleet->fleet().post(
                    [made, answer = std::move(*answer)](fleet::Fleet& fleet, fleet::Now now) {
                      *made = answer(fleet, now);
                    },
                    [made, asked, reply] {
                      reply(*made ? http::json_answer(**made) : refusal(*asked, made->error()));
                    });
              });
}

void Paths::ask(const char* method, const std::string& path, std::vector<std::string_view> known,
                ReadAnswering read) {
  post(method, path, std::move(known), read);
}

void Paths::change(const char* method, const std::string& path, ReadChange read) {
  using Read = boost::system::result<Answering, Response>;
  post(method, path, {}, [read](const Request& request, const Query&) -> Read {
    auto change = read(request);
    if (!change) return change.error();
    return Answering(
        [change = std::move(*change)](fleet::Fleet& fleet, fleet::Now now) -> Result<json::value> {
          if (const auto done = change(fleet, now); !done) return done.error();
          return json::object{};
        });
  });
}

void Paths::handle(const char* method, const std::string& path, Handle by) {
  router_.add(method, base_path + path,
              [access = access_, by](Request&& request, const Reply& reply) {
                by(access, std::move(request), reply);
              });
}

void add_fleet_paths(http::Router& router, http::WorkerThreads& workers,
                     const FleetAccess& access) {
  Paths paths(router, workers, access);
  add_fleet_views(paths);
  add_journal_paths(paths);
  add_fleet_changes(paths);
  add_worker_reports(paths);
  add_queue_requests(paths);
  add_queue_teams(paths);
  add_why(paths);
  add_configuration_paths(paths);
}

Response refusal(const Request& request, const Error& error) {
  if (error.code == "readOnly") return error_answer(request, 503, "ReadOnly", error.message);
  if (error.code == "gone") return error_answer(request, 410, "ResourceExpired", error.message);
  if (error.code == "conflict") return error_answer(request, 409, "RequestConflict", error.message);
  return error_answer(request, error);
}

WorkerPoolId pool_of(const Request& request) {
  return WorkerPoolId(request.path_parameter("workerPoolId"));
}

fleet::WorkerName worker_of(const Request& request) {
  return {pool_of(request), WorkerGroup(request.path_parameter("workerGroup")),
          WorkerId(request.path_parameter("workerId"))};
}

Response no_pool(const Request& request) {
  return error_answer(request, 404, "ResourceNotFound",
                      "there is no worker pool " + pool_of(request).str() + "; see: muster pools");
}

}  // namespace muster::api

namespace muster {

json::object fleet_summary(const FleetAccess& access, const fleet::Fleet* fleet) {
  if (!access.fleet || !fleet) return {{"state", "off"}, {"reason", access.problem}};
  const store::Health health = access.fleet->fleet().store_health();
  if (!health.ok)
    return {{"state", "readOnly"},
            {"reason", health.sentence},
            {"since", format_time(health.failing_since.value_or(Time{}))}};
  std::int64_t pools = 0, workers = 0;
  std::map<std::string, std::int64_t> verdicts;
  for (const fleet::Pool& pool : fleet->pools()) {
    if (pool.removed()) continue;
    ++pools;
    workers += pool.totals.workers;
    ++verdicts[name_of(pool.verdict.kind)];
  }
  json::object summary{{"state", "deciding"}, {"pools", pools}, {"workers", workers}};
  summary["verdicts"] = codec::to_value(verdicts);
  if (const auto status = access.fleet->configuration_status())
    summary["workerConfigurations"] = pools::to_json(*status);
  if (const auto sources = access.fleet->demand_status(); !sources.empty())
    summary["demand"] = demand::to_json(sources);
  return summary;
}

}  // namespace muster
