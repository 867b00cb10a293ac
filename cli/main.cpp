// muster: the command line for operators and for teams that edit worker configurations.
#include <cstdio>
#include <exception>

#include "cli/command.hpp"

namespace muster::cli {
namespace {

constexpr const char* where_hosts_are =
    "Commands that talk to a host find it by the first of: --url; the data directory of\n"
    "--data-directory; MUSTER_URL; TASKCLUSTER_ROOT_URL (with TASKCLUSTER_CLIENT_ID and\n"
    "TASKCLUSTER_ACCESS_TOKEN); `muster login`; a host that runs on this machine.\n"
    "They authenticate with the first of: --token; MUSTER_TOKEN; requests signed as\n"
    "TASKCLUSTER_CLIENT_ID with TASKCLUSTER_ACCESS_TOKEN (and TASKCLUSTER_CERTIFICATE for "
    "temporary\n"
    "credentials); the login; the admin token in the data directory.\n"
    "MUSTER_CA_FILE has the same effect as --ca-file.";

}  // namespace

void add_host_options(CLI::App& command, HostOptions& options, bool with_data_directory) {
  command
      .add_option("--url", options.url, "Address of the host, such as https://muster.example.com")
      ->type_name("URL");
  command.add_option("--token", options.token, "Bearer token; other users can see it in `ps`")
      ->type_name("TOKEN");
  command.add_option("--ca-file", options.ca_file, "CA of the host's certificate (PEM)")
      ->type_name("FILE");
  if (with_data_directory)
    command
        .add_option("--data-directory", options.data_directory,
                    "Data directory of a host on this machine; it holds the address and a token")
        ->type_name("FOLDER");
}

}  // namespace muster::cli

int main(int argc, char** argv) {
  CLI::App app{"muster keeps fleets of CI workers at the right size"};
  app.name("muster");
  app.set_version_flag("--version", MUSTER_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all commands");
  muster::cli::add_fleet_commands(app);
  muster::cli::add_queue_commands(app);
  muster::cli::add_client_commands(app);
  muster::cli::add_backup_commands(app);
  muster::cli::add_plugin_commands(app);
  muster::cli::add_rule_commands(app);
  muster::cli::add_simulate_command(app);
  app.footer(muster::cli::where_hosts_are);  // last, or every command would have it
  try {
    app.parse(argc, argv);
    return muster::cli::exit_ok;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? muster::cli::exit_ok : muster::cli::exit_usage;
  } catch (const muster::cli::Exit& exit) {
    return exit.code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster: %s\n", error.what());
    return muster::cli::exit_failed;
  }
}
