// What the commands about the fleet do. Reading command lines is elsewhere; it costs compile time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/host_address.hpp"

namespace muster::cli {

struct FleetOptions {
  HostOptions host;
  ViewOptions view;
  bool as_json = false, stats = false, watch = false, all = false, yes = false, refused = false;
  std::string pool, launch_config, provider, worker, file, until, duration, reason, kind, digest,
      status, verdict, scope, row, sort, name, method, path;
  std::vector<std::string> states, columns, facts;
  int limit = 20;
};

void show_status(const FleetOptions& options);
void list_pools(const FleetOptions& options);
void show_one_pool(const FleetOptions& options);
void set_pool(const FleetOptions& options);
void show_payload_schema(const FleetOptions& options);
void validate_payload(const FleetOptions& options);
void delete_pool(const FleetOptions& options);
void pause_pool(const FleetOptions& options);
void resume_pool(const FleetOptions& options);
void list_workers(const FleetOptions& options);
void show_one_worker(const FleetOptions& options);
void drain_worker(const FleetOptions& options);
void terminate_worker(const FleetOptions& options);
void quarantine_worker(const FleetOptions& options);
void release_worker(const FleetOptions& options);
void list_launch_configs(const FleetOptions& options);
void show_launch_config(const FleetOptions& options);
void pause_launch_config(const FleetOptions& options);
void resume_launch_config(const FleetOptions& options);
void list_decisions(const FleetOptions& options);
void list_errors(const FleetOptions& options);
void list_runs(const FleetOptions& options);
void show_run_source(const FleetOptions& options);
void list_holds(const FleetOptions& options);
void release_holds(const FleetOptions& options);
void list_set_aside(const FleetOptions& options);
void show_set_aside(const FleetOptions& options);
void retry_set_aside(const FleetOptions& options);
void discard_set_aside(const FleetOptions& options);
void list_providers(const FleetOptions& options);
void show_provider(const FleetOptions& options);
void diagnose_provider(const FleetOptions& options);

// surroundings.cpp: worker configurations, demand, webhooks, and the API itself.
void show_configurations(const FleetOptions& options);
void show_configuration_changes(const FleetOptions& options);
void list_configuration_problems(const FleetOptions& options);
void reload_configurations(const FleetOptions& options);
void accept_empty_configurations(const FleetOptions& options);
void evaluate_configurations(const FleetOptions& options);
void explain_configurations(const FleetOptions& options);
void list_demand(const FleetOptions& options);
void list_webhooks(const FleetOptions& options);
void show_webhook(const FleetOptions& options);
void list_dead_letters(const FleetOptions& options);
void retry_dead_letter(const FleetOptions& options);
void discard_dead_letter(const FleetOptions& options);
void show_broker(const FleetOptions& options);
void call_api(const FleetOptions& options);

// ------------------------------------------------------------------------------------------------
// shared by the actions

void ask_and_show(const FleetOptions& options, const std::string& path, Shown shown);
// For programs the host's document, for people one line.
void say(const FleetOptions& options, const json::value& answer, const std::string& line);
// The end that --until or --for names; the far future, which is shown as `until it ends`, if
// neither is given.
std::string end_of_pause(const FleetOptions& options);
extern const std::string far_future;

// "90s", "30m", "2h", "3d" or several of them ("1h30m") → seconds; nothing if it is none.
std::optional<long long> seconds_of(const std::string& duration);

}  // namespace muster::cli
