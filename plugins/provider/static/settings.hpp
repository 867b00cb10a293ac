// What a datacenter's instance configuration says, checked.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/ids.hpp>
#include <muster/json.hpp>

#include "lib/ssh/public_key.hpp"
#include "plugins/provider/static/command_template.hpp"
#include "plugins/provider/static/host_name.hpp"

namespace muster::static_machines {

using ssh::PublicKey;

inline constexpr const char* section_name = "static";
inline constexpr std::string_view in_memory = ":memory:";  // in place of a stateFile

struct Machine {
  WorkerPoolId worker_pool_id;
  WorkerId worker_id;
  std::string host_name;  // plain; may be empty
  std::int64_t capacity = 1;
  std::string secret_sha256;  // 64 small hexadecimal digits; may be empty
  std::vector<PublicKey> keys;
  bool powered = false;
  Variables variables;  // with the names that every machine has: workerId, ...

  // It has a secret or a key of its own: then those of its pool are not enough.
  bool proves_itself() const { return !secret_sha256.empty() || !keys.empty(); }
};

struct PoolSettings {
  std::vector<PublicKey> keys;
  std::vector<HostNamePattern> host_names;
};

// A value that cannot change.
struct Settings {
  std::string region = "static";
  WorkerGroup worker_group{"static"};
  std::string state_file;
  CommandTemplate wake_command, power_off_command;
  std::chrono::milliseconds command_timeout = std::chrono::minutes(1);
  std::map<WorkerPoolId, PoolSettings> pools;
  std::vector<Machine> machines;

  const Machine* find(const WorkerId& id) const;
  const Machine* find_host(std::string_view plain_host_name) const;
  bool has_powered(const WorkerPoolId& pool) const;
  // What the powered machines of a pool have in common; 1 if there are none.
  std::int64_t powered_capacity(const WorkerPoolId& pool) const;
};

// Fails as `invalid` with the key of the first mistake.
Result<Settings> read_settings(const json::object& config);

// 1 to 38 letters, digits, `-` and `_`, as workers' ids and groups are everywhere.
bool is_worker_name(std::string_view name);

// JSON Schemas and examples, for the plugin's description.
json::object config_schema();
json::object section_schema();
json::object example_config();
json::object example_section();

}  // namespace muster::static_machines
