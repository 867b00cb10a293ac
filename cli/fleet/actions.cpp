#include "cli/fleet/actions.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <muster/codec.hpp>
#include <muster/plural.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/show_status.hpp"
#include "cli/fleet/watch.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

void ask_all_and_show(const FleetOptions& options, const std::string& path, const char* name,
                      const char* parameter, Shown shown) {
  HostClient host = connect(options.host);
  put_out(all_pages(host, api_path + path, name, parameter), options.as_json, options.view, shown);
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

// The pool of the options, else the one that has a worker of this name.
std::string pool_of_worker(HostClient& host, const FleetOptions& options) {
  if (!options.pool.empty()) return with_provisioner(options.pool);
  const json::value answer = answer_of(host.get(api_path + "workers/" + worker_path(options)));
  const auto found =
      answer.is_object() ? objects_of(answer.get_object(), "workers") : std::vector<json::object>();
  if (found.empty()) fail(Error::not_found("there is no worker " + options.worker));
  if (found.size() > 1) {
    std::string pools;
    for (const json::object& worker : found)
      pools += (pools.empty() ? "" : ", ") + text_of(worker, "workerPoolId");
    fail(Error::invalid("several pools have a worker " + options.worker + ": " + pools +
                        "; choose one with --pool"));
  }
  return text_of(found[0], "workerPoolId");
}

std::string path_of_worker(HostClient& host, const FleetOptions& options) {
  return api_path + "pools/" + path_segment(pool_of_worker(host, options)) + "/workers/" +
         worker_path(options);
}

// Workers in the order that --sort asks for; without it as the host sends them.
void sort_workers(json::object& document, const std::string& by) {
  json::value* list = document.if_contains("workers");
  if (by.empty() || !list || !list->is_array()) return;
  const std::map<std::string, std::string> members{
      {"pool", "workerPoolId"}, {"worker", "workerId"}, {"provider", "providerId"},
      {"state", "state"},       {"age", "created"},     {"capacity", "capacity"},
      {"busy", "busy"}};
  const auto key = [&](const json::value& worker) {
    const std::string text = worker.is_object() ? text_of(worker.get_object(), members.at(by)) : "";
    const bool is_number = by == "capacity" || by == "busy";
    return is_number ? std::string(text.size() < 20 ? 20 - text.size() : 0, '0') + text : text;
  };
  std::stable_sort(list->get_array().begin(), list->get_array().end(),
                   [&](const json::value& a, const json::value& b) { return key(a) < key(b); });
}

}  // namespace

const std::string far_future = "9999-12-31T00:00:00.000Z";

void ask_and_show(const FleetOptions& options, const std::string& path, Shown shown) {
  put_out(answer_of(connect(options.host).get(api_path + path)), options.as_json, options.view,
          shown);
}

void say(const FleetOptions& options, const json::value& answer, const std::string& line) {
  if (options.as_json) return print_json(answer);
  print(line + "\n");
}

std::string end_of_pause(const FleetOptions& options) {
  if (!options.until.empty()) return options.until;
  if (options.duration.empty()) return far_future;
  const auto seconds = seconds_of(options.duration);
  if (!seconds)
    throw CommandFailure{
        exit_usage, "--for " + options.duration + " is not a duration; write 90s, 30m, 2h or 3d",
        "usage"};
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return format_time(now + std::chrono::seconds(*seconds));
}

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

namespace {

json::object pause_body(const FleetOptions& options) {
  return {{"until", end_of_pause(options)}, {"reason", options.reason}};
}

std::string until_words(const FleetOptions& options, const char* without_end) {
  const bool ends = !options.until.empty() || !options.duration.empty();
  return "until " + (ends ? end_of_pause(options) : without_end);
}

}  // namespace

void set_pool(const FleetOptions& options) {
  const json::object body = document_in(options.file);
  say(options, answer_of(connect(options.host).put(api_path + pool_path(options), body)),
      "set worker pool " + with_provisioner(options.pool));
}

void show_payload_schema(const FleetOptions& options) {
  const json::value schema =
      answer_of(connect(options.host).get(api_path + pool_path(options) + "/payload-schema"));
  if (!schema.is_object()) fail(Error::internal("the host's answer cannot be read"));
  print_json(table_of(schema.get_object(), "payloadSchema"));
}

void validate_payload(const FleetOptions& options) {
  const json::object payload = document_in(options.file);
  const json::value answer = answer_of(
      connect(options.host).post(api_path + pool_path(options) + "/validate-payload", payload));
  put_out(answer, options.as_json, options.view, show_payload_check);
  const json::value* valid =
      answer.is_object() ? answer.get_object().if_contains("valid") : nullptr;
  if (!valid || !valid->is_bool() || !valid->get_bool()) throw Exit{exit_failed};
}

void delete_pool(const FleetOptions& options) {
  const std::string pool = with_provisioner(options.pool);
  HostClient host = connect(options.host);
  answer_of(host.get(api_path + pool_path(options)));  // a mistyped name is said first
  confirm(options.yes, "This deletes worker pool " + pool + "; its workers end when idle.");
  say(options, answer_of(host.remove(api_path + pool_path(options))),
      "deleted worker pool " + pool + "; its workers drain");
}

void pause_pool(const FleetOptions& options) {
  // What is wrong with it is said before a host is asked.
  const json::object body = pause_body(options);
  say(options,
      answer_of(connect(options.host).post(api_path + pool_path(options) + "/pause", body)),
      "paused " + until_words(options, "it is resumed") + "; its workers go on");
}

void resume_pool(const FleetOptions& options) {
  say(options, answer_of(connect(options.host).post(api_path + pool_path(options) + "/resume")),
      "resumed");
}

void list_workers(const FleetOptions& options) {
  std::string query =
      query_of({{"limit", "1000"},
                {"workerPoolId", options.pool.empty() ? "" : with_provisioner(options.pool)},
                {"launchConfigId", options.launch_config},
                {"providerId", options.provider}});
  for (const std::string& state : options.states) query += "&state=" + path_segment(state);
  HostClient host = connect(options.host);
  json::object all = all_pages(host, api_path + "workers" + query, "workers", "before");
  sort_workers(all, options.sort);
  put_out(all, options.as_json, options.view, show_workers);
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
  HostClient host = connect(options.host);
  return answer_of(host.post(path_of_worker(host, options) + "/quarantine",
                             {{"until", until}, {"reason", options.reason}}));
}

}  // namespace

void quarantine_worker(const FleetOptions& options) {
  say(options, quarantine(options, end_of_pause(options)),
      "quarantined " + until_words(options, "it is released"));
}

// By a time that is past, whatever the clocks say.
void release_worker(const FleetOptions& options) {
  say(options, quarantine(options, "2000-01-01T00:00:00.000Z"), "released");
}

void drain_worker(const FleetOptions& options) {
  HostClient host = connect(options.host);
  say(options,
      answer_of(host.post(path_of_worker(host, options) + "/drain", {{"reason", options.reason}})),
      "draining: it takes no new work and ends when its work is done");
}

void terminate_worker(const FleetOptions& options) {
  HostClient host = connect(options.host);
  const std::string path = path_of_worker(host, options);
  confirm(options.yes, "This terminates " + options.worker +
                           " at once; its task is lost. `muster worker drain` lets it finish.");
  say(options, answer_of(host.remove(path)), "terminating " + options.worker);
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

void show_launch_config(const FleetOptions& options) {
  const std::string path = launch_config_path(options).substr(api_path.size());
  ask_and_show(options, path, show_members);
}

void pause_launch_config(const FleetOptions& options) {
  // What is wrong with it is said before a host is asked.
  const json::object body = pause_body(options);
  say(options, answer_of(connect(options.host).post(launch_config_path(options) + "/pause", body)),
      "paused " + until_words(options, "it is resumed"));
}

void resume_launch_config(const FleetOptions& options) {
  say(options, answer_of(connect(options.host).post(launch_config_path(options) + "/resume")),
      "resumed");
}

// The newest last, and only what changed something; for programs as the host sends them.
void list_decisions(const FleetOptions& options) {
  const auto limit = static_cast<std::size_t>(options.limit);
  const bool whole = options.as_json || options.all || !options.digest.empty();
  const std::string path = api_path + pool_path(options) + "/decisions";
  const auto query = [&](const std::string& before) {
    return query_of({{"limit", whole ? std::to_string(limit) : "1000"},
                     {"kind", options.kind},
                     {"digest", options.digest},
                     {"before", before}});
  };
  HostClient host = connect(options.host);
  const json::value first = answer_of(host.get(path + query("")));
  if (options.as_json || options.view.format == "name")
    return put_out(first, options.as_json, options.view, show_decisions);
  json::array read;
  json::value page = first;
  constexpr int most_pages = 5;
  for (int pages = 1; page.is_object(); ++pages) {
    for (json::value& item : list_of(page.get_object(), "decisions")) read.push_back(item);
    const std::string next = text_of(page.get_object(), "next");
    if (whole || next.empty() || pages == most_pages ||
        decisions_that_changed(read).size() >= limit)
      break;
    page = answer_of(host.get(path + query(next)));
  }
  json::array shown =
      whole ? json::array(read.rbegin(), read.rend()) : decisions_that_changed(read);
  if (shown.size() > limit)
    shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(limit));
  put_out(json::object{{"decisions", std::move(shown)}}, false, options.view, show_decisions);
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

void list_runs(const FleetOptions& options) {
  std::string path;
  if (!options.pool.empty()) path = pool_path(options) + "/";
  if (!options.worker.empty()) path += "workers/" + worker_path(options) + "/";
  if (!options.launch_config.empty())
    path += "launch-configs/" + path_segment(options.launch_config) + "/";
  ask_and_show(options,
               path + "runs" +
                   query_of({{"limit", std::to_string(options.limit)},
                             {"outcome", options.status},
                             {"workerConfiguration", options.file}}),
               show_runs);
}

void show_run_source(const FleetOptions& options) {
  ask_and_show(options, "run-source", show_source_of_runs);
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

// Exit code 1 if something failed, for scripts.
void diagnose_provider(const FleetOptions& options) {
  constexpr std::chrono::minutes patience(5);  // it tries things out
  const json::value answer =
      answer_of(connect(options.host, patience)
                    .get(api_path + "providers/" + path_segment(options.provider) + "/diagnosis"));
  put_out(answer, options.as_json, options.view, show_diagnosis);
  if (answer.is_object())
    for (const json::object& check : objects_of(answer.get_object(), "checks"))
      if (text_of(check, "outcome") == "failed") throw Exit{exit_failed};
}

void show_provider(const FleetOptions& options) {
  ask_and_show(options, "providers/" + path_segment(options.provider), show_members);
}

}  // namespace muster::cli
