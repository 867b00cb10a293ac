// muster: the command line for operators and for teams that edit worker configurations.
#include <cstdio>
#include <exception>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"muster keeps fleets of CI workers at the right size"};
  app.name("muster");
  app.set_version_flag("--version", MUSTER_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all commands");
  muster::cli::add_status_command(app);
  muster::cli::add_fleet_commands(app);
  muster::cli::add_client_commands(app);
  muster::cli::add_plugin_commands(app);
  muster::cli::add_rule_commands(app);
  muster::cli::add_simulate_command(app);
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
