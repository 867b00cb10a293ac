// The command lines of what changes the fleet or the host.
#include "cli/fleet/fleet_command.hpp"

namespace muster::cli {
namespace {

void add_pool_changes(CLI::App& pool) {
  const auto about_one = [](const FleetCommand& command) { command.pool()->required(); };
  const FleetCommand pause(
      pool, "pause", "Launch no workers of a pool, also when its configuration changes meanwhile",
      pause_pool);
  about_one(pause);
  pause.end_of_pause();
  pause.reason();
  about_one(FleetCommand(pool, "resume", "End the pause of a pool and of its launch configurations",
                         resume_pool));
  const FleetCommand set(pool, "set", "Create or change a pool that no worker configuration makes",
                         set_pool);
  about_one(set);
  set.text("--file", set.options->file, "Its definition as JSON; -: standard input", "FILE")
      ->required();
  about_one(FleetCommand(pool, "payload-schema",
                         "Print the JSON Schema of the payloads of a pool's tasks",
                         show_payload_schema));
  const FleetCommand validate(pool, "validate-payload",
                              "Check the payload of a task against the pool's JSON Schema",
                              validate_payload);
  about_one(validate);
  validate.text("--file", validate.options->file, "The payload as JSON; -: standard input", "FILE")
      ->required();
  const FleetCommand remove(pool, "delete",
                            "Delete a pool that was made with `muster pool set`; its workers drain",
                            delete_pool);
  about_one(remove);
  remove.yes();
}

void add_worker_changes(CLI::App& app, CLI::App& worker) {
  const FleetCommand drain(worker, "drain", "Let a worker finish its work, then end it",
                           drain_worker);
  const FleetCommand terminate(worker, "terminate", "End a worker at once; its task is lost",
                               terminate_worker);
  const FleetCommand quarantine(worker, "quarantine",
                                "Give a worker no work, for a while or until it is released",
                                quarantine_worker);
  const FleetCommand release(worker, "release", "End the quarantine of a worker", release_worker);
  for (const FleetCommand* command : {&drain, &terminate, &quarantine, &release}) {
    command->worker();
    command->pool_of_worker();
  }
  drain.reason();
  terminate.yes();
  quarantine.reason()->required();
  quarantine.end_of_pause();
  release.reason();
  const FleetCommand old_quarantine(app, "quarantine",
                                    "Give a worker no work, for a while or until it is released",
                                    quarantine_worker);
  const FleetCommand old_release(app, "release", "End the quarantine of a worker", release_worker);
  for (const FleetCommand* command : {&old_quarantine, &old_release}) {
    command->pool()->required();
    command->worker();
    command->reason()->required();
  }
  old_quarantine.end_of_pause();
  mark_as_spelling_of(*old_quarantine.app, "worker quarantine");
  mark_as_spelling_of(*old_release.app, "worker release");
}

void add_launch_config_changes(CLI::App& app) {
  CLI::App* const noun = app.get_subcommand("launch-config");
  CLI::App* const older = app.get_subcommand("launch-configs");
  older->require_subcommand(0, 1);
  const auto about_one = [](const FleetCommand& command) {
    command.pool()->required();
    command.app->add_option("launchConfigId", command.options->launch_config)->required();
  };
  add_spellings({{noun, "pause"}, {older, "pause"}}, "Launch no workers from it for a while",
                pause_launch_config, [&](const FleetCommand& pause) {
                  about_one(pause);
                  pause.end_of_pause();
                  pause.reason();
                });
  add_spellings({{noun, "resume"}, {older, "resume"}}, "End its pause", resume_launch_config,
                about_one);
}

void add_hold_changes(CLI::App& app) {
  CLI::App* const older = app.get_subcommand("holds");
  older->require_subcommand(0, 1);
  add_spellings(
      {{app.get_subcommand("hold"), "release"}, {older, "release"}},
      "End holds of a provider early", release_holds, [](const FleetCommand& release) {
        release.app->add_option("providerId", release.options->provider)->required();
        release.text(
            "--scope", release.options->scope,
            "Only the hold with this scope, as `muster hold list` shows it [default: all]");
      });
}

void add_set_aside_changes(CLI::App& noun) {
  const auto about_one = [](const FleetCommand& command) {
    command.app->add_option("number", command.options->row, "As `muster set-aside list` shows it")
        ->required();
  };
  about_one(FleetCommand(noun, "show", "Show a row with its columns", show_set_aside));
  const FleetCommand retry(noun, "retry", "Write a row anew, to be read when the host starts",
                           retry_set_aside);
  about_one(retry);
  retry.app
      ->add_option("--set", retry.options->columns,
                   "COLUMN=VALUE: corrects a column; may be repeated")
      ->allow_extra_args(false);
  about_one(FleetCommand(noun, "discard", "Erase a row", discard_set_aside));
}

void add_dead_letter_changes(CLI::App& webhook) {
  const auto about_one = [](const FleetCommand& command) {
    command.app->add_option("name", command.options->name, "The webhook")->required();
    command.app
        ->add_option("number", command.options->row, "As `muster webhook dead-letters` shows it")
        ->required();
  };
  about_one(FleetCommand(webhook, "retry", "Send a dead letter again", retry_dead_letter));
  about_one(FleetCommand(webhook, "discard", "Erase a dead letter", discard_dead_letter));
}

void add_api_command(CLI::App& app) {
  const FleetCommand api(
      app, "api", "Call a path of the host's API and print its JSON; for what has no command",
      call_api);
  api.app->add_option("method", api.options->method, "GET, POST, PUT or DELETE")
      ->required()
      ->check(CLI::IsMember({"GET", "POST", "PUT", "DELETE"}));
  api.app->add_option("path", api.options->path, "Such as /pools, which is /api/muster/v1/pools")
      ->required();
  api.text("--file", api.options->file, "The body as JSON; -: standard input", "FILE");
  api.app->footer("Example: muster api GET /openapi.json");
}

}  // namespace

void add_change_commands(CLI::App& app) {
  add_pool_changes(*app.get_subcommand("pool"));
  add_worker_changes(app, *app.get_subcommand("worker"));
  add_launch_config_changes(app);
  add_hold_changes(app);
  add_set_aside_changes(*app.get_subcommand("set-aside"));
  add_dead_letter_changes(*app.get_subcommand("webhook"));
  CLI::App& config = *app.get_subcommand("config");
  FleetCommand(config, "reload", "Read the worker configurations again, now",
               reload_configurations);
  FleetCommand(
      config, "accept-empty",
      "Take the worker configurations as they are now, though they, or most of them, are gone",
      accept_empty_configurations);
  add_api_command(app);
}

}  // namespace muster::cli
