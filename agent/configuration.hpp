// The agent's configuration: a TOML file for people, JSON for programs, both with the same
// keys, or the YAML of worker-runner as far as that is simple.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>

#include "agent/lifecycle.hpp"
#include "lib/base/secret.hpp"
#include "lib/process/run_as.hpp"
#include "lib/toml/mistake.hpp"

namespace muster::agent {

enum class IdentityKind { local, static_secret, pool_key, relay, aws, google, azure, proof };
std::string_view to_string(IdentityKind kind);

using Words = std::vector<std::string>;  // a command, without a shell

struct IdentitySettings {
  IdentityKind kind = IdentityKind::static_secret;
  std::filesystem::path secret_file;  // local, static secret
  std::optional<Secret> secret;       // worker-runner has it in its own file
  std::filesystem::path key_file;     // of the pool: the identity itself, or beside another
  std::filesystem::path proof_file;   // proof: a JSON object of the provider's own kind,
  Words proof_command;                // or what a command prints
  std::string relay_url;
  std::string metadata_url;  // clouds; empty: the cloud's own
};

struct WorkerSettings {
  enum class Refresh { signal, command, none };
  Words command;
  Refresh refresh = Refresh::signal;
  Words refresh_command;
  std::map<std::string, std::string> environment;
  // Names that the worker's configuration may set although they change how programs run.
  std::vector<std::string> allowed_environment;
  std::optional<RunAs> user;  // that the implementation runs as; nothing: the agent's own
};

// What is said of the machine's state at registration: a text, or what a command writes.
struct StateSetting {
  std::string text;
  Words command;
};

// Who the worker is. Where the identity tells them (relay, clouds) they may be empty.
struct Place {
  std::string root_url = {}, worker_pool_id = {}, provider_id = {}, worker_group = {},
              worker_id = {};
};

// What the worker says of itself to the host's queue.
struct ReportedCapabilities {
  std::map<std::string, std::int64_t> resources = {};
  std::vector<std::string> tags = {};
  std::string team = {};
};

// What the command line says; it counts more than the file.
struct Overrides {
  std::string worker_pool_id = {};
  ReportedCapabilities reported = {};
};

struct Configuration {
  std::filesystem::path file;
  Place place;
  ReportedCapabilities reported;
  int capacity = 1;
  std::filesystem::path folder;
  std::filesystem::path ca_file;
  LogLevel log_level = LogLevel::info;
  bool remove_on_exit = true;  // by default: of workers that were launched
  IdentitySettings identity;
  WorkerSettings worker;
  std::map<std::string, StateSetting> state;
  Timings timings;
  // Of worker-runner's files only: what the host's configuration is laid over (JSON), and where
  // generic-worker looks for the result.
  std::string worker_config = "{}";
  std::filesystem::path worker_config_path = {};
};

struct ReadConfiguration {
  std::optional<Configuration> configuration;  // if there are no errors
  std::vector<config::Mistake> mistakes;
  bool has_positions = false;
};

// By the file's ending: .toml, .json, .yml or .yaml. Reads no other file.
ReadConfiguration read_configuration(const std::filesystem::path& file,
                                     const Overrides& overrides = {});
ReadConfiguration read_configuration(const std::filesystem::path& file, std::string_view text,
                                     const Overrides& overrides = {});

// "agent.toml:3:1: error: identity.kind: ..."
std::string describe(const config::Mistake& mistake, const std::filesystem::path& file,
                     bool has_position);

// Looks at the files that the configuration names, as a start would: secrets and keys that cannot
// be used, a command that is not there.
std::vector<config::Mistake> check_files(const Configuration& configuration);

// Whether the identity tells the host which worker it is, so that the configuration need not.
bool tells_place(IdentityKind kind);

// Whether the worker was launched by a provider. Other machines stay in their rack: the host keeps
// them in its list while they are off, and nothing would add one again that was removed.
bool is_launched(IdentityKind kind);

}  // namespace muster::agent
