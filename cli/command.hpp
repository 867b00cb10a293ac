// How a group of commands joins the program. Reading command lines costs compile time: files that
// only need the exit codes include exit_code.hpp.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/exit_code.hpp"
#include "cli/host_address.hpp"

namespace muster::cli {

// Each group of commands adds its subcommands to the program. A subcommand's callback does the work
// and throws Exit for any code but 0; std::exception means a bug or an unreadable file and is
// printed as one line.
void add_backup_commands(CLI::App& app);
void add_client_commands(CLI::App& app);
void add_plugin_commands(CLI::App& app);
void add_rule_commands(CLI::App& app);
void add_fleet_commands(CLI::App& app);
void add_queue_commands(CLI::App& app);
void add_simulate_command(CLI::App& app);

// Adds --url, --token, --ca-file and, unless it is not wanted, --data-directory to a command.
void add_host_options(CLI::App& command, HostOptions& options, bool with_data_directory = true);

}  // namespace muster::cli
