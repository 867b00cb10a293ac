// What operators configure, and what worker configurations may choose of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "lib/process/run_as.hpp"

namespace muster::local {

inline constexpr const char* section_name = "local";

// What a worker runs. Only the operator says which programs there are.
struct Image {
  std::vector<std::string> command;
  json::value refresh = {};  // as the agent's configuration has it; null: the agent's default
};

struct Settings {
  std::filesystem::path folder;  // empty: a temporary one
  std::string region = "here";
  std::vector<std::string> agent;  // the program, and arguments before its own; empty: to be found
  std::int64_t max_workers = 1;
  std::chrono::milliseconds stop_grace{30'000};
  std::chrono::milliseconds start_timeout{20'000};
  std::chrono::milliseconds keep_stopped{3'600'000};
  std::int64_t output_limit = 10 << 20;
  std::map<std::string, Image> images;
  std::map<std::string, std::string> environment;  // of every worker implementation
  std::map<std::string, std::string> timings;      // of the agent, where they are not ours
  std::string ca_file;
  std::filesystem::path cgroup;  // empty: the host's own, if it was delegated to it
  // Names that teams may set in workerConfig.environment although they change how programs run.
  std::vector<std::string> allowed_environment;
  std::optional<RunAs> user;  // that workers run as; nothing: the host's own, which is not root
};

// The section `local` of a worker configuration, checked.
struct Section {
  std::string image;
  std::int64_t capacity = 1;
  std::optional<std::int64_t> memory = {};  // bytes
  std::optional<double> cpus = {};
  std::optional<std::int64_t> open_files = {};
  std::optional<std::int64_t> processes = {};
};

// Fail as `invalid`, with the path of the mistake. Pure but for the number of the machine's cores
// and for its users.
Result<Settings> read_settings(const json::object& config);
Result<Section> read_section(const json::object& document, const Settings& settings);
// The member workerConfig, whose environment reaches what workers run.
Result<void> check_worker_config(const json::object& document, const Settings& settings);

json::object config_schema();
json::object section_schema();
json::object example_config();

// Where the agent is if the configuration does not say: beside the program that runs, or where that
// one's package puts programs. Empty: nowhere.
std::filesystem::path find_agent(const std::filesystem::path& running);

}  // namespace muster::local
