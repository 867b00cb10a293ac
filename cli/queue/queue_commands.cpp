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
    add_output_options(*app, options->as_json, options->view);
    app->callback([given = options, action] { action(*given); });
  }

  const QueueCommand& name(const char* description, const char* option = "--name") const {
    app->add_option(option, options->name, description)->required();
    return *this;
  }
  const QueueCommand& teams(bool required = true) const {
    app->add_option("--team", options->teams, "A team; may be repeated")
        ->required(required)
        ->allow_extra_args(false);
    return *this;
  }
  const QueueCommand& yes() const {
    app->add_flag("--yes", options->yes, "Do not ask before everybody is locked out");
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
      "lease", "Lease a worker while a command runs here: muster lease -- COMMAND");
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
  command
      ->add_option("--payload", options->payload_file,
                   "JSON file whose content is checked against the pool's payload schema first")
      ->type_name("FILE")
      ->needs(pool);
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
  command->add_flag("--json", options->as_json,
                    "Print what becomes of the request as JSON on stderr, one object on each line");
  command->footer(
      "The command runs here, on this machine, while the worker is held: it does not run on the\n"
      "worker. To run something there, let the command go there: ssh \"$MUSTER_WORKER_ID\" make\n"
      "The id of the request is printed on stderr, for `muster why` and `muster request cancel`.\n"
      "The command finds MUSTER_WORKER_POOL_ID, MUSTER_WORKER_GROUP, MUSTER_WORKER_ID,\n"
      "MUSTER_WORKER_PROVIDER_ID, MUSTER_WORKER_CAPACITY and MUSTER_REQUEST_ID in its "
      "environment.\n"
      "The exit code of the command is the exit code of muster.");
  command->callback([options] { lease(*options); });
}

// `muster pool dedicate POOL` and, as the RFC has it, `muster set-worker-pool --name POOL`: the
// same commands, with the pool as an argument or as an option.
struct PoolSpelling {
  CLI::App* parent;
  const char *name, *pool_option;
};

template <class Configure>
void add_both(const PoolSpelling& own, const PoolSpelling& older, const char* description,
              void (*action)(const QueueOptions&), Configure configure) {
  for (const PoolSpelling& spelling : {own, older}) {
    const QueueCommand command(*spelling.parent, spelling.name, description, action);
    command.name(pool_name, spelling.pool_option);
    configure(command);
    if (spelling.parent != own.parent)
      mark_as_spelling_of(*command.app, "pool " + std::string(own.name));
  }
}

void add_key_options(const QueueCommand& pool) {
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
}

void add_team_pool_commands(CLI::App& app) {
  CLI::App* const pool = &add_noun(app, "pool", "Worker pools");
  constexpr const char* listed =
      "List pools that are dedicated to teams, or whose workers need a key";
  QueueCommand(*pool, "dedicated", listed, list_worker_pools);
  mark_as_spelling_of(*QueueCommand(app, "worker-pools", listed, list_worker_pools).app,
                      "pool dedicated");
  add_both({pool, "dedicate", "pool"}, {&app, "set-worker-pool", "--name"},
           "Dedicate a pool to its attached teams", set_worker_pool,
           [](const QueueCommand& command) {
             command.teams(false).yes();
             add_key_options(command);
           });
  add_both({pool, "share", "pool"}, {&app, "destroy-worker-pool", "--name"},
           "End the dedication of a pool; it must have no teams and no workers",
           destroy_worker_pool, [](const QueueCommand&) {});
  add_both({pool, "attach", "pool"}, {&app, "attach-worker-pool", "--name"},
           "Allow teams to use a pool", attach_worker_pool, [](const QueueCommand& command) {
             command.teams();
             command.app->add_flag("--exclusive", command.options->exclusive,
                                   "Refuse if a team is attached to another pool");
           });
  add_both({pool, "detach", "pool"}, {&app, "detach-worker-pool", "--name"},
           "Stop teams from using a pool; their leases continue", detach_worker_pool,
           [](const QueueCommand& command) { command.teams().yes(); });
}

void add_team_commands(CLI::App& app) {
  CLI::App& team = add_noun(app, "team", "Teams: list, show, set");
  team.require_subcommand(1);
  QueueCommand(team, "list", "List the teams that the queue knows, with shares and limits",
               list_teams);
  QueueCommand(team, "show", "Show one team", show_team).name("The team", "team");
  const auto add_set = [](CLI::App& parent, const char* name, const char* option) {
    const QueueCommand set(parent, name, "Set a team's weight and limits; what is not given stays",
                           set_team);
    set.name("The team", option);
    set.app->add_option("--weight", set.options->weight, "Its share relative to other teams");
    set.app->add_option("--max-held", set.options->max_held,
                        "Most capacity that it may hold at once; 0: no limit");
    set.app->add_option("--max-pending", set.options->max_pending,
                        "Most requests that may wait; 0: no limit");
    return set.app;
  };
  add_set(team, "set", "team");
  mark_as_spelling_of(*add_set(app, "set-team", "--name"), "team set");
}

void add_request_commands(CLI::App& app) {
  CLI::App& request = add_noun(app, "request", "Requests for workers: list, show, cancel, extend");
  request.require_subcommand(1);
  const auto about_one = [](const QueueCommand& command) {
    command.name("The request, as `muster request list` shows it", "requestId");
    command.app->add_option("--team", command.options->team,
                            "Its team, for clients that may see only its requests");
  };
  const QueueCommand list(request, "list", "List requests of all teams", list_requests);
  list.app->add_option("--team", list.options->team, "Only requests of this team");
  list.app->add_option("--state", list.options->state, "Only requests in this state")
      ->check(CLI::IsMember({"waiting", "held", "ended"}));
  about_one(QueueCommand(request, "show", "Show one request", show_request));
  about_one(QueueCommand(request, "cancel", "End a request, and free the worker that it holds",
                         cancel_request));
  const QueueCommand extend(request, "extend", "Hold its worker until another time",
                            extend_request);
  about_one(extend);
  auto* until =
      extend.app->add_option("--until", extend.options->until, "Such as 2026-01-02T03:04:05Z")
          ->type_name("TIME");
  extend.app->add_option("--for", extend.options->duration, "From now: 30m, 2h")
      ->type_name("DURATION")
      ->excludes(until);
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
  add_team_pool_commands(app);
  add_team_commands(app);
  add_request_commands(app);
}

}  // namespace muster::cli
