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
    app->add_flag("--json", options->as_json, "Print the host's document");
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
  CLI::App* command = app.add_subcommand(
      "lease", "Wait for a worker, and run a command while it is yours: muster lease -- COMMAND");
  add_host_options(*command, options->host);
  command->add_option("--team", options->team, "For whom")->capture_default_str();
  auto* pool = command->add_option("--pool", options->pool, pool_name);
  command->add_option("--tag", options->tags, "The worker must have it; may be repeated")
      ->allow_extra_args(false)
      ->excludes(pool);
  command
      ->add_option("--resource", options->resources,
                   "What it takes of the worker: memory=4096; may be repeated")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
  command
      ->add_option("--strategy", options->strategies,
                   "Which worker is preferred; may be repeated, the first says most")
      ->check(CLI::IsMember({"random", "fewest-active", "locality", "spread", "pack"}))
      ->allow_extra_args(false);
  command->add_option("--cache-key", options->cache_key,
                      "Prefer a worker that served the same key before");
  command->add_option("--priority", options->priority, "Among the team's own requests");
  command->add_option("--wait", options->wait,
                      "Give up if there is no worker by then: 10m, 2h; the exit code is 75");
  command
      ->add_option("--heartbeat", options->heartbeat,
                   "The host takes the worker back if it hears nothing for so long")
      ->capture_default_str();
  command->add_option("command", options->command, "What to run; after --")->required();
  command->footer(
      "The command finds MUSTER_WORKER_POOL_ID, MUSTER_WORKER_GROUP, MUSTER_WORKER_ID,\n"
      "MUSTER_WORKER_PROVIDER_ID, MUSTER_WORKER_CAPACITY and MUSTER_REQUEST_ID in its "
      "environment.\n"
      "Its exit code is the exit code of muster.");
  command->callback([options] { lease(*options); });
}

}  // namespace

void add_queue_commands(CLI::App& app) {
  add_lease_command(app);
  QueueCommand(app, "why", "Why something is where it is", tell_why)
      .subject("A request, a pool, a launch configuration, or a worker as workerGroup/workerId");
  const QueueCommand eta(app, "eta",
                         "When to expect what is wanted; without a subject, how long workers and "
                         "leases take, and how often such times were kept",
                         tell_eta);
  eta.app->add_option("subject", eta.options->subject,
                      "A request, a pool or a launch configuration");
  const QueueCommand queue(app, "queue", "What waits for workers, by team and by pool", show_queue);
  queue.app->add_flag("--watch", queue.options->watch, "Go on showing it, until Ctrl-C");
  QueueCommand(app, "worker-pools",
               "The pools that are dedicated to teams, or whose workers need a key",
               list_worker_pools);
  const QueueCommand pool(app, "set-worker-pool",
                          "Dedicate a pool to the teams that are attached to it", set_worker_pool);
  pool.name(pool_name);
  auto* keys = pool.app
                   ->add_option("--public-worker-key", pool.options->key_files,
                                "The .pub file of a key with which workers may join, and without "
                                "any they may not; may be repeated. Keys of before are replaced")
                   ->type_name("FILE")
                   ->allow_extra_args(false);
  pool.app->add_flag("--no-public-worker-keys", pool.options->no_keys, "Workers need no key")
      ->excludes(keys);
  QueueCommand(app, "destroy-worker-pool",
               "Dedicate a pool no longer; it must have no teams and no workers",
               destroy_worker_pool)
      .name(pool_name);
  const QueueCommand attach(app, "attach-worker-pool", "Let teams use a pool", attach_worker_pool);
  attach.name(pool_name).teams();
  attach.app->add_flag("--exclusive", attach.options->exclusive,
                       "Refuse if a team is attached to another pool");
  QueueCommand(app, "detach-worker-pool", "Let teams use a pool no longer; their leases go on",
               detach_worker_pool)
      .name(pool_name)
      .teams();
  const QueueCommand team(app, "set-team", "Set a team's weight and limits", set_team);
  team.name("The team");
  team.app->add_option("--weight", team.options->weight, "Its share compared with others")
      ->capture_default_str();
  team.app->add_option("--max-held", team.options->max_held,
                       "Capacity that it may hold at once; 0: no limit");
  team.app->add_option("--max-pending", team.options->max_pending,
                       "Requests that may wait; 0: no limit");
}

}  // namespace muster::cli
