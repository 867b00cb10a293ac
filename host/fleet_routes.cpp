#include "host/fleet_routes.hpp"

#include <algorithm>
#include <charconv>

#include <muster/codec.hpp>

#include "host/config/worker/api_pool.hpp"
#include "host/fleet/rows.hpp"
#include "host/fleet_json.hpp"
#include "host/http/answer.hpp"
#include "host/store/row.hpp"

namespace muster {
namespace {

using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;

constexpr std::int64_t rows_at_most = 1000;

std::optional<std::string> query_value(const Request& request, std::string_view name) {
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name && equals != std::string_view::npos)
      return http::percent_decode(pair.substr(equals + 1));
  }
  return std::nullopt;
}

// A whole number of the query; the fallback if it is not there, nothing if it is none.
std::optional<std::int64_t> query_number(const Request& request, std::string_view name,
                                         std::int64_t fallback, std::int64_t low,
                                         std::int64_t high) {
  const auto text = query_value(request, name);
  if (!text) return fallback;
  std::int64_t number = 0;
  const auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (wrong != std::errc() || end != text->data() + text->size() || number < low || number > high)
    return std::nullopt;
  return number;
}

WorkerPoolId pool_of(const Request& request) {
  return WorkerPoolId(request.path_parameter("workerPoolId"));
}

Response no_pool(const Request& request) {
  return error_answer(request, 404, "ResourceNotFound",
                      "there is no worker pool " + pool_of(request).str() + "; see: muster pools");
}

// What `make` makes of the pool, on the fleet's thread.
template <class Make>
Response about_pool(const Request& request, FleetOfHost& host, Make make) {
  std::optional<json::value> document;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now now) {
    if (const fleet::Pool* pool = fleet.find_pool(pool_of(request)))
      document = make(fleet, *pool, now.wall);
  });
  return document ? json_answer(*document) : no_pool(request);
}

// -------------------------------------------------------------------------------------------------
// Reading

Response list_pools(const Request&, FleetOfHost& host) {
  json::array pools;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed()) pools.push_back(pool_document(fleet, pool));
  });
  std::ranges::sort(pools, {}, [](const json::value& pool) {
    return std::string_view(pool.as_object().at("workerPoolId").as_string());
  });
  return json_answer(json::object{{"pools", std::move(pools)}});
}

Response show_pool(const Request& request, FleetOfHost& host) {
  return about_pool(request, host,
                    [](const fleet::Fleet& fleet, const fleet::Pool& pool, Time now) {
                      return json::value(pool_detail(fleet, pool, now));
                    });
}

Response list_workers(const Request& request, FleetOfHost& host) {
  return about_pool(request, host, [](const fleet::Fleet& fleet, const fleet::Pool& pool, Time) {
    json::array workers;
    for (const fleet::Index at : pool.workers)
      workers.push_back(worker_document(fleet, fleet.workers()[at]));
    return json::value(json::object{{"workers", std::move(workers)}});
  });
}

// Newest first; `before` is the number of the last one that was shown.
template <class Row, class ToJson>
Response list_rows(const Request& request, FleetOfHost& host, const char* name, ToJson to_json) {
  const auto limit = query_number(request, "limit", 50, 1, rows_at_most);
  const auto before = query_number(request, "before", 0, 0, INT64_MAX);
  if (!limit || !before)
    return error_answer(request, 400, "InputError",
                        "limit is 1 to 1000, before is a number that was shown");
  bool known = false;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    known = fleet.find_pool(pool_of(request)) != nullptr;
  });
  store::Scan scan{.table = &store::table_of<Row>,
                   .prefix = {pool_of(request).str()},
                   .backwards = true,
                   .limit = static_cast<std::size_t>(*limit)};
  if (*before > 0) scan.beyond = store::Value(*before);
  json::array rows;
  const auto read = store::read_rows<Row>(
      host.store(), [&](const Row& row) { rows.push_back(to_json(row)); }, scan);
  if (!read) return error_answer(request, read.error());
  if (!known && rows.empty()) return no_pool(request);
  return json_answer(json::object{{name, std::move(rows)}});
}

Response list_decisions(const Request& request, FleetOfHost& host) {
  return list_rows<fleet::DecisionRow>(
      request, host, "decisions",
      [](const fleet::DecisionRow& row) { return codec::to_value(row); });
}

Response list_errors(const Request& request, FleetOfHost& host) {
  return list_rows<fleet::PoolErrorRow>(
      request, host, "errors", [](const fleet::PoolErrorRow& row) { return codec::to_value(row); });
}

Response show_holds(const Request&, FleetOfHost& host) {
  json::array holds, providers;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    holds = holds_document(fleet);
    providers = providers_document(fleet);
  });
  return json_answer(
      json::object{{"holds", std::move(holds)}, {"providers", std::move(providers)}});
}

Response show_configuration(const Request&, FleetOfHost& host) {
  const auto status = host.configuration_status();
  return json_answer(
      status ? worker_configuration::to_json(*status)
             : json::object{{"source", nullptr},
                            {"note", "the host configuration has no workerConfigurations"}});
}

Response show_demand(const Request&, FleetOfHost& host) {
  return json_answer(json::object{{"sources", demand::to_json(host.demand_status())}});
}

// -------------------------------------------------------------------------------------------------
// Changing

Response done(const Request& request, const Result<void>& result) {
  if (result) return json_answer(json::object{});
  if (result.error().code == "readOnly")
    return error_answer(request, 503, "ReadOnly", result.error().message);
  return error_answer(request, result.error());
}

std::optional<std::string> text_in(const json::object& body, const char* name) {
  const json::value* found = body.if_contains(name);
  if (!found || !found->is_string()) return std::nullopt;
  return std::string(found->get_string());
}

Response pause(const Request& request, FleetOfHost& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const auto until = parse_time(text_in(*body, "until").value_or(""));
  if (!until)
    return error_answer(request, 400, "InputError",
                        "`until` must be a time such as 2026-01-02T03:04:05Z");
  const LaunchConfigId id(request.path_parameter("launchConfigId"));
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.pause(pool_of(request), id, *until, text_in(*body, "reason").value_or(""), now);
  }));
}

Response resume(const Request& request, FleetOfHost& host) {
  const LaunchConfigId id(request.path_parameter("launchConfigId"));
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.resume(pool_of(request), id, now);
  }));
}

fleet::WorkerName worker_of(const Request& request) {
  return {pool_of(request), WorkerGroup(request.path_parameter("workerGroup")),
          WorkerId(request.path_parameter("workerId"))};
}

Response remove_worker(const Request& request, FleetOfHost& host) {
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.remove_worker(worker_of(request), "removed by an operator", now);
  }));
}

Response quarantine(const Request& request, FleetOfHost& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const auto until = parse_time(text_in(*body, "until").value_or(""));
  if (!until)
    return error_answer(
        request, 400, "InputError",
        "`until` must be a time such as 2026-01-02T03:04:05Z; one that is past releases it");
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.quarantine(worker_of(request), *until, text_in(*body, "reason").value_or(""), now);
  }));
}

Response put_pool(const Request& request, FleetOfHost& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const auto spec = worker_configuration::pool_from_api(
      pool_of(request), *body, host.surroundings(),
      [&](const ProviderId& id, const ExpandRequest& expand) { return host.expand(id, expand); });
  if (!spec) return error_answer(request, spec.error());
  const auto shared = std::make_shared<const fleet::PoolSpec>(*spec);
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.put_api_pool(shared, *body, now);
  }));
}

Response remove_pool(const Request& request, FleetOfHost& host) {
  return done(request, host.fleet().change<void>([&](fleet::Fleet& fleet, fleet::Now now) {
    return fleet.remove_api_pool(pool_of(request), now);
  }));
}

Response back_up(const Request& request, FleetOfHost& host) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const std::string file = text_in(*body, "file").value_or("");
  if (file.empty() || file.front() != '/')
    return error_answer(request, 400, "InputError",
                        "`file` must be an absolute path on the host's machine");
  const auto written = host.store().backup(file);
  if (!written) return error_answer(request, written.error());
  return json_answer(json::object{{"file", file}});
}

}  // namespace

json::object fleet_summary(const FleetAccess& access) {
  if (!access.fleet) return {{"state", "off"}, {"reason", access.problem}};
  const store::Health health = access.fleet->fleet().store_health();
  if (!health.ok)
    return {{"state", "readOnly"},
            {"reason", health.sentence},
            {"since", format_time(health.failing_since.value_or(Time{}))}};
  std::int64_t pools = 0, workers = 0;
  std::map<std::string, std::int64_t> verdicts;
  access.fleet->fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::Pool& pool : fleet.pools()) {
      if (pool.removed()) continue;
      ++pools;
      workers += pool.totals.workers;
      ++verdicts[std::string(
          enum_names(pool.verdict.kind)[static_cast<std::size_t>(pool.verdict.kind)])];
    }
  });
  json::object summary{{"state", "deciding"}, {"pools", pools}, {"workers", workers}};
  summary["verdicts"] = codec::to_value(verdicts);
  if (const auto status = access.fleet->configuration_status())
    summary["workerConfigurations"] = worker_configuration::to_json(*status);
  if (const auto sources = access.fleet->demand_status(); !sources.empty())
    summary["demand"] = demand::to_json(sources);
  return summary;
}

void add_fleet_routes(http::Router& router, http::WorkerThreads& workers,
                      const FleetAccess& access) {
  const auto add = [&](const char* method, const std::string& path, auto handler) {
    router.add(method, "/api/muster/v1/" + path,
               later(workers, [access, handler](const Request& request) {
                 if (!access.fleet) return error_answer(request, 503, "NoFleet", access.problem);
                 return handler(request, *access.fleet);
               }));
  };
  add("GET", "pools", list_pools);
  add("GET", "pools/{workerPoolId}", show_pool);
  add("PUT", "pools/{workerPoolId}", put_pool);
  add("DELETE", "pools/{workerPoolId}", remove_pool);
  add("GET", "pools/{workerPoolId}/workers", list_workers);
  add("GET", "pools/{workerPoolId}/decisions", list_decisions);
  add("GET", "pools/{workerPoolId}/errors", list_errors);
  add("POST", "pools/{workerPoolId}/launch-configs/{launchConfigId}/pause", pause);
  add("POST", "pools/{workerPoolId}/launch-configs/{launchConfigId}/resume", resume);
  add("DELETE", "pools/{workerPoolId}/workers/{workerGroup}/{workerId}", remove_worker);
  add("POST", "pools/{workerPoolId}/workers/{workerGroup}/{workerId}/quarantine", quarantine);
  add("GET", "holds", show_holds);
  add("GET", "worker-configurations", show_configuration);
  add("GET", "demand", show_demand);
  add("POST", "backup", back_up);
}

}  // namespace muster
