// The command lines of what is about the queue: lease, why, eta, queue, set-team, and the verbs of
// worker pools.
#include "cli/command.hpp"
#include "cli/queue/actions.hpp"

namespace muster::cli {
namespace {

struct QueueCommand {
  std::shared_ptr<QueueOptions> options = std::make_shared<QueueOptions>();
  CLI::App* app;

  QueueCommand(CLI::App& parent, const char* name, const char* description,
               void (*action)(const QueueOptions&))
      : app(parent.add_subcommand(name, description)) {
    add_host_options(*app, options->host);
    app->add_flag("--json", options->as_json, "Print JSON, as the host sends it");
    app->callback([given = options, action] { action(*given); });
  }

  const QueueCommand& name(const char* description) const {
    app->add_option("--name", options->name, description)->required();
    return *this;
  }
  const QueueCommand& teams() const {
    app->add_option("--team", options->teams, "A team; may be repeated")
        ->required()
        ->allow_extra_args(false);
    return *this;
  }
  const QueueCommand& subject(const char* description) const {
    app->add_option("subject", options->subject, description)->required();
    return *this;
  }
};

constexpr const char* pool_name = "The pool: a worker type, or provisionerId/workerType in full";

void add_lease_command(CLI::App& app) {
  const auto options = std::make_shared<LeaseOptions>();
  CLI::App* command =
      app.add_subcommand("lease", "Lease a worker while a command runs: muster lease -- COMMAND");
  add_host_options(*command, options->host);
  command->add_option("--team", options->team, "The team that asks")->capture_default_str();
  auto* pool = command->add_option("--pool", options->pool, pool_name);
  command->add_option("--tag", options->tags, "Tag that the worker must have; may be repeated")
      ->allow_extra_args(false)
      ->excludes(pool);
  command
      ->add_option("--resource", options->resources,
                   "Resource that the lease uses: memory=4096; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command
      ->add_option("--strategy", options->strategies,
                   "How to choose among workers; may be repeated, the first counts most")
      ->check(CLI::IsMember({"random", "fewest-active", "locality", "spread", "pack"}))
      ->allow_extra_args(false);
  command->add_option("--cache-key", options->cache_key,
                      "Prefer a worker that has served this key");
  command->add_option("--priority", options->priority,
                      "Priority among the team's requests; higher goes first");
  command->add_option("--wait", options->wait,
                      "Give up after this time, with exit code 75: 10m, 2h");
  command
      ->add_option("--heartbeat", options->heartbeat,
                   "The host takes the worker back after this time without a heartbeat")
      ->capture_default_str();
  command->add_option("command", options->command, "Command to run; write it after --")->required();
  command->footer(
      "The command finds MUSTER_WORKER_POOL_ID, MUSTER_WORKER_GROUP, MUSTER_WORKER_ID,\n"
      "MUSTER_WORKER_PROVIDER_ID, MUSTER_WORKER_CAPACITY and MUSTER_REQUEST_ID in its "
      "environment.\n"
      "The exit code of the command is the exit code of muster.");
  command->callback([options] { lease(*options); });
}

}  // namespace

void add_queue_commands(CLI::App& app) {
  add_lease_command(app);
  QueueCommand(app, "why", "Explain the state of a request, pool, launch configuration or worker",
               print_why)
      .subject("A request, a pool, a launch configuration, or a worker as workerGroup/workerId");
  const QueueCommand eta(app, "eta",
                         "Predict when a request or pool gets its workers; without a subject, show "
                         "launch and lease times and how accurate predictions were",
                         print_eta);
  eta.app->add_option("subject", eta.options->subject,
                      "A request, a pool or a launch configuration");
  const QueueCommand queue(app, "queue", "Show waiting requests and leases, by team and by pool",
                           show_queue);
  queue.app->add_flag("--watch", queue.options->watch, "Keep showing it until Ctrl-C");
  QueueCommand(app, "worker-pools",
               "List pools that are dedicated to teams, or whose workers need a key",
               list_worker_pools);
  const QueueCommand pool(app, "set-worker-pool", "Dedicate a pool to its attached teams",
                          set_worker_pool);
  pool.name(pool_name);
  auto* keys =
      pool.app
          ->add_option("--public-worker-key", pool.options->key_files,
                       "The .pub file of a key; only workers with one of the keys may join. "
                       "May be repeated; replaces the earlier keys")
          ->type_name("FILE")
          ->allow_extra_args(false);
  pool.app
      ->add_flag("--no-public-worker-keys", pool.options->no_keys,
                 "Remove all keys: workers need none")
      ->excludes(keys);
  QueueCommand(app, "destroy-worker-pool",
               "End the dedication of a pool; it must have no teams and no workers",
               destroy_worker_pool)
      .name(pool_name);
  const QueueCommand attach(app, "attach-worker-pool", "Allow teams to use a pool",
                            attach_worker_pool);
  attach.name(pool_name).teams();
  attach.app->add_flag("--exclusive", attach.options->exclusive,
                       "Refuse if a team is attached to another pool");
  QueueCommand(app, "detach-worker-pool", "Stop teams from using a pool; their leases continue",
               detach_worker_pool)
      .name(pool_name)
      .teams();
  const QueueCommand team(app, "set-team", "Set a team's weight and limits", set_team);
  team.name("The team");
  team.app->add_option("--weight", team.options->weight, "Its share relative to other teams")
      ->capture_default_str();
  team.app->add_option("--max-held", team.options->max_held,
                       "Most capacity that it may hold at once; 0: no limit");
  team.app->add_option("--max-pending", team.options->max_pending,
                       "Most requests that may wait; 0: no limit");
}

}  // namespace muster::cli
