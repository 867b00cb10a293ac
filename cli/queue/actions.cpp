#include "cli/queue/actions.hpp"

#include <cstdio>
#include <unistd.h>
#include <utility>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/watch.hpp"
#include "cli/queue/show.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/ssh/public_key.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t longest_key_file = std::size_t{16} << 10;

void put_out(const QueueOptions& options, const json::value& document,
             std::string (*shown)(const json::object&, const Style&)) {
  if (options.as_json) return print_json(document);
  if (!document.is_object()) fail(Error::internal("the host's answer cannot be read"));
  print(shown(document.get_object(), Style::of_stdout()));
}

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

json::value attachment(const QueueOptions& options, const char* verb) {
  json::array teams;
  for (const std::string& team : options.teams) teams.emplace_back(team);
  json::object body{{"teams", std::move(teams)}};
  if (options.exclusive) body["exclusive"] = true;
  return answer_of(connect(options.host).post(pool_path(options) + "/" + verb, body));
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
    const std::string text = options.as_json ? json::write(*load) + "\n"
                                             : show_load(load->get_object(), Style::of_stdout());
    if (drawn) return draw(text), Result<void>();
    if (std::exchange(shown, text) == text) return {};
    print(text);
    std::fflush(stdout);
    return {};
  });
}

}  // namespace

void show_queue(const QueueOptions& options) {
  if (options.watch) return watch_queue(options);
  put_out(options, answer_of(connect(options.host).get(api_path + "queue")), show_load);
}

void list_worker_pools(const QueueOptions& options) {
  put_out(options, answer_of(connect(options.host).get(api_path + "worker-pools")),
          show_worker_pools);
}

void set_worker_pool(const QueueOptions& options) {
  json::object body;
  json::array keys;
  for (const std::string& file : options.key_files) keys.emplace_back(public_key_in(file));
  if (!keys.empty() || options.no_keys) body["publicKeys"] = std::move(keys);
  say(options, answer_of(connect(options.host).put(pool_path(options), body)),
      with_provisioner(options.name) + " serves the teams that are attached to it, and no others");
}

void destroy_worker_pool(const QueueOptions& options) {
  say(options, answer_of(connect(options.host).remove(pool_path(options))),
      with_provisioner(options.name) + " is no longer dedicated to teams");
}

void attach_worker_pool(const QueueOptions& options) {
  say(options, attachment(options, "attach"),
      with_provisioner(options.name) + " serves " + names(options.teams));
}

void detach_worker_pool(const QueueOptions& options) {
  say(options, attachment(options, "detach"),
      with_provisioner(options.name) + " no longer serves " + names(options.teams));
}

void set_team(const QueueOptions& options) {
  say(options,
      answer_of(connect(options.host)
                    .put(api_path + "teams/" + path_segment(options.name),
                         {{"weight", options.weight},
                          {"maxHeld", options.max_held},
                          {"maxPending", options.max_pending}})),
      "updated team " + options.name);
}

}  // namespace muster::cli
