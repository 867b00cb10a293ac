// muster pools|pool|workers|log|errors|holds|backup|pause|resume: what the fleet does, and why.
#include <filesystem>
#include <functional>

#include "cli/command.hpp"
#include "cli/fleet/show.hpp"
#include "cli/host_client.hpp"
#include "cli/rules/terminal.hpp"

namespace muster::cli {
namespace {

struct FleetOptions {
  HostOptions host;
  bool as_json = false;
  std::string pool, launch_config, file, until, reason;
  int limit = 20;
};

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "muster: %s\n", error.message.c_str());
  throw Exit{exit_failed};
}

HostClient connect(const FleetOptions& options) {
  auto host = find_host(options.host, process_environment);
  if (!host) fail(host.error());
  return HostClient(std::move(*host));
}

json::value answer_of(Result<json::value> answer) {
  if (!answer) fail(answer.error());
  return std::move(*answer);
}

std::string pool_path(const FleetOptions& options) {
  return "/api/muster/v1/pools/" + path_segment(with_provisioner(options.pool));
}

CLI::App* add(CLI::App& app, const std::shared_ptr<FleetOptions>& options, const char* name,
              const char* description, bool about_pool) {
  CLI::App* command = app.add_subcommand(name, description);
  add_host_options(*command, options->host);
  if (about_pool)
    command
        ->add_option("pool", options->pool,
                     "The worker pool: a worker type, or provisionerId/workerType in full")
        ->required();
  return command;
}

// A command that fetches a document and shows it, or prints it as it is.
void add_view(CLI::App& app, const char* name, const char* description, bool about_pool,
              std::function<std::string(const FleetOptions&)> path,
              std::string (*show)(const json::object&, const Style&), bool limited = false) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command = add(app, options, name, description, about_pool);
  command->add_flag("--json", options->as_json, "Print the host's document");
  if (limited)
    command->add_option("--limit", options->limit, "How many, the newest ones (1 to 1000)")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
  command->callback([options, path, show] {
    const json::value document = answer_of(connect(*options).get(path(*options)));
    if (options->as_json) return print_json(document);
    print(show(document.as_object(), Style::of_stdout()));
  });
}

void add_backup(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command = add(app, options, "backup",
                          "Copy the host's store to a new file, while the host works on", false);
  command->add_option("file", options->file, "The new file, on the host's machine")->required();
  command->callback([options] {
    const std::string file = std::filesystem::absolute(options->file).lexically_normal().string();
    answer_of(connect(*options).post("/api/muster/v1/backup", {{"file", file}}));
    print("wrote " + file +
          "\nTo go back to it: stop the host, put it in the place of muster.db (and remove "
          "muster.db-wal and muster.db-shm), start the host.\n");
  });
}

void add_pause(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command =
      add(app, options, "pause", "Launch nothing from a launch configuration until a time", true);
  command->add_option("launchConfigId", options->launch_config)->required();
  command
      ->add_option("--until", options->until, "The end of the pause, such as 2026-01-02T03:04:05Z")
      ->required();
  command->add_option("--reason", options->reason, "Why; shown wherever the pause is");
  command->callback([options] {
    answer_of(connect(*options).post(
        pool_path(*options) + "/launch-configs/" + path_segment(options->launch_config) + "/pause",
        {{"until", options->until}, {"reason", options->reason}}));
    print("paused until " + options->until + "\n");
  });
}

void add_resume(CLI::App& app) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* command = add(app, options, "resume", "End the pause of a launch configuration", true);
  command->add_option("launchConfigId", options->launch_config)->required();
  command->callback([options] {
    answer_of(connect(*options).post(pool_path(*options) + "/launch-configs/" +
                                     path_segment(options->launch_config) + "/resume"));
    print("resumed\n");
  });
}

}  // namespace

void add_fleet_commands(CLI::App& app) {
  const auto fixed = [](std::string path) {
    return [path = "/api/muster/v1/" + std::move(path)](const FleetOptions&) { return path; };
  };
  const auto of_pool = [](std::string below) {
    return [below = std::move(below)](const FleetOptions& options) {
      return pool_path(options) + below;
    };
  };
  const auto limited = [](std::string below) {
    return [below = std::move(below)](const FleetOptions& options) {
      return pool_path(options) + below + "?limit=" + std::to_string(options.limit);
    };
  };
  add_view(app, "pools", "All worker pools: what they have, what waits, and why", false,
           fixed("pools"), show_pools);
  add_view(app, "pool", "One worker pool with its launch configurations and their weights", true,
           of_pool(""), show_pool);
  add_view(app, "workers", "The workers of a pool", true, of_pool("/workers"), show_workers);
  add_view(app, "log", "What was decided about a pool, and why", true, limited("/decisions"),
           show_decisions, true);
  add_view(app, "errors", "What went wrong with workers of a pool", true, limited("/errors"),
           show_errors, true);
  add_view(app, "holds", "What is not tried for a while, and how the providers are", false,
           fixed("holds"), show_holds);
  add_pause(app);
  add_resume(app);
  add_backup(app);
}

}  // namespace muster::cli
