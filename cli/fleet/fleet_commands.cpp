// The command lines of what talks to a host: status, pools, pool, workers, worker, quarantine,
// release, launch-configs, log, errors, events, holds, providers, set-aside, config; and
// login, logout, whoami.
#include "cli/command.hpp"
#include "cli/fleet/actions.hpp"
#include "cli/fleet/events.hpp"
#include "cli/fleet/worker_logs.hpp"
#include "cli/login.hpp"

namespace muster::cli {
namespace {

using FleetAction = void (*)(const FleetOptions&);

// A command with the options that all have.
struct FleetCommand {
  std::shared_ptr<FleetOptions> options = std::make_shared<FleetOptions>();
  CLI::App* app;

  FleetCommand(CLI::App& parent, const char* name, const char* description, FleetAction action)
      : app(parent.add_subcommand(name, description)) {
    add_host_options(*app, options->host);
    app->add_flag("--json", options->as_json, "Print JSON, as the host sends it");
    app->callback([given = options, action, at = app] {
      if (at->get_subcommands().empty()) action(*given);
    });
  }

  CLI::Option* pool() const {
    return app->add_option("pool", options->pool,
                           "The worker pool: a worker type, or provisionerId/workerType in full");
  }
  void limit() const {
    app->add_option("--limit", options->limit, "Number of entries, newest first (1 to 1000)")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
  }
  void text(const char* name, std::string& into, const char* description,
            const char* type = "TEXT") const {
    app->add_option(name, into, description)->type_name(type);
  }
};

void add_launch_config_commands(CLI::App& app) {
  const FleetCommand list(app, "launch-configs",
                          "List launch configurations with their weights; pause and resume them",
                          list_launch_configs);
  list.pool();
  list.text("--provider", list.options->provider, "Only entries of this provider", "ID");
  list.app->add_option("--status", list.options->status, "Only those with this status")
      ->check(CLI::IsMember({"active", "paused", "archived"}));
  list.app->require_subcommand(0, 1);
  const auto about_one = [](const FleetCommand& command) {
    command.pool()->required();
    command.app->add_option("launchConfigId", command.options->launch_config)->required();
  };
  const FleetCommand pause(*list.app, "pause", "Launch no workers from it for a while",
                           pause_launch_config);
  about_one(pause);
  auto* until = pause.app->add_option("--until", pause.options->until,
                                      "End of the pause, such as 2026-01-02T03:04:05Z");
  pause.app->add_option("--for", pause.options->duration, "How long: 30m, 2h, 3d")->excludes(until);
  pause.text("--reason", pause.options->reason, "Why; shown with the pause");
  about_one(FleetCommand(*list.app, "resume", "End its pause", resume_launch_config));
}

void add_worker_commands(CLI::App& app) {
  const FleetCommand list(app, "workers", "List the workers of a pool", list_workers);
  list.pool()->required();
  list.app
      ->add_option("--state", list.options->states,
                   "Only workers in this state; may be repeated [default: all but stopped]")
      ->check(CLI::IsMember({"requested", "running", "stopping", "stopped"}))
      ->allow_extra_args(false);
  list.text("--launch-config", list.options->launch_config,
            "Only entries of this launch configuration", "ID");
  list.text("--provider", list.options->provider, "Only entries of this provider", "ID");
  const FleetCommand one(app, "worker", "Show one worker", show_one_worker);
  one.app->add_option("worker", one.options->worker, "workerGroup/workerId")->required();
  one.text("--pool", one.options->pool, "Its pool, if several pools have a worker of this name");
  const auto about_one = [](const FleetCommand& command) {
    command.pool()->required();
    command.app->add_option("worker", command.options->worker, "workerGroup/workerId")->required();
    command.app->add_option("--reason", command.options->reason, "Why; shown in events and the log")
        ->required();
  };
  const FleetCommand quarantine(app, "quarantine",
                                "Give a worker no work, for a while or until it is released",
                                quarantine_worker);
  about_one(quarantine);
  auto* until = quarantine.app->add_option("--until", quarantine.options->until,
                                           "End of the quarantine, such as 2026-01-02T03:04:05Z");
  quarantine.app->add_option("--for", quarantine.options->duration, "How long: 30m, 2h, 3d")
      ->excludes(until);
  about_one(FleetCommand(app, "release", "End the quarantine of a worker", release_worker));
}

void add_journal_commands(CLI::App& app) {
  const FleetCommand log(app, "log", "Show the decisions about a pool, with reasons",
                         list_decisions);
  log.pool()->required();
  log.limit();
  log.text("--kind", log.options->kind, "size, select, allocate, lifecycle or configuration");
  log.text("--digest", log.options->digest, "Only decisions with the same inputs");
  const FleetCommand errors(app, "errors", "Show errors of workers and launches", list_errors);
  errors.pool();
  errors.limit();
  errors.app->add_flag("--stats", errors.options->stats, "Show counts instead");
  errors.text("--kind", errors.options->kind, "Only errors of this kind, such as creation-error");
  errors.text("--launch-config", errors.options->launch_config,
              "Only errors of this launch configuration", "ID");
}

void add_hold_commands(CLI::App& app) {
  const FleetCommand holds(
      app, "holds", "List holds: what muster does not launch for a while, and why", list_holds);
  holds.text("--provider", holds.options->provider, "Only entries of this provider", "ID");
  holds.app->require_subcommand(0, 1);
  const FleetCommand release(*holds.app, "release", "End holds of a provider early", release_holds);
  release.app->add_option("providerId", release.options->provider)->required();
  release.text("--scope", release.options->scope,
               "Only the hold with this scope, as `muster holds` shows it [default: all]");
  FleetCommand(app, "providers", "List providers and their state", list_providers);
}

void add_set_aside_commands(CLI::App& app) {
  const FleetCommand list(app, "set-aside",
                          "List rows of the store that cannot be read; nothing acts on them",
                          list_set_aside);
  list.app->require_subcommand(0, 1);
  const auto about_one = [](const FleetCommand& command) {
    command.app->add_option("number", command.options->row, "As `muster set-aside` shows it")
        ->required();
  };
  about_one(FleetCommand(*list.app, "show", "Show a row with its columns", show_set_aside));
  const FleetCommand retry(*list.app, "retry", "Write a row anew, to be read when the host starts",
                           retry_set_aside);
  about_one(retry);
  retry.app
      ->add_option("--set", retry.options->columns,
                   "COLUMN=VALUE: corrects a column; may be repeated")
      ->allow_extra_args(false);
  about_one(FleetCommand(*list.app, "discard", "Erase a row", discard_set_aside));
}

void add_events_command(CLI::App& app) {
  const auto options = std::make_shared<EventOptions>();
  CLI::App* command = app.add_subcommand("events", "Show events");
  add_host_options(*command, options->host);
  command->add_flag("--follow,-f", options->follow, "Keep showing new events until Ctrl-C");
  command
      ->add_option("--kind", options->kinds,
                   "Only events of this kind: worker-running, worker-*; may be repeated")
      ->type_name("KIND")
      ->allow_extra_args(false);
  command->add_option("--pool", options->pool, "Only events of this worker pool");
  command->add_option("--provider", options->provider, "Only events of this provider");
  command->add_option("--launch-config", options->launch_config,
                      "Only events of this launch configuration");
  command->add_option("--worker", options->worker, "Only events of the worker with this workerId");
  auto* since =
      command->add_option("--since", options->since, "Events after the one with this number")
          ->check(CLI::NonNegativeNumber);
  command->add_option("--last", options->last, "Number of past events to start with")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->excludes(since);
  command->add_flag("--json", options->as_json,
                    "Print JSON, as the host sends it; with --follow one event per line");
  command->callback([options] { show_events(*options); });
}

void add_worker_logs_command(CLI::App& parent, const char* name) {
  const auto options = std::make_shared<WorkerLogOptions>();
  CLI::App* command = parent.add_subcommand(name, "Show what workers printed lately");
  add_host_options(*command, options->host);
  command
      ->add_option(
          "target", options->target,
          "A worker as workerGroup/workerId, or a worker pool: then each line has its worker")
      ->required();
  command->add_flag("--follow,-f", options->follow, "Keep showing new output until Ctrl-C");
  command->add_flag("--json", options->as_json, "Print JSON, one document per worker and line");
  command->callback([options] { show_worker_logs(*options); });
}

void add_login_commands(CLI::App& app) {
  const auto options = std::make_shared<LoginOptions>();
  CLI::App* login = app.add_subcommand(
      "login", "Check an address and credentials, and store them for later commands");
  login->footer(
      "Asks for the token without showing it, or reads it from a pipe:\n"
      "  pass muster | muster login --url https://muster.example.com");
  add_host_options(*login, options->host, false);
  login
      ->add_option("--client-id", options->client_id,
                   "A client that signs requests, instead of a token")
      ->type_name("ID");
  login
      ->add_option("--access-token", options->access_token,
                   "Its secret; other users can see it in `ps`")
      ->type_name("SECRET");
  login->add_option("--certificate", options->certificate,
                    "Certificate of temporary credentials, as JSON");
  login->add_flag("--json", options->as_json, "Print JSON");
  login->callback([options] { log_in(*options); });
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* logout = app.add_subcommand("logout", "Delete what `muster login` stored");
  logout->add_flag("--json", *as_json, "Print JSON");
  logout->callback([as_json] { log_out(*as_json); });
  const auto who = std::make_shared<FleetOptions>();
  CLI::App* whoami = app.add_subcommand("whoami", "Show your client and scopes");
  add_host_options(*whoami, who->host);
  whoami->add_flag("--json", who->as_json, "Print JSON, as the host sends it");
  whoami->callback([who] { who_am_i(who->host, who->as_json); });
}

}  // namespace

void add_fleet_commands(CLI::App& app) {
  const FleetCommand status(app, "status", "Show the state of the host", show_status);
  status.app->add_flag("--watch", status.options->watch,
                       "Show pools and workers as they change, until Ctrl-C");
  const FleetCommand pools(
      app, "pools", "List worker pools with their workers, pending work and verdicts", list_pools);
  pools.app->add_option("--verdict", pools.options->verdict, "Only pools with this verdict")
      ->check(CLI::IsMember({"placed", "launching", "waiting", "blocked"}));
  FleetCommand(app, "pool", "Show one worker pool with its launch configurations and their weights",
               show_one_pool)
      .pool()
      ->required();
  add_worker_commands(app);
  add_launch_config_commands(app);
  add_journal_commands(app);
  add_set_aside_commands(app);
  add_events_command(app);
  add_worker_logs_command(app, "worker-logs");
  add_hold_commands(app);
  CLI::App* config = app.add_subcommand("config", "Decide about worker configurations");
  config->require_subcommand(1);
  const FleetCommand accept(
      *config, "accept-empty",
      "Take the worker configurations as they are now, though they, or most of them, are gone",
      accept_empty_configurations);
  add_login_commands(app);
}

}  // namespace muster::cli
