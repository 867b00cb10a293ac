#include "cli/fleet/actions.hpp"

#include <chrono>

#include <muster/codec.hpp>
#include <muster/plural.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/show_status.hpp"
#include "cli/fleet/watch.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

using Shown = std::string (*)(const json::object&, const Style&);

void put_out(const json::value& document, bool as_json, Shown shown) {
  if (as_json) return print_json(document);
  if (!document.is_object()) fail(Error::internal("the host's answer cannot be read"));
  print(shown(document.get_object(), Style::of_stdout()));
}

void ask_and_show(const FleetOptions& options, const std::string& path, Shown shown) {
  put_out(answer_of(connect(options.host).get(api_path + path)), options.as_json, shown);
}

void ask_all_and_show(const FleetOptions& options, const std::string& path, const char* name,
                      const char* parameter, Shown shown) {
  HostClient host = connect(options.host);
  put_out(all_pages(host, api_path + path, name, parameter), options.as_json, shown);
}

std::string pool_path(const FleetOptions& options) {
  return "pools/" + path_segment(with_provisioner(options.pool));
}

std::string launch_config_path(const FleetOptions& options) {
  return api_path + pool_path(options) + "/launch-configs/" + path_segment(options.launch_config);
}

// "workerGroup/workerId" of the options, fit for a path.
std::string worker_path(const FleetOptions& options) {
  const std::size_t slash = options.worker.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == options.worker.size())
    fail(Error::invalid(
        options.worker +
        " is not a worker: write workerGroup/workerId, as `muster workers` shows them"));
  return path_segment(options.worker.substr(0, slash)) + "/" +
         path_segment(options.worker.substr(slash + 1));
}

// For programs the host's document, for people one line.
void say(const FleetOptions& options, const json::value& answer, const std::string& line) {
  if (options.as_json) return print_json(answer);
  print(line + "\n");
}

std::string end_of_pause(const FleetOptions& options) {
  if (!options.until.empty()) return options.until;
  const auto seconds = seconds_of(options.duration);
  if (!seconds)
    fail(Error::invalid(options.duration.empty()
                            ? "give an end: --for 2h, or --until 2026-01-02T03:04:05Z"
                            : "--for " + options.duration +
                                  " is not a duration; write 90s, 30m, 2h or 3d"));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return format_time(now + std::chrono::seconds(*seconds));
}

}  // namespace

std::optional<long long> seconds_of(const std::string& duration) {
  constexpr long long longest = 10LL * 366 * 86400;
  long long total = 0, number = 0;
  bool digits = false;
  for (const char c : duration) {
    if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0');
      if (number > longest) return std::nullopt;
      digits = true;
      continue;
    }
    const long long unit = c == 's' ? 1 : c == 'm' ? 60 : c == 'h' ? 3600 : c == 'd' ? 86400 : 0;
    if (!digits || unit == 0) return std::nullopt;
    total += number * unit;
    number = 0;
    digits = false;
  }
  if (digits || total <= 0 || total > longest) return std::nullopt;
  return total;
}

void show_status(const FleetOptions& options) {
  if (options.watch) return watch_status(options);
  ask_and_show(options, "status", status_text);
}

void list_pools(const FleetOptions& options) {
  ask_all_and_show(options, "pools" + query_of({{"limit", "1000"}, {"verdict", options.verdict}}),
                   "pools", "after", show_pools);
}

void show_one_pool(const FleetOptions& options) {
  ask_and_show(options, pool_path(options), show_pool);
}

void list_workers(const FleetOptions& options) {
  std::string query = query_of({{"limit", "1000"},
                                {"launchConfigId", options.launch_config},
                                {"providerId", options.provider}});
  for (const std::string& state : options.states) query += "&state=" + path_segment(state);
  ask_all_and_show(options, pool_path(options) + "/workers" + query, "workers", "before",
                   show_workers);
}

void show_one_worker(const FleetOptions& options) {
  const std::string name = worker_path(options);
  if (options.pool.empty())
    ask_and_show(options, "workers/" + name, show_found_workers);
  else
    ask_and_show(options, pool_path(options) + "/workers/" + name, show_worker);
}

namespace {

json::value quarantine(const FleetOptions& options, const std::string& until) {
  const std::string worker = api_path + pool_path(options) + "/workers/" + worker_path(options);
  return answer_of(
      connect(options.host)
          .post(worker + "/quarantine", {{"until", until}, {"reason", options.reason}}));
}

}  // namespace

void quarantine_worker(const FleetOptions& options) {
  const bool ends = !options.until.empty() || !options.duration.empty();
  const std::string until = ends ? end_of_pause(options) : "9999-12-31T00:00:00.000Z";
  say(options, quarantine(options, until),
      "quarantined until " + (ends ? until : "it is released"));
}

// By a time that is past, whatever the clocks say.
void release_worker(const FleetOptions& options) {
  say(options, quarantine(options, "2000-01-01T00:00:00.000Z"), "released");
}

void list_launch_configs(const FleetOptions& options) {
  ask_all_and_show(
      options,
      "launch-configs" +
          query_of({{"limit", "1000"},
                    {"workerPoolId", options.pool.empty() ? "" : with_provisioner(options.pool)},
                    {"providerId", options.provider},
                    {"status", options.status}}),
      "launchConfigs", "after", show_launch_configs);
}

void pause_launch_config(const FleetOptions& options) {
  const std::string until = end_of_pause(options);
  const json::value answer = answer_of(connect(options.host)
                                           .post(launch_config_path(options) + "/pause",
                                                 {{"until", until}, {"reason", options.reason}}));
  say(options, answer, "paused until " + until);
}

void resume_launch_config(const FleetOptions& options) {
  say(options, answer_of(connect(options.host).post(launch_config_path(options) + "/resume")),
      "resumed");
}

void list_decisions(const FleetOptions& options) {
  ask_and_show(options,
               pool_path(options) + "/decisions" +
                   query_of({{"limit", std::to_string(options.limit)},
                             {"kind", options.kind},
                             {"digest", options.digest}}),
               show_decisions);
}

void list_errors(const FleetOptions& options) {
  const std::string pool = options.pool.empty() ? "" : with_provisioner(options.pool);
  if (options.stats)
    return ask_and_show(options, "errors/stats" + query_of({{"workerPoolId", pool}}),
                        show_error_counts);
  ask_and_show(options,
               (pool.empty() ? "" : pool_path(options) + "/") + "errors" +
                   query_of({{"limit", std::to_string(options.limit)},
                             {"kind", options.kind},
                             {"launchConfigId", options.launch_config}}),
               show_errors);
}

void list_holds(const FleetOptions& options) {
  ask_and_show(options, "holds" + query_of({{"providerId", options.provider}}), show_holds);
}

void release_holds(const FleetOptions& options) {
  const json::value answer =
      answer_of(connect(options.host)
                    .remove(api_path + "holds/" + path_segment(options.provider) +
                            query_of({{"scope", options.scope}})));
  const std::size_t count =
      answer.is_object() ? list_of(answer.get_object(), "released").size() : 0;
  say(options, answer, "released " + count_of(count, "hold") + " of " + options.provider);
}

void list_set_aside(const FleetOptions& options) {
  ask_and_show(options, "set-aside", show_rows_set_aside);
}

void show_set_aside(const FleetOptions& options) {
  ask_and_show(options, "set-aside/" + path_segment(options.row), show_row_set_aside);
}

void retry_set_aside(const FleetOptions& options) {
  json::object columns;
  for (const std::string& given : options.columns) {
    const auto equals = given.find('=');
    if (equals == std::string::npos || equals == 0)
      fail(Error::invalid("--set " + given + " is not COLUMN=VALUE"));
    const std::string text = given.substr(equals + 1);
    const auto value = json::parse(text);
    const bool scalar = value && !value->is_object() && !value->is_array();
    columns[given.substr(0, equals)] = scalar ? *value : json::value(text);
  }
  const json::value answer =
      answer_of(connect(options.host)
                    .post(api_path + "set-aside/" + path_segment(options.row) + "/retry",
                          {{"row", columns}}));
  say(options, answer, "row " + options.row + " was written anew; it is read when the host starts");
}

void discard_set_aside(const FleetOptions& options) {
  const json::value answer =
      answer_of(connect(options.host).remove(api_path + "set-aside/" + path_segment(options.row)));
  say(options, answer, "row " + options.row + " is erased");
}

void list_providers(const FleetOptions& options) {
  ask_and_show(options, "providers", show_providers);
}

void accept_empty_configurations(const FleetOptions& options) {
  const json::value answer = answer_of(
      connect(options.host).post(api_path + "worker-configurations/accept-empty", json::object{}));
  say(options, answer,
      "accepted: what the source of the worker configurations holds now counts; pools that are no "
      "longer there end. See: muster status");
}

}  // namespace muster::cli
