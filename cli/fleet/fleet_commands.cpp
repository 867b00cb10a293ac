// The command lines of what shows the fleet, by nouns: status, pool, worker, launch-config,
// provider, hold, event, error, log, demand, config, webhook, set-aside, and the older spellings of
// them.
#include <muster/nearest.hpp>

#include "cli/fleet/events.hpp"
#include "cli/fleet/fleet_command.hpp"
#include "cli/fleet/worker_logs.hpp"

namespace muster::cli {
namespace {

void add_nearest_verb(const CLI::App& noun, const std::string& name, CommandFailure& failure) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : noun.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  if (const auto near = nearest(name, {verbs.begin(), verbs.end()}))
    failure.message += "\nDid you mean: muster " + noun.get_name() + " " + *near;
}

// A noun alone with a name is `show`, as it was before there were verbs.
FleetCommand show_if_named(CLI::App& noun, FleetAction action, std::string FleetOptions::*name,
                           const char* description) {
  const FleetCommand command(noun, [](const FleetOptions&) {});
  noun.require_subcommand(0, 1);
  command.app->add_option("name", (*command.options).*name, description);
  noun.callback([options = command.options, name, action, at = &noun] {
    if (!at->get_subcommands().empty()) return;
    if (((*options).*name).empty())
      throw CommandFailure{
          exit_usage,
          "muster " + at->get_name() + " needs a command: see muster " + at->get_name() + " --help",
          "usage"};
    try {
      action(*options);
    } catch (CommandFailure& failure) {  // perhaps a verb was meant
      add_nearest_verb(*at, (*options).*name, failure);
      throw;
    }
  });
  return command;
}

void add_pool_commands(CLI::App& app) {
  CLI::App& pool = add_noun(app, "pool", "Worker pools: list, show, pause, change");
  show_if_named(pool, show_one_pool, &FleetOptions::pool,
                "The pool to show, as with `muster pool show`");
  add_spellings({{&pool, "list"}, {&app, "pools"}},
                "List worker pools with their workers, pending work and verdicts", list_pools,
                [](const FleetCommand& command) {
                  command.app
                      ->add_option("--verdict", command.options->verdict,
                                   "Only pools with this verdict")
                      ->check(CLI::IsMember({"placed", "launching", "waiting", "blocked"}));
                });
  FleetCommand(pool, "show",
               "Show one worker pool with its launch configurations and their weights",
               show_one_pool)
      .pool()
      ->required();
}

CLI::App& add_worker_logs(CLI::App& parent, const char* name) {
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
  return *command;
}

void add_worker_filters(const FleetCommand& list) {
  list.app
      ->add_option("--state", list.options->states,
                   "Only workers in this state; may be repeated [default: all but stopped]")
      ->check(CLI::IsMember({"requested", "running", "stopping", "stopped"}))
      ->allow_extra_args(false);
  list.text("--launch-config", list.options->launch_config,
            "Only entries of this launch configuration", "ID");
  list.text("--provider", list.options->provider, "Only entries of this provider", "ID");
  list.app->add_option("--sort", list.options->sort, "Order [default: the newest first]")
      ->check(CLI::IsMember({"pool", "worker", "provider", "state", "age", "capacity", "busy"}));
}

void add_worker_commands(CLI::App& app) {
  CLI::App& worker = add_noun(app, "worker", "Workers: list, show, drain, terminate, quarantine");
  show_if_named(worker, show_one_worker, &FleetOptions::worker,
                "The worker to show, as with `muster worker show`")
      .pool_of_worker();
  const FleetCommand list(worker, "list", "List the workers of all pools", list_workers);
  list.text("--pool", list.options->pool, "Only workers of this pool", "POOL");
  add_worker_filters(list);
  const FleetCommand workers(app, "workers", "List the workers of all pools", list_workers);
  workers.app->add_option("pool", workers.options->pool, "Only workers of this pool");
  add_worker_filters(workers);
  mark_as_spelling_of(*workers.app, "worker list");
  const FleetCommand one(worker, "show", "Show one worker", show_one_worker);
  one.worker();
  one.pool_of_worker();
  add_worker_logs(worker, "logs");
  mark_as_spelling_of(add_worker_logs(app, "worker-logs"), "worker logs");
}

void add_launch_config_filters(const FleetCommand& list) {
  list.text("--provider", list.options->provider, "Only entries of this provider", "ID");
  list.app->add_option("--status", list.options->status, "Only those with this status")
      ->check(CLI::IsMember({"active", "paused", "archived"}));
}

void add_launch_config_commands(CLI::App& app) {
  CLI::App& noun =
      add_noun(app, "launch-config", "Launch configurations: list, show, pause, resume");
  noun.require_subcommand(1);
  add_spellings({{&noun, "list"}, {&app, "launch-configs"}},
                "List launch configurations with their weights", list_launch_configs,
                [](const FleetCommand& command) {
                  command.pool();
                  add_launch_config_filters(command);
                });
  const FleetCommand one(noun, "show", "Show a launch configuration and what holds it back",
                         show_launch_config);
  one.pool()->required();
  one.app->add_option("launchConfigId", one.options->launch_config)->required();
}

void add_journal_commands(CLI::App& app) {
  const FleetCommand log(
      app, "log", "Show the decisions about a pool, with reasons, the newest last", list_decisions);
  log.pool()->required();
  log.limit();
  log.app->add_flag("--all", log.options->all, "Also those that changed nothing");
  log.text("--kind", log.options->kind, "size, bids, select, lifecycle or configuration");
  log.text("--digest", log.options->digest, "Only decisions with the same inputs");
  CLI::App& error = add_noun(app, "error", "Errors of workers and launches: list, stats");
  error.require_subcommand(1);
  add_spellings({{&error, "list"}, {&app, "errors"}},
                "Show errors of workers and launches, the newest last", list_errors,
                [](const FleetCommand& errors) {
                  errors.pool();
                  errors.limit();
                  errors.app->add_flag("--stats", errors.options->stats, "Show counts instead");
                  errors.text("--kind", errors.options->kind,
                              "Only errors of this kind, such as creation-error");
                  errors.text("--launch-config", errors.options->launch_config,
                              "Only errors of this launch configuration", "ID");
                });
  const FleetCommand stats(error, "stats", "Count errors by kind, code, pool and day", list_errors);
  stats.options->stats = true;
  stats.pool();
}

void add_run_commands(CLI::App& app) {
  const FleetCommand runs(app, "runs", "List task runs and how they ended, the newest first",
                          list_runs);
  CLI::Option* const pool = runs.pool();
  runs.limit();
  runs.text("--worker", runs.options->worker, "Only of this worker", "WORKER")->needs(pool);
  runs.text("--launch-config", runs.options->launch_config, "Only of this launch configuration",
            "ID")
      ->needs(pool);
  runs.text("--configuration", runs.options->file,
            "Only of the pools of this file of the worker configurations", "FILE")
      ->excludes(pool);
  runs.text("--outcome", runs.options->status, "Only with this outcome")
      ->check(CLI::IsMember({"running", "completed", "failed", "exception"}));
  FleetCommand(app, "run-source", "Show where task runs come from, and messages set aside",
               show_run_source);
}

void add_provider_commands(CLI::App& app) {
  CLI::App& hold = add_noun(app, "hold", "Holds, which stop launches for a while: list, release");
  hold.require_subcommand(1);
  add_spellings({{&hold, "list"}, {&app, "holds"}},
                "List holds: what muster does not launch for a while, and why", list_holds,
                [](const FleetCommand& holds) {
                  holds.text("--provider", holds.options->provider, "Only entries of this provider",
                             "ID");
                });
  CLI::App& provider = add_noun(app, "provider", "Providers: list, show, doctor");
  provider.require_subcommand(1);
  add_spellings({{&provider, "list"}, {&app, "providers"}}, "List providers and their state",
                list_providers, [](const FleetCommand&) {});
  const FleetCommand one(provider, "show", "Show a provider, its limits and where it can launch",
                         show_provider);
  const FleetCommand doctor(
      provider, "doctor",
      "Let a provider try out its credentials, permissions and launch configurations; changes "
      "nothing",
      diagnose_provider);
  for (const FleetCommand& command : {one, doctor})
    command.app->add_option("providerId", command.options->provider)->required();
}

std::string is_event_number(const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : text + " is not the number of an event";
}

// Filters that both have.
void add_event_options(CLI::App& command, EventOptions& options) {
  add_host_options(command, options.host);
  command
      .add_option("--kind", options.kinds,
                  "Only events of this kind: worker-running, worker-*; may be repeated")
      ->type_name("KIND")
      ->allow_extra_args(false);
  command.add_option("--pool", options.pool, "Only events of this worker pool");
  command.add_option("--provider", options.provider, "Only events of this provider");
  command.add_option("--launch-config", options.launch_config,
                     "Only events of this launch configuration");
  command.add_option("--worker", options.worker, "Only events of the worker with this workerId");
  auto* since =
      command.add_option("--since", options.since, "Events after the one with this number")
          ->check(is_event_number);
  command.add_option("--last", options.last, "Number of past events to start with")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->excludes(since);
  add_output_options(command, options.as_json, options.view);
}

void add_event_commands(CLI::App& app) {
  CLI::App& event = add_noun(app, "event", "Events: list, follow");
  event.require_subcommand(1);
  const auto add = [](CLI::App& parent, const char* name, const char* description, bool follows) {
    const auto options = std::make_shared<EventOptions>();
    options->follow = follows;
    CLI::App* command = parent.add_subcommand(name, description);
    add_event_options(*command, *options);
    if (!follows)
      command->add_flag("--follow,-f", options->follow, "Keep showing new events until Ctrl-C");
    command->callback([options] { show_events(*options); });
    return command;
  };
  add(event, "list", "Show events, the newest last", false);
  add(event, "follow", "Show events as they happen, until Ctrl-C; with --json one on each line",
      true);
  mark_as_spelling_of(*add(app, "events", "Show events", false), "event list");
  FleetCommand(event, "broker", "Show the message broker that events are published to",
               show_broker);
}

void add_configuration_commands(CLI::App& app) {
  CLI::App& config = add_noun(
      app, "config", "Worker configurations of the host: show, problems, reload, accept-empty");
  config.require_subcommand(1);
  const auto refused = [](const FleetCommand& command) {
    command.app->add_flag("--refused", command.options->refused,
                          "Those that the host refuses, not those in force");
  };
  const FleetCommand show(config, "show", "List the files in force, or print one of them",
                          show_configurations);
  show.app->add_option("configuration", show.options->name, "Its name, such as build");
  refused(show);
  FleetCommand(config, "problems",
               "Show what is wrong with the host's and the worker configurations",
               list_configuration_problems);
  FleetCommand(config, "changes",
               "Show what the version in force changed for each pool, with the lines",
               show_configuration_changes);
  const FleetCommand evaluate(config, "evaluate",
                              "Show what the rules of the host come to for a pool",
                              evaluate_configurations);
  const FleetCommand explain(config, "explain",
                             "Show which rule of the host set each value of a pool",
                             explain_configurations);
  explain.text("--key", explain.options->name, "Only this key, such as aws.ImageId", "KEY");
  for (const FleetCommand& command : {evaluate, explain}) {
    command.pool()->required();
    command.text("--launch-config", command.options->launch_config,
                 "With the facts of this launch configuration", "ID");
    command.app->add_option("--fact", command.options->facts, "fact=value; may be repeated")
        ->allow_extra_args(false);
    refused(command);
  }
}

void add_demand_commands(CLI::App& app) {
  CLI::App& demand = add_noun(app, "demand", "Sources of demand: show");
  demand.require_subcommand(1);
  FleetCommand(demand, "show", "Show the sources of demand, what waits there and what fails",
               list_demand);
  CLI::App& webhook = add_noun(app, "webhook", "Webhooks: list, show, dead letters");
  webhook.require_subcommand(1);
  FleetCommand(webhook, "list", "List webhooks and how far they are", list_webhooks);
  const auto named = [](const FleetCommand& command) {
    command.app->add_option("name", command.options->name, "The webhook")->required();
  };
  named(FleetCommand(webhook, "show", "Show one webhook", show_webhook));
  named(
      FleetCommand(webhook, "dead-letters", "List what could not be delivered", list_dead_letters));
}

void add_set_aside_lists(CLI::App& app) {
  CLI::App& noun = add_noun(app, "set-aside",
                            "Rows of the store that cannot be read: list, show, retry, discard; "
                            "alone it lists them");
  const FleetCommand bare(noun, list_set_aside);
  noun.require_subcommand(0, 1);
  FleetCommand(noun, "list", "List rows of the store that cannot be read; nothing acts on them",
               list_set_aside);
}

}  // namespace

void add_fleet_commands(CLI::App& app) {
  const FleetCommand status(app, "status", "Show the state of the host", show_status);
  status.app->add_flag("--watch", status.options->watch,
                       "Show pools and workers as they change, until Ctrl-C");
  add_pool_commands(app);
  add_worker_commands(app);
  add_launch_config_commands(app);
  add_run_commands(app);
  add_provider_commands(app);
  add_journal_commands(app);
  add_event_commands(app);
  add_demand_commands(app);
  add_configuration_commands(app);
  add_set_aside_lists(app);
  add_change_commands(app);
}

}  // namespace muster::cli
