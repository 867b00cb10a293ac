// How a group of commands joins the program. Reading command lines costs compile time: files that
// only need the exit codes include exit_code.hpp.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/exit_code.hpp"
#include "cli/host_address.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

// Each group of commands adds its subcommands to the program. A subcommand's callback does the work
// and throws Exit or CommandFailure for any code but 0; std::exception means a bug or an unreadable
// file and is printed as one line.
void add_backup_commands(CLI::App& app);
void add_client_commands(CLI::App& app);
void add_docs_commands(CLI::App& app);
void add_hosts_commands(CLI::App& app);
void add_plugin_commands(CLI::App& app);
void add_rule_commands(CLI::App& app);
void add_fleet_commands(CLI::App& app);
void add_queue_commands(CLI::App& app);
void add_simulate_command(CLI::App& app);
void add_import_commands(CLI::App& app);
// login, logout, whoami, context
void add_login_commands(CLI::App& app);
// completion, man, commands: what the program says of itself
void add_reference_commands(CLI::App& app);

// Adds --url, --token, --ca-file, --context and, unless it is not wanted, --data-directory to a
// command.
void add_host_options(CLI::App& command, HostOptions& options, bool with_data_directory = true);

// Adds --json, -o and --no-headers.
void add_output_options(CLI::App& command, bool& as_json, ViewOptions& view);

// `muster pool`: the command that the verbs about pools are below. Made if it is not there yet.
CLI::App& add_noun(CLI::App& app, const char* name, const char* description);

// The command is another spelling of `muster <of>`, and listed as such.
void mark_as_spelling_of(CLI::App& command, const std::string& of);

// The groups of the list of commands.
constexpr const char* other_spellings = "Other spellings";

}  // namespace muster::cli
