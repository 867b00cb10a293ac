// What went wrong in pools: reported, listed, counted.
#include <algorithm>
#include <map>

#include "host/fleet/service.hpp"
#include "host/store/row.hpp"
#include "host/taskcluster_api/documents.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using fleet::Fleet;
using fleet::Now;
using fleet::PoolErrorRow;

constexpr char error_token = 'e';
constexpr std::size_t rows_at_once = 1000;

}  // namespace

void report_worker_error(const CallPtr& call) {
  const fleet::WorkerName name{call->worker_pool_id(), WorkerGroup(call->text("workerGroup")),
                               WorkerId(call->text("workerId"))};
  change_fleet(call, [call, name](Fleet& fleet, Now now) -> Answer {
    if (!fleet.find_pool(name.worker_pool_id)) return not_found("Worker pool does not exist");
    if (!fleet.find_worker(name)) return not_found("Worker not found");
    const auto row =
        fleet.report_error(name, call->text("kind"), call->text("title"), call->text("description"),
                           call->body().at("extra").as_object(), now);
    if (!row && row.error().error_class == ErrorClass::throttle)
      return Failure("TooManyRequests", row.error().message, row.error().hold);
    if (!row) return to_failure(row.error());
    PrettyText text;
    write_error(text, fleet.host_id(), *row);
    return text.take();
  });
}

// -------------------------------------------------------------------------------------------------
// Lists

namespace {

struct WantedErrors {
  WorkerPoolId pool;
  std::string host_id;
  std::optional<std::int64_t> before = {};
  std::size_t limit = 0;
  std::optional<std::string> launch_config = {}, error_id = {};

  bool fits(const PoolErrorRow& row) const {
    return (!launch_config || row.launch_config_id.str() == *launch_config) &&
           (!error_id || fleet::error_id(host_id, row.number) == *error_id);
  }
};

struct Found {
  std::vector<PoolErrorRow> rows;
  bool more = false;  // there may be
};

// As many as a page may have, by number and by bytes.
Result<Found> read_errors(const store::Store& store, WantedErrors wanted) {
  Found found;
  http::PageBudget page;
  for (;;) {
    std::optional<store::Value> beyond;
    if (wanted.before) beyond.emplace(*wanted.before);
    const store::Scan scan{.table = &store::table_of<PoolErrorRow>,
                           .prefix = {wanted.pool.str()},
                           .beyond = std::move(beyond),
                           .backwards = true,
                           .limit = rows_at_once};
    std::size_t rows = 0;
    const auto read = store::read_rows<PoolErrorRow>(
        store,
        [&](PoolErrorRow row) {
          ++rows;
          wanted.before = row.number;
          if (found.more || !wanted.fits(row)) return;
          found.more = found.rows.size() == wanted.limit || page.is_full();
          if (found.more) return;
          page.take(row.title.size() + row.description.size() + http::rough_bytes(row.extra));
          found.rows.push_back(std::move(row));
        },
        scan,
        [&](std::span<const store::Value> unread) {
          ++rows;
          if (const auto* number = std::get_if<std::int64_t>(&unread[1])) wanted.before = *number;
        });
    if (!read) return read.error();
    if (rows < rows_at_once || found.more) return found;
  }
}

Answer listed(const store::Store& store, const WantedErrors& wanted) {
  auto found = read_errors(store, wanted);
  if (!found) return to_failure(found.error());
  PrettyText text;
  text.begin_object().key("workerPoolErrors").begin_array();
  for (const PoolErrorRow& row : found->rows) write_error(text.item(), wanted.host_id, row);
  text.end_array();
  if (found->more && !found->rows.empty())
    text.key("continuationToken")
        .string(make_token(error_token, std::to_string(found->rows.back().number)));
  return text.end_object().take();
}

// The fleet's own name for this host; nothing, and the call answered, without a fleet.
std::optional<std::string> host_id(const CallPtr& call) {
  if (!parts_of(*call).fleet) {
    call->fail({"ServiceUnavailable", parts_of(*call).problem});
    return std::nullopt;
  }
  std::string id;
  parts_of(*call).fleet->read([&](const Fleet& fleet, Now) { id = fleet.host_id(); });
  return id;
}

}  // namespace

void list_worker_pool_errors(const CallPtr& call) {
  const auto before = number_of_token(*call, error_token);
  if (!before) return call->fail(before.error());
  run_on_worker(call, [call, before = *before] {
    const auto host = host_id(call);
    if (!host) return;
    WantedErrors wanted{.pool = call->worker_pool_id(),
                        .host_id = *host,
                        .before = before,
                        .limit = limit_of(*call)};
    if (const auto id = call->query().find("launchConfigId")) wanted.launch_config = *id;
    if (const auto id = call->query().find("errorId")) wanted.error_id = *id;
    call->finish(listed(*parts_of(*call).store, wanted));
  });
}

// -------------------------------------------------------------------------------------------------
// Numbers

namespace {

constexpr int days_counted = 7, hours_counted = 24;

using Numbers = std::map<std::string, std::int64_t>;

std::string named(Time time) {
  std::string text;
  append_time(text, time);
  return text;
}

// One slot for each of the last so many periods, the present one included.
template <class Period>
class Slots {
 public:
  Slots(Time now, int count) : last_(std::chrono::floor<Period>(now)), counts_(count) {}

  bool count(Time at) {
    const auto age = (last_ - std::chrono::floor<Period>(at)).count();
    if (age < 0 || age >= static_cast<std::int64_t>(counts_.size())) return false;
    ++counts_[static_cast<std::size_t>(age)];
    return true;
  }

  void write(PrettyText& text) const {
    text.begin_object();
    for (std::size_t age = counts_.size(); age-- > 0;)
      text.key(named(last_ - Period(age))).integer(counts_[age]);
    text.end_object();
  }

 private:
  std::chrono::sys_time<Period> last_;
  std::vector<std::int64_t> counts_;
};

struct Statistics {
  explicit Statistics(Time now) : daily(now, days_counted), hourly(now, hours_counted) {}

  Slots<std::chrono::days> daily;
  Slots<std::chrono::hours> hourly;
  std::int64_t total = 0;
  Numbers title, code, worker_pool, launch_config;

  void count(const PoolErrorRow& row) {
    if (!daily.count(row.at)) return;
    hourly.count(row.at);
    ++total;
    ++title[row.title];
    const json::value* given = row.extra.if_contains("code");
    ++code[given && given->is_string() ? std::string(given->get_string()) : "other"];
    ++worker_pool[row.worker_pool_id.str()];
    ++launch_config[row.launch_config_id.empty() ? "unknown" : row.launch_config_id.str()];
  }
};

void write_numbers(PrettyText& text, const Numbers& numbers) {
  text.begin_object();
  for (const auto& [name, number] : numbers) text.key(name).integer(number);
  text.end_object();
}

Answer counted(const store::Store& store, const std::string& pool, Time now) {
  Statistics statistics(now);
  store::Scan scan{.table = &store::table_of<PoolErrorRow>};
  if (!pool.empty()) scan.prefix = {pool};
  const auto read = store::read_rows<PoolErrorRow>(
      store, [&](const PoolErrorRow& row) { statistics.count(row); }, scan);
  if (!read) return to_failure(read.error());
  PrettyText text;
  text.begin_object().key("workerPoolId").string(pool);
  text.key("totals").begin_object().key("total").integer(statistics.total);
  statistics.hourly.write(text.key("hourly"));
  statistics.daily.write(text.key("daily"));
  write_numbers(text.key("title"), statistics.title);
  write_numbers(text.key("code"), statistics.code);
  write_numbers(text.key("workerPool"), statistics.worker_pool);
  write_numbers(text.key("launchConfig"), pool.empty() ? Numbers() : statistics.launch_config);
  return text.end_object().end_object().take();
}

}  // namespace

void worker_pool_error_stats(const CallPtr& call) {
  const std::string pool(call->query().find("workerPoolId").value_or(""));
  run_on_worker(call, [call, pool] {
    if (!host_id(call)) return;
    bool known = pool.empty();
    parts_of(*call).fleet->read(
        [&](const Fleet& fleet, Now) { known |= fleet.find_pool(WorkerPoolId(pool)) != nullptr; });
    if (!known) return call->fail(not_found("Worker pool does not exist"));
    call->finish(counted(*parts_of(*call).store, pool, parts_of(*call).clock->now()));
  });
}

}  // namespace muster::taskcluster_api
