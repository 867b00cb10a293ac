#include "cli/queue/actions.hpp"

#include <chrono>
#include <cstdio>
#include <set>
#include <unistd.h>
#include <utility>

#include <muster/codec.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/actions.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/watch.hpp"
#include "cli/queue/show.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/ssh/public_key.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t longest_key_file = std::size_t{16} << 10;

void say(const QueueOptions& options, const json::value& answer, const std::string& line) {
  if (options.as_json) return print_json(answer);
  print(line + "\n");
}

std::string pool_path(const QueueOptions& options) {
  return api_path + "worker-pools/" + path_segment(with_provisioner(options.name));
}

std::string names(const std::vector<std::string>& teams) {
  std::string all;
  for (const std::string& team : teams) all += (all.empty() ? "" : ", ") + team;
  return all;
}

// Looked at before anything is sent: a private key must not leave this machine.
std::string public_key_in(const std::string& file) {
  const auto text = read_file(file, longest_key_file);
  if (!text) fail(text.error());
  if (const auto key = ssh::PublicKey::parse(*text); !key)
    fail(Error::invalid(file + ": " + key.error().message));
  return text->substr(0, text->find_last_not_of("\r\n") + 1);
}

json::value attachment(HostClient& host, const QueueOptions& options, const char* verb) {
  json::array teams;
  for (const std::string& team : options.teams) teams.emplace_back(team);
  json::object body{{"teams", std::move(teams)}};
  if (options.exclusive) body["exclusive"] = true;
  return answer_of(host.post(pool_path(options) + "/" + verb, body));
}

// The teams that a dedicated pool serves; nothing if it is shared by all, or may not be looked at.
std::optional<std::set<std::string>> teams_of(HostClient& host, const QueueOptions& options) {
  const auto answer = host.get(api_path + "worker-pools");
  const std::string wanted = with_provisioner(options.name);
  if (answer && answer->is_object())
    for (const json::object& pool : objects_of(answer->get_object(), "workerPools")) {
      if (text_of(pool, "workerPoolId") != wanted || text_of(pool, "dedicated") == "false")
        continue;
      std::set<std::string> teams;
      for (const json::value& team : list_of(pool, "teams"))
        if (team.is_string()) teams.emplace(team.get_string());
      return teams;
    }
  return std::nullopt;
}

}  // namespace

namespace {

// On a terminal the view again and again; elsewhere when it has changed.
void watch_queue(const QueueOptions& options) {
  const bool drawn = ::isatty(STDOUT_FILENO) == 1 && !options.as_json;
  HostClient host = connect(options.host);
  std::string shown;
  watch(drawn, [&]() -> Result<void> {
    const auto load = host.get(api_path + "queue");
    if (!load) return load.error();
    if (!load->is_object()) return Error::internal("the host's answer cannot be read");
    const std::string text =
        options.as_json ? json::write(*load) : show_load(load->get_object(), View::of_stdout());
    if (drawn) return draw(text), Result<void>();
    if (std::exchange(shown, text) == text) return {};
    if (options.as_json)
      print_json_line(*load);
    else
      print(text);
    std::fflush(stdout);
    return {};
  });
}

}  // namespace

void show_queue(const QueueOptions& options) {
  if (options.watch) return watch_queue(options);
  put_out(answer_of(connect(options.host).get(api_path + "queue")), options.as_json, options.view,
          show_load);
}

void list_worker_pools(const QueueOptions& options) {
  put_out(answer_of(connect(options.host).get(api_path + "worker-pools")), options.as_json,
          options.view, show_worker_pools);
}

void set_worker_pool(const QueueOptions& options) {
  json::object body;
  json::array keys;
  for (const std::string& file : options.key_files) keys.emplace_back(public_key_in(file));
  if (!keys.empty() || options.no_keys) body["publicKeys"] = std::move(keys);
  HostClient host = connect(options.host);
  const std::string pool = with_provisioner(options.name);
  const auto known = host.get(api_path + "pools/" + path_segment(pool));
  const bool may_look = known || known.error().error_class != ErrorClass::auth;
  if (!known && may_look) fail(known.error());
  if (may_look && options.teams.empty() && !teams_of(host, options))
    confirm(options.yes, "No team is attached to " + pool +
                             ": once it is dedicated, nobody can use it until `muster pool attach` "
                             "names a team; --team names one at once.");
  json::value answer = answer_of(host.put(pool_path(options), body));
  if (!options.teams.empty()) answer = attachment(host, options, "attach");
  say(options, answer,
      pool + (options.teams.empty()
                  ? " serves the teams that are attached to it, and no others"
                  : " serves " + names(options.teams) + " and no other teams but those attached"));
}

void destroy_worker_pool(const QueueOptions& options) {
  say(options, answer_of(connect(options.host).remove(pool_path(options))),
      with_provisioner(options.name) + " is no longer dedicated to teams");
}

void attach_worker_pool(const QueueOptions& options) {
  HostClient host = connect(options.host);
  say(options, attachment(host, options, "attach"),
      with_provisioner(options.name) + " serves " + names(options.teams));
}

void detach_worker_pool(const QueueOptions& options) {
  HostClient host = connect(options.host);
  if (auto left = teams_of(host, options)) {
    const bool served = !left->empty();
    for (const std::string& team : options.teams) left->erase(team);
    if (served && left->empty())
      confirm(options.yes, "No team would be left that may use " + with_provisioner(options.name) +
                               ", which is dedicated to teams.");
  }
  say(options, attachment(host, options, "detach"),
      with_provisioner(options.name) + " no longer serves " + names(options.teams));
}

// -------------------------------------------------------------------------------------------------
// Teams and requests

namespace {

json::object team_named(HostClient& host, const std::string& name) {
  const auto answer = host.get(api_path + "teams");
  if (!answer && answer.error().error_class == ErrorClass::auth) return {};  // may not look
  const json::value listed = answer_of(answer);
  if (listed.is_object())
    for (json::object& team : objects_of(listed.get_object(), "teams"))
      if (text_of(team, "team") == name) return std::move(team);
  return {};
}

std::string end_of_extension(const QueueOptions& options) {
  if (!options.until.empty()) return options.until;
  const auto seconds = seconds_of(options.duration);
  if (!seconds)
    throw CommandFailure{
        exit_usage, "give a new end: --for 2h from now, or --until 2026-01-02T03:04:05Z", "usage"};
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return format_time(now + std::chrono::seconds(*seconds));
}

// Of the team that the request belongs to, if --team does not name it.
std::string request_path(HostClient& host, const QueueOptions& options) {
  std::string team = options.team;
  if (team.empty()) {
    const json::value found =
        answer_of(host.get(api_path + "requests/" + path_segment(options.name)));
    team = found.is_object() ? text_of(found.get_object(), "team") : "";
  }
  return api_path + "teams/" + path_segment(team) + "/requests/" + path_segment(options.name);
}

}  // namespace

void list_teams(const QueueOptions& options) {
  put_out(answer_of(connect(options.host).get(api_path + "teams")), options.as_json, options.view,
          show_teams);
}

void show_team(const QueueOptions& options) {
  HostClient host = connect(options.host);
  const json::object team = team_named(host, options.name);
  if (team.empty())
    fail(Error::not_found("there is no team " + options.name + "; see: muster team list"));
  put_out(team, options.as_json, options.view, show_members);
}

// What is not given stays as it is.
void set_team(const QueueOptions& options) {
  HostClient host = connect(options.host);
  const bool whole = options.weight && options.max_held && options.max_pending;
  const json::object before = whole ? json::object() : team_named(host, options.name);
  json::object body;
  for (const char* member : {"weight", "maxHeld", "maxPending"})
    if (const json::value* value = before.if_contains(member)) body[member] = *value;
  if (options.weight) body["weight"] = *options.weight;
  if (options.max_held) body["maxHeld"] = *options.max_held;
  if (options.max_pending) body["maxPending"] = *options.max_pending;
  say(options, answer_of(host.put(api_path + "teams/" + path_segment(options.name), body)),
      "updated team " + options.name);
}

void list_requests(const QueueOptions& options) {
  const std::string query =
      query_of({{"limit", "1000"}, {"team", options.team}, {"state", options.state}});
  HostClient host = connect(options.host);
  put_out(all_pages(host, api_path + "requests" + query, "requests", "after"), options.as_json,
          options.view, show_requests);
}

void show_request(const QueueOptions& options) {
  HostClient host = connect(options.host);
  const std::string path = options.team.empty()
                               ? api_path + "requests/" + path_segment(options.name)
                               : request_path(host, options);
  put_out(answer_of(host.get(path)), options.as_json, options.view, show_members);
}

void cancel_request(const QueueOptions& options) {
  HostClient host = connect(options.host);
  say(options, answer_of(host.remove(request_path(host, options))),
      "cancelled request " + options.name + "; its worker, if it had one, is free");
}

void extend_request(const QueueOptions& options) {
  const std::string until = end_of_extension(options);
  HostClient host = connect(options.host);
  say(options, answer_of(host.post(request_path(host, options) + "/extend", {{"until", until}})),
      "request " + options.name + " holds its worker until " + until);
}

}  // namespace muster::cli
