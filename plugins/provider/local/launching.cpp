// From a key to an agent that runs.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "lib/crypto/sha256.hpp"
#include "plugins/base/digest.hpp"
#include "plugins/provider/local/identity.hpp"
#include "plugins/provider/local/limits.hpp"
#include "plugins/provider/local/local_workers_folder.hpp"
#include "plugins/provider/local/processes.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_output = 400;  // in an error's message

// One key of one owner is one worker, no matter who asks and how often.
WorkerId worker_for(const Owner& owner, const IdempotencyKey& key) {
  const std::string name = owner.host_id + "\n" + owner.provider_id.str() + "\n" + key.str();
  return WorkerId("local-" + sha256_hex(name).substr(0, 20));
}

// Nothing of the host's environment but what every program expects: it may hold secrets.
std::vector<std::string> environment_for(const fs::path& folder, const std::optional<RunAs>& user) {
  std::vector<std::string> environment{folder_variable + ("=" + folder.string()),
                                       "HOME=" + (folder / "work").string()};
  const auto keep = [&](const char* name) {
    if (const char* value = std::getenv(name))
      environment.push_back(name + ("=" + std::string(value)));
  };
  for (const char* name : {"PATH", "LANG", "LC_ALL", "TZ"}) keep(name);
  if (user && !user->name.empty())
    for (const char* name : {"USER", "LOGNAME"}) environment.push_back(name + ("=" + user->name));
  if (!user)
    for (const char* name : {"TMPDIR", "USER", "LOGNAME"}) keep(name);
  return environment;
}

std::string last_words(const fs::path& output) {
  const auto text = read_if_there(output, 64 << 20);
  if (!text || !*text) return {};
  std::string words = **text;
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  if (words.size() > most_of_output) words = "..." + words.substr(words.size() - most_of_output);
  for (char& letter : words)
    if (static_cast<unsigned char>(letter) < 32) letter = ' ';
  return words.empty() ? words : ": " + words;
}

std::string root_url_in(const json::object& registration) {
  const json::value* url = registration.if_contains("rootUrl");
  return url && url->is_string() ? std::string(url->get_string()) : std::string();
}

}  // namespace

struct LocalWorkersFolder::Starting {
  fs::path folder;
  Record record;
  Limits limits = {};
  pid_t pid = 0;
};

json::object LocalWorkersFolder::agent_configuration(const AllocateRequest& request,
                                                     const Section& section,
                                                     const Starting& starting) const {
  const Image& image = settings_.images.at(section.image);
  const Instance& instance = starting.record.instance;
  json::object environment{{folder_variable, starting.folder.string()}};
  for (const auto& [name, value] : settings_.environment) environment[name] = value;
  json::object worker{{"command", codec::to_value(image.command)},
                      {"stopGrace", std::to_string(settings_.stop_grace.count()) + "ms"},
                      {"environment", std::move(environment)}};
  if (!image.refresh.is_null()) worker["refresh"] = image.refresh;
  if (!settings_.allowed_environment.empty())
    worker["allowedEnvironment"] = codec::to_value(settings_.allowed_environment);
  if (settings_.user)
    worker["user"] =
        std::to_string(settings_.user->uid) + ":" + std::to_string(settings_.user->gid);
  json::object configuration{
      {"rootUrl", root_url_in(request.registration)},
      {"workerPoolId", instance.worker_pool_id.str()},
      {"providerId", request.owner.provider_id.str()},
      {"workerGroup", instance.worker_group.str()},
      {"workerId", instance.worker_id.str()},
      {"capacity", instance.capacity},
      {"folder", starting.folder.string()},
      {"identity", json::object{{"kind", "local"}, {"secretFile", "secret"}}},
      {"worker", std::move(worker)}};
  // The host is near: waiting for it saves nothing, and it does not know a worker before all that
  // are launched with it are up.
  json::object timings{{"retryMin", "50ms"}, {"retryMax", "1s"}, {"idleCheck", "5s"}};
  for (const auto& [name, value] : settings_.timings) timings[name] = value;
  configuration["timings"] = std::move(timings);
  if (!settings_.ca_file.empty()) configuration["caFile"] = settings_.ca_file;
  return configuration;
}

// What was launched for this key before. Nothing: a launch may begin.
std::optional<Launch> LocalWorkersFolder::known(const AllocateRequest&, const IdempotencyKey& key,
                                                const fs::path& folder) {
  if (!is_there(folder)) return std::nullopt;
  Look look;
  const auto worker = look_at(folder, look);  // discards what never started
  if (worker && worker->record.instance.idempotency_key == key)
    return Launch{key, worker->record.instance, {}};
  if (worker) return Launch{key, {}, Error::internal("two keys have the same worker id")};
  if (!look.problems.empty()) return Launch{key, {}, look.problems.front()};
  if (is_there(folder))
    return Launch{key, {}, Error::transient(folder.string() + " cannot be removed")};
  return std::nullopt;
}

Result<LocalWorkersFolder::Starting> LocalWorkersFolder::prepare(const AllocateRequest& request,
                                                                 const Section& section,
                                                                 const IdempotencyKey& key) {
  const LaunchConfig& from = request.launch_config;
  Starting starting{settings_.folder / worker_for(request.owner, key).str(), {}};
  auto limits =
      make_limits(section, cgroup_, starting.folder.filename().string(), !settings_.cgroup.empty());
  if (!limits) return limits.error();
  starting.limits = std::move(*limits);
  starting.record = {
      1, request.owner.host_id, request.owner.provider_id, {}, starting.limits.cgroup.string()};
  Instance& instance = starting.record.instance;
  instance.worker_group = WorkerGroup(settings_.region);
  instance.worker_id = WorkerId(starting.folder.filename().string());
  instance.worker_pool_id = from.worker_pool_id;
  instance.launch_config_id = from.launch_config_id;
  instance.idempotency_key = key;
  instance.capacity = from.capacity_per_instance;
  instance.epoch = request.owner.epoch;
  instance.created = clock_();
  instance.tags = request.tags;
  instance.provider_data = {{"v", 1},
                            {"image", section.image},
                            {"folder", starting.folder.string()},
                            {"limits", starting.limits.in_words}};
  if (const auto written = write_files(request, section, starting); !written) {
    discard(starting.folder, starting.record.cgroup);
    return written.error();
  }
  return starting;
}

// instance.json comes last: without it the folder means nothing.
Result<void> LocalWorkersFolder::write_files(const AllocateRequest& request, const Section& section,
                                             Starting& starting) const {
  const fs::path& folder = starting.folder;
  if (::mkdir(folder.c_str(), 0700) != 0 || ::mkdir((folder / "work").c_str(), 0700) != 0)
    return trouble(folder, "cannot be made", errno);
  if (const auto& user = settings_.user)
    if (::chmod(folder.c_str(), 0711) != 0 ||
        ::lchown((folder / "work").c_str(), user->uid, user->gid) != 0)
      return trouble(folder / "work", "cannot be given to the worker", errno);
  const auto secret = random_secret();
  if (!secret) return secret.error();
  starting.record.instance.provider_data["secretSha256"] = sha256_hex(*secret);
  if (auto written = write_durably(folder / "secret", *secret + "\n"); !written) return written;
  const json::object configuration = agent_configuration(request, section, starting);
  if (auto written = write_durably(folder / "agent.json", json::write_pretty(configuration));
      !written)
    return written;
  return write_durably(folder / "instance.json", encode(starting.record));
}

Result<void> LocalWorkersFolder::begin(Starting& starting) const {
  Program program;
  program.command = settings_.agent;
  for (const std::string& word : {std::string("--detach"), std::string("--config"),
                                  (starting.folder / "agent.json").string()})
    program.command.push_back(word);
  program.environment = environment_for(starting.folder, settings_.user);
  program.working_folder = starting.folder / "work";
  program.output = starting.folder / "output.log";
  program.limits = starting.limits.rlimits;
  program.cgroup = starting.limits.cgroup;
  const auto pid = start(program);
  if (!pid) return pid.error();
  starting.pid = *pid;
  return {};
}

Result<void> LocalWorkersFolder::finish(Starting& starting, const Context& context) const {
  const auto status = wait_for(starting.pid, settings_.start_timeout, context);
  const std::string agent = "the agent " + settings_.agent.front();
  const std::string words = last_words(starting.folder / "output.log");
  if (!status) return Error::transient(agent + " " + status.error().message + words);
  if (*status == 0 && look_at_lock(starting.folder / "lock") == LockState::held) {
    starting.record.instance.state = InstanceState::running;
    return {};
  }
  if (*status == 0)
    return Error::transient(agent + " says that it runs, but does not hold its lock" + words);
  const std::string message = agent + " ended with status " + std::to_string(*status) + words;
  return *status == 2 || *status == 3 ? Error::config(message) : Error::transient(message);
}

std::vector<Launch> LocalWorkersFolder::launch(const AllocateRequest& request,
                                               const Section& section, const Context& context) {
  std::vector<Launch> launches;
  std::vector<std::optional<Starting>> all;
  std::int64_t room = settings_.max_workers - look().alive;
  const auto& keys = request.idempotency_keys;
  const auto first_with = [&](const IdempotencyKey& key) {
    return static_cast<std::size_t>(std::ranges::find(keys, key) - keys.begin());
  };
  for (const IdempotencyKey& key : keys) {
    all.emplace_back();
    const fs::path folder = settings_.folder / worker_for(request.owner, key).str();
    if (first_with(key) + 1 < all.size()) {
      launches.push_back({key, {}, {}});  // the same launch: its agent may not hold its lock yet
    } else if (key.empty()) {
      launches.push_back({key, {}, Error::invalid("an idempotency key is empty")});
    } else if (auto before = known(request, key, folder)) {
      launches.push_back(std::move(*before));
    } else if (context.cancelled()) {
      launches.push_back({key, {}, Error::cancelled("allocate was cancelled")});
    } else if (room <= 0) {
      launches.push_back({key, {}, no_room()});
    } else {
      launches.push_back({key, {}, {}});
      auto starting = prepare(request, section, key);
      const auto begun = starting ? begin(*starting) : Result<void>(starting.error());
      if (!begun) launches.back().error = begun.error();
      if (!begun && starting) discard(starting->folder, starting->record.cgroup);
      if (begun) all.back() = std::move(*starting);
      if (begun) --room;
    }
  }
  // All of them start at the same time.
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    const auto up = finish(*all[i], context);
    if (up)
      launches[i].instance = all[i]->record.instance;
    else
      launches[i].error = up.error();
    if (!up) discard(all[i]->folder, all[i]->record.cgroup);
  }
  for (std::size_t i = 0; i < launches.size(); ++i) launches[i] = launches[first_with(keys[i])];
  return launches;
}

Error LocalWorkersFolder::no_room() const {
  return Error::quota("this machine runs " + std::to_string(settings_.max_workers) +
                      " workers already, which is all that maxWorkers allows")
      .hold_for(std::chrono::seconds(15));
}

}  // namespace muster::local
