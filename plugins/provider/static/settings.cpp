#include "plugins/provider/static/settings.hpp"

#include <algorithm>
#include <set>

#include <muster/codec.hpp>
#include <muster/nearest.hpp>
#include <muster/rules/problem.hpp>

#include "plugins/base/quantities.hpp"

namespace muster::static_machines {
namespace {

using rules::in_quotes;
using std::chrono::milliseconds;

constexpr std::int64_t most_capacity = 1'000'000;
constexpr milliseconds longest_timeout = std::chrono::hours(1);

// The configuration as it is written.
struct WrittenPool {
  std::vector<std::string> public_keys, host_names;

  static constexpr auto fields(auto visit) {
    return visit(optional("publicKeys", &WrittenPool::public_keys),
                 optional("hostNames", &WrittenPool::host_names));
  }
};

struct WrittenMachine {
  std::string worker_pool_id, worker_id;
  std::optional<std::string> host_name, secret_sha256;
  std::int64_t capacity = 1;
  std::vector<std::string> public_keys;
  bool powered = false;
  Variables variables;

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &WrittenMachine::worker_pool_id),
                 required("workerId", &WrittenMachine::worker_id),
                 optional("hostName", &WrittenMachine::host_name),
                 optional("capacity", &WrittenMachine::capacity),
                 optional("secretSha256", &WrittenMachine::secret_sha256),
                 optional("publicKeys", &WrittenMachine::public_keys),
                 optional("powered", &WrittenMachine::powered),
                 optional("variables", &WrittenMachine::variables));
  }
};

struct Written {
  std::string region = "static", state_file = {}, command_timeout = "60s";
  std::optional<std::string> worker_group;
  std::optional<std::vector<std::string>> wake_command, power_off_command;
  std::map<std::string, WrittenPool> pools;
  std::vector<WrittenMachine> machines;

  static constexpr auto fields(auto visit) {
    return visit(optional("region", &Written::region),
                 optional("workerGroup", &Written::worker_group),
                 optional("stateFile", &Written::state_file),
                 optional("wakeCommand", &Written::wake_command),
                 optional("powerOffCommand", &Written::power_off_command),
                 optional("commandTimeout", &Written::command_timeout),
                 optional("pools", &Written::pools), optional("machines", &Written::machines));
  }
};

std::string at(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_pool_id(std::string_view id) {
  const auto slash = id.find('/');
  if (slash == std::string_view::npos || !is_worker_name(id.substr(0, slash))) return false;
  const std::string_view type = id.substr(slash + 1);
  return is_worker_name(type) && type.front() >= 'a' && type.front() <= 'z' && type.back() != '-' &&
         std::ranges::all_of(type, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

// Reads what is written into Settings and keeps the first mistake, with its key.
class SettingsReader {
 public:
  explicit SettingsReader(const Written& written) : written_(written) {}

  Result<Settings> read() {
    read_site();
    for (const auto& [id, pool] : written_.pools) read_pool(id, pool);
    for (std::size_t i = 0; i < written_.machines.size(); ++i)
      read_machine(written_.machines[i], at("machines", i));
    check_power();
    if (!mistake_.empty()) return Error::invalid(mistake_);
    return std::move(settings_);
  }

 private:
  void that(bool good, const std::string& key, const std::string& mistake) {
    if (!good && mistake_.empty()) mistake_ = key + ": " + mistake;
  }

  void read_site() {
    settings_.region = written_.region;
    that(!written_.region.empty(), "region", "is empty");
    const std::string group = written_.worker_group.value_or(written_.region);
    that(is_worker_name(group), written_.worker_group ? "workerGroup" : "region",
         in_quotes(group) + " is not a worker group: 1 to 38 letters, digits, - and _" +
             (written_.worker_group ? "" : "; give another one as workerGroup"));
    settings_.worker_group = WorkerGroup(group);
    settings_.state_file = written_.state_file;
    that(written_.state_file.empty() || written_.state_file == in_memory ||
             written_.state_file.front() == '/',
         "stateFile", in_quotes(written_.state_file) + " is not an absolute path");
    const auto timeout = parse_duration(written_.command_timeout);
    that(timeout && *timeout > milliseconds(0) && *timeout <= longest_timeout, "commandTimeout",
         in_quotes(written_.command_timeout) + " is not a time like \"60s\", of at most 1h");
    if (timeout) settings_.command_timeout = *timeout;
    read_command("wakeCommand", written_.wake_command, settings_.wake_command);
    read_command("powerOffCommand", written_.power_off_command, settings_.power_off_command);
  }

  void read_command(const char* key, const std::optional<std::vector<std::string>>& texts,
                    CommandTemplate& command) {
    if (!texts) return;
    auto parsed = CommandTemplate::parse(key, *texts);
    if (parsed)
      command = std::move(*parsed);
    else if (mistake_.empty())
      mistake_ = parsed.error().message;
  }

  void read_keys(const std::vector<std::string>& lines, const std::string& key,
                 std::vector<PublicKey>& keys) {
    auto parsed = ssh::parse_keys(lines);
    if (parsed)
      keys = std::move(*parsed);
    else if (mistake_.empty())
      mistake_ = key + parsed.error().message;
  }

  void read_pool(const std::string& id, const WrittenPool& written) {
    const std::string key = "pools." + in_quotes(id);
    that(is_pool_id(id), key, "is not a workerPoolId like \"worker-manager/mac\"");
    PoolSettings& pool = settings_.pools[WorkerPoolId(id)];
    read_keys(written.public_keys, key + ".publicKeys", pool.keys);
    for (std::size_t i = 0; i < written.host_names.size(); ++i) {
      auto pattern = HostNamePattern::parse(written.host_names[i]);
      if (pattern)
        pool.host_names.push_back(std::move(*pattern));
      else
        that(false, at(key + ".hostNames", i), pattern.error().message);
    }
  }

  void read_machine(const WrittenMachine& written, const std::string& key) {
    Machine machine;
    machine.worker_pool_id = WorkerPoolId(written.worker_pool_id);
    that(is_pool_id(written.worker_pool_id), key + ".workerPoolId",
         in_quotes(written.worker_pool_id) + " is not a workerPoolId like \"worker-manager/mac\"");
    machine.worker_id = WorkerId(written.worker_id);
    that(is_worker_name(written.worker_id), key + ".workerId",
         in_quotes(written.worker_id) + " is not a workerId: 1 to 38 letters, digits, - and _");
    that(ids_.insert(written.worker_id).second, key + ".workerId",
         in_quotes(written.worker_id) + " occurs twice");
    machine.capacity = written.capacity;
    that(written.capacity >= 1 && written.capacity <= most_capacity, key + ".capacity",
         "is not between 1 and " + std::to_string(most_capacity));
    if (written.host_name) read_host_name(*written.host_name, key + ".hostName", machine);
    if (written.secret_sha256) read_secret(*written.secret_sha256, key + ".secretSha256", machine);
    read_keys(written.public_keys, key + ".publicKeys", machine.keys);
    machine.powered = written.powered;
    read_variables(written.variables, key + ".variables", machine);
    settings_.machines.push_back(std::move(machine));
  }

  void read_host_name(const std::string& written, const std::string& key, Machine& machine) {
    const auto name = plain_host_name(written);
    that(name.has_value(), key, in_quotes(written) + " is not a host name");
    if (!name) return;
    that(host_names_.insert(*name).second, key, in_quotes(*name) + " occurs twice");
    machine.host_name = *name;
  }

  void read_secret(const std::string& written, const std::string& key, Machine& machine) {
    machine.secret_sha256 = written;
    for (char& c : machine.secret_sha256)
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    that(written.size() == 64 && std::ranges::all_of(machine.secret_sha256,
                                                     [](char c) {
                                                       return (c >= '0' && c <= '9') ||
                                                              (c >= 'a' && c <= 'f');
                                                     }),
         key, "is no SHA-256 in 64 hexadecimal digits: printf %s \"$SECRET\" | sha256sum");
  }

  void read_variables(const Variables& written, const std::string& key, Machine& machine) {
    machine.variables = {{"workerId", machine.worker_id.str()},
                         {"workerPoolId", machine.worker_pool_id.str()},
                         {"workerGroup", settings_.worker_group.str()}};
    if (!machine.host_name.empty()) machine.variables["hostName"] = machine.host_name;
    for (const auto& [name, value] : written) {
      that(is_variable_name(name), key, in_quotes(name) + " is not a name for a variable");
      that(name != "hostName" && !machine.variables.contains(name), key + "." + name,
           "is filled in with the machine's own; choose another name");
      that(value.find('\0') == std::string::npos, key + "." + name,
           "has a byte 0, which no argument can have");
      machine.variables[name] = value;
    }
  }

  void check_power() {
    std::map<WorkerPoolId, std::size_t> first_of_pool;
    for (std::size_t i = 0; i < settings_.machines.size(); ++i) {
      const Machine& machine = settings_.machines[i];
      if (!machine.powered) continue;
      that(!settings_.wake_command.empty(), at("machines", i) + ".powered",
           "is true, but there is no wakeCommand to wake it with");
      that(!settings_.state_file.empty(), "stateFile",
           "is missing: machines that are woken need a file that says which of them are awake");
      const std::size_t first = first_of_pool.emplace(machine.worker_pool_id, i).first->second;
      that(machine.capacity == settings_.machines[first].capacity, at("machines", i) + ".capacity",
           "is not that of " + at("machines", first) +
               "; the powered machines of a pool are bid alike and need the same");
    }
    check_places(settings_.wake_command);
    check_places(settings_.power_off_command);
  }

  // A name must be known to some machine, and then to every machine that the command is run for.
  void check_places(const CommandTemplate& command) {
    std::set<std::string> known{"workerId", "workerPoolId", "workerGroup", "hostName"};
    for (const Machine& machine : settings_.machines)
      for (const auto& [name, value] : machine.variables) known.insert(name);
    for (const auto& [key, name] : command.places()) {
      const auto near = nearest(name, {known.begin(), known.end()});
      that(known.contains(name), key,
           in_quotes("{" + name + "}") + " is not known: no machine has a variable of that name" +
               (near ? "; did you mean " + in_quotes("{" + *near + "}") + "?" : ""));
      for (std::size_t i = 0; i < settings_.machines.size(); ++i)
        that(!settings_.machines[i].powered || settings_.machines[i].variables.contains(name),
             at("machines", i) + (name == "hostName" ? ".hostName" : ".variables." + name),
             "is missing: " + key + " needs it");
    }
  }

  const Written& written_;
  Settings settings_;
  std::set<std::string> ids_, host_names_;
  std::string mistake_;
};

}  // namespace

bool is_worker_name(std::string_view name) {
  return !name.empty() && name.size() <= 38 && std::ranges::all_of(name, [](char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

const Machine* Settings::find(const WorkerId& id) const {
  const auto found = std::ranges::find(machines, id, &Machine::worker_id);
  return found == machines.end() ? nullptr : &*found;
}

const Machine* Settings::find_host(std::string_view plain_host_name) const {
  const auto found = std::ranges::find(machines, plain_host_name, &Machine::host_name);
  return plain_host_name.empty() || found == machines.end() ? nullptr : &*found;
}

bool Settings::has_powered(const WorkerPoolId& pool) const {
  return std::ranges::any_of(machines, [&](const Machine& machine) {
    return machine.powered && machine.worker_pool_id == pool;
  });
}

std::int64_t Settings::powered_capacity(const WorkerPoolId& pool) const {
  for (const Machine& machine : machines)
    if (machine.powered && machine.worker_pool_id == pool) return machine.capacity;
  return 1;
}

Result<Settings> read_settings(const json::object& config) {
  const auto written = from_value<Written>(json::value(config));
  if (!written) return written.error();
  return SettingsReader(*written).read();
}

}  // namespace muster::static_machines
