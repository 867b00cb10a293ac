// What the API shows of the past: decisions, and what went wrong.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/store/row.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::api {
namespace {

using fleet::DecisionRow;
using fleet::PoolErrorRow;

// A filter that little passes ends a page, too: nobody waits for a walk through all of the past.
constexpr std::size_t most_read = 20'000;

bool is_known(const Call& call, const std::string& pool) {
  bool known = false;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
    known = fleet.find_pool(WorkerPoolId(pool)) != nullptr;
  });
  return known;
}

// The newest ones first; `before` is the number of the last one that was shown. `fits` chooses.
template <class Row, class Fits>
Answer newest_of_pool(const Call& call, const char* name, Fits fits) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto before = call.query().number("before", 0, 0, INT64_MAX);
  if (!before) return to_failure(before.error());
  const std::string pool = call.worker_pool_id().str();
  store::Scan scan{
      .table = &store::table_of<Row>, .prefix = {pool}, .backwards = true, .limit = most_read};
  if (*before > 0) scan.beyond.emplace(*before);
  json::array rows;
  http::PageBudget page;
  std::size_t read = 0;
  std::int64_t last = 0;
  bool more = false;
  const auto scanned =
      services_of(call).store->scan(scan, [&](std::span<const store::Value> values) {
        if (rows.size() == *limit || page.is_full()) return more = true, false;
        const auto row = store::from_values<Row>(values);
        if (!row) return false;
        ++read;
        last = row->number;
        if (!fits(*row)) return true;
        rows.push_back(codec::to_value(*row));
        page.take(rows.back());
        return true;
      });
  if (!scanned) return to_failure(scanned.error());
  if (read == 0 && !is_known(call, pool)) return no_pool(call);
  json::object answer{{name, std::move(rows)}};
  if (more || read == most_read) answer["next"] = last;
  return json_answer(answer);
}

Answer list_decisions(const Call& call) {
  const auto kind = call.query().find("kind"), digest = call.query().find("digest");
  return newest_of_pool<DecisionRow>(call, "decisions", [&](const DecisionRow& row) {
    return (!kind || row.kind == *kind) && (!digest || row.digest == *digest);
  });
}

struct WantedErrors {
  std::optional<std::string> kind, launch_config;

  explicit WantedErrors(const Call& call)
      : kind(call.query().optional_text("kind")),
        launch_config(call.query().optional_text("launchConfigId")) {}
  bool operator()(const PoolErrorRow& row) const {
    return (!kind || row.kind == *kind) &&
           (!launch_config || row.launch_config_id.str() == *launch_config);
  }
};

Answer list_errors_of_pool(const Call& call) {
  return newest_of_pool<PoolErrorRow>(call, "errors", WantedErrors(call));
}

// -------------------------------------------------------------------------------------------------
// Errors of all pools

// The newest ones of all that are shown to it, in any order: as many as a page holds, by number and
// by bytes.
class NewestErrors {
 public:
  explicit NewestErrors(std::size_t limit) : limit_(limit) {}

  // One that is older than a dropped one is not wanted: there would be a gap in the page.
  bool wants(std::int64_t number) { return number > dropped_ || (more_ = true, false); }
  bool more() const { return more_; }

  void add(PoolErrorRow row) {
    bytes_ += bytes_of(row);
    rows_.push_back(std::move(row));
    std::ranges::push_heap(rows_, newer);
    while (rows_.size() > limit_ || (rows_.size() > 1 && bytes_ > http::largest_page_bytes)) {
      std::ranges::pop_heap(rows_, newer);
      more_ = true;
      dropped_ = std::max(dropped_, rows_.back().number);
      bytes_ -= bytes_of(rows_.back());
      rows_.pop_back();
    }
  }

  std::vector<PoolErrorRow> take() {
    std::ranges::sort(rows_, newer);
    return std::move(rows_);
  }

 private:
  static bool newer(const PoolErrorRow& a, const PoolErrorRow& b) { return a.number > b.number; }
  static std::size_t bytes_of(const PoolErrorRow& row) {
    return row.title.size() + row.description.size() + http::rough_bytes(row.extra);
  }

  std::size_t limit_, bytes_ = 0;
  std::vector<PoolErrorRow> rows_;  // a heap with the oldest on top
  std::int64_t dropped_ = 0;        // the newest of those
  bool more_ = false;
};

// Rows are in the order of their pools, so all are looked at, and only the newest are read whole.
Answer list_errors(const Call& call) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto before = call.query().number("before", INT64_MAX, 1, INT64_MAX);
  if (!before) return to_failure(before.error());
  const WantedErrors wanted(call);
  NewestErrors newest(*limit);
  const auto scanned = services_of(call).store->scan(
      {.table = &store::table_of<PoolErrorRow>}, [&](std::span<const store::Value> values) {
        const auto* number = values.size() > 1 ? std::get_if<std::int64_t>(&values[1]) : nullptr;
        if (!number || *number >= *before || !newest.wants(*number)) return true;
        auto row = store::from_values<PoolErrorRow>(values);
        if (row && wanted(*row)) newest.add(std::move(*row));
        return true;
      });
  if (!scanned) return to_failure(scanned.error());
  json::array errors;
  const auto rows = newest.take();
  for (const PoolErrorRow& row : rows) errors.push_back(codec::to_value(row));
  json::object answer{{"errors", std::move(errors)}};
  if (newest.more()) answer["next"] = rows.back().number;
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

Answer count_errors(const Call& call) {
  const auto pool = call.query().optional_text("workerPoolId");
  if (pool && !is_known(call, *pool))
    return not_found("there is no worker pool " + *pool + "; see: muster pools");
  store::Scan scan{.table = &store::table_of<PoolErrorRow>};
  if (pool) scan.prefix = {*pool};
  Time now{};
  call.host().fleet->read([&](const fleet::Fleet&, fleet::Now at) { now = at.wall; });
  Statistics statistics;
  const auto read = store::read_rows<PoolErrorRow>(
      *services_of(call).store, [&](const PoolErrorRow& row) { statistics.count(row, now); }, scan);
  if (!read) return to_failure(read.error());
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

std::vector<Endpoint> journal_endpoints() {
  return {
      {.name = "listDecisions",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/decisions",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{list_decisions},
       .query = {parameter::limit, parameter::before, parameter::decision_kind, parameter::digest},
       .output = "DecisionList",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "What was decided about a pool and why, the newest first; those of kind select "
                "hold the bids"},
      {.name = "listErrorsOfPool",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/errors",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{list_errors_of_pool},
       .query = {parameter::limit, parameter::before, parameter::error_kind,
                 parameter::of_launch_config},
       .output = "PoolErrorList",
       .errors = {bad_input, missing, unavailable},
       .category = "errors",
       .title = "What went wrong with workers of a pool, the newest first"},
      {.name = "countErrors",
       .method = "GET",
       .path = base + "/errors/stats",
       .scopes = all_of({"muster:get:errors"}),
       .handler = OnWorkerThreadWithFleet{count_errors},
       .query = {parameter::of_pool},
       .output = "ErrorStatistics",
       .errors = {bad_input, missing, unavailable},
       .category = "errors",
       .title = "Errors counted by kind, title, code, pool, launch configuration and time"},
      {.name = "listErrors",
       .method = "GET",
       .path = base + "/errors",
       .scopes = all_of({"muster:get:errors"}),
       .handler = OnWorkerThreadWithFleet{list_errors},
       .query = {parameter::limit, parameter::before, parameter::error_kind,
                 parameter::of_launch_config},
       .output = "PoolErrorList",
       .errors = {bad_input, unavailable},
       .category = "errors",
       .title = "What went wrong with workers of all pools, the newest first"},
  };
}

}  // namespace muster::api
