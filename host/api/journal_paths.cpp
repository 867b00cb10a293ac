// What the API shows of the past: decisions, and what went wrong.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/fleet_api.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/store/row.hpp"

namespace muster::api {
namespace {

using fleet::DecisionRow;
using fleet::PoolErrorRow;
using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;

// A filter that little passes ends a page, too: nobody waits for a walk through all of the past.
constexpr std::size_t most_read = 20'000;

bool is_known(FleetRuntime& host, const std::string& pool) {
  bool known = false;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    known = fleet.find_pool(WorkerPoolId(pool)) != nullptr;
  });
  return known;
}

// The newest ones first; `before` is the number of the last one that was shown. `fits` chooses.
template <class Row, class Fits>
Response newest_of_pool(const Request& request, const Query& query, FleetRuntime& host,
                        const char* name, Fits fits) {
  const auto limit = query.limit();
  if (!limit) return refusal(request, limit.error());
  const auto before = query.number("before", 0, 0, INT64_MAX);
  if (!before) return refusal(request, before.error());
  const std::string pool = pool_of(request).str();
  store::Scan scan{
      .table = &store::table_of<Row>, .prefix = {pool}, .backwards = true, .limit = most_read};
  if (*before > 0) scan.beyond.emplace(*before);
  json::array rows;
  std::size_t read = 0;
  std::int64_t last = 0;
  const auto scanned = host.store().scan(scan, [&](std::span<const store::Value> values) {
    if (rows.size() == *limit) return false;
    const auto row = store::from_values<Row>(values);
    if (!row) return false;
    ++read;
    last = row->number;
    if (fits(*row)) rows.push_back(codec::to_value(*row));
    return true;
  });
  if (!scanned) return error_answer(request, scanned.error());
  if (read == 0 && !is_known(host, pool)) return no_pool(request);
  json::object answer{{name, std::move(rows)}};
  if (answer[name].as_array().size() == *limit || read == most_read) answer["next"] = last;
  return json_answer(answer);
}

Response list_decisions(const Request& request, const Query& query, FleetRuntime& host) {
  const auto kind = query.find("kind"), digest = query.find("digest");
  return newest_of_pool<DecisionRow>(
      request, query, host, "decisions", [&](const DecisionRow& row) {
        return (!kind || row.kind == *kind) && (!digest || row.digest == *digest);
      });
}

struct WantedErrors {
  std::optional<std::string> kind, launch_config;

  explicit WantedErrors(const Query& query)
      : kind(query.find("kind")), launch_config(query.find("launchConfigId")) {}
  bool operator()(const PoolErrorRow& row) const {
    return (!kind || row.kind == *kind) &&
           (!launch_config || row.launch_config_id.str() == *launch_config);
  }
};

Response list_errors_of_pool(const Request& request, const Query& query, FleetRuntime& host) {
  return newest_of_pool<PoolErrorRow>(request, query, host, "errors", WantedErrors(query));
}

// -------------------------------------------------------------------------------------------------
// Errors of all pools

// Rows are in the order of their pools, so all are looked at, and only the newest are read whole.
Response list_errors(const Request& request, const Query& query, FleetRuntime& host) {
  const auto limit = query.limit();
  if (!limit) return refusal(request, limit.error());
  const auto before = query.number("before", INT64_MAX, 1, INT64_MAX);
  if (!before) return refusal(request, before.error());
  const WantedErrors wanted(query);
  std::vector<PoolErrorRow> newest;  // a heap with the oldest on top
  const auto older_last = [](const PoolErrorRow& a, const PoolErrorRow& b) {
    return a.number > b.number;
  };
  bool more = false;
  const auto scanned = host.store().scan(
      {.table = &store::table_of<PoolErrorRow>}, [&](std::span<const store::Value> values) {
        const auto* number = values.size() > 1 ? std::get_if<std::int64_t>(&values[1]) : nullptr;
        if (!number || *number >= *before) return true;
        const bool full = newest.size() == *limit;
        if (full && *number < newest.front().number) return more = true;
        auto row = store::from_values<PoolErrorRow>(values);
        if (!row || !wanted(*row)) return true;
        if (full) {
          more = true;
          std::ranges::pop_heap(newest, older_last);
          newest.pop_back();
        }
        newest.push_back(std::move(*row));
        std::ranges::push_heap(newest, older_last);
        return true;
      });
  if (!scanned) return error_answer(request, scanned.error());
  std::ranges::sort(newest, older_last);
  json::array errors;
  for (const PoolErrorRow& row : newest) errors.push_back(codec::to_value(row));
  json::object answer{{"errors", std::move(errors)}};
  if (more) answer["next"] = newest.back().number;
  return json_answer(answer);
}

using Counts = std::map<std::string, std::int64_t>;

struct Statistics {
  std::int64_t total = 0;
  Counts kind, title, code, pool, launch_config, day, hour;

  void count(const PoolErrorRow& row, Time now) {
    ++total;
    ++kind[row.kind];
    ++title[row.title];
    const json::value* given = row.extra.if_contains("code");
    ++code[given && given->is_string() ? std::string(given->get_string()) : "other"];
    ++pool[row.worker_pool_id.str()];
    if (!row.launch_config_id.empty()) ++launch_config[row.launch_config_id.str()];
    ++day[format_time(std::chrono::floor<std::chrono::days>(row.at))];
    if (now - row.at < std::chrono::hours(24))
      ++hour[format_time(std::chrono::floor<std::chrono::hours>(row.at))];
  }
};

Response count_errors(const Request& request, const Query& query, FleetRuntime& host) {
  const auto pool = query.find("workerPoolId");
  if (pool && !is_known(host, *pool))
    return error_answer(request, 404, "ResourceNotFound",
                        "there is no worker pool " + *pool + "; see: muster pools");
  store::Scan scan{.table = &store::table_of<PoolErrorRow>};
  if (pool) scan.prefix = {*pool};
  Time now{};
  host.fleet().read([&](const fleet::Fleet&, fleet::Now at) { now = at.wall; });
  Statistics statistics;
  const auto read = store::read_rows<PoolErrorRow>(
      host.store(), [&](const PoolErrorRow& row) { statistics.count(row, now); }, scan);
  if (!read) return error_answer(request, read.error());
  json::object answer{{"total", statistics.total},
                      {"byKind", codec::to_value(statistics.kind)},
                      {"byTitle", codec::to_value(statistics.title)},
                      {"byCode", codec::to_value(statistics.code)},
                      {"byWorkerPool", codec::to_value(statistics.pool)},
                      {"byLaunchConfig", codec::to_value(statistics.launch_config)},
                      {"byDay", codec::to_value(statistics.day)},
                      {"byHour", codec::to_value(statistics.hour)}};
  if (pool) answer["workerPoolId"] = *pool;
  return json_answer(answer);
}

}  // namespace

void add_journal_paths(Paths& paths) {
  paths.work("GET", "pools/{workerPoolId}/decisions", {"limit", "before", "kind", "digest"},
             list_decisions);
  paths.work("GET", "pools/{workerPoolId}/errors", {"limit", "before", "kind", "launchConfigId"},
             list_errors_of_pool);
  paths.work("GET", "errors", {"limit", "before", "kind", "launchConfigId"}, list_errors);
  paths.work("GET", "errors/stats", {"workerPoolId"}, count_errors);
}

}  // namespace muster::api
