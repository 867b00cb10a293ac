// What every command of `muster` shares: the exit codes, and how a group of commands joins the
// program.
#pragma once

#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

namespace muster::cli {

// Exit codes, the same for all commands.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;  // the command ran and found errors, or could not do its work
constexpr int exit_usage = 2;   // the command line is wrong

// Thrown by a command's callback to end the program with a code, after it has printed what it had
// to say.
struct Exit {
  int code;
};

// Each group of commands adds its subcommands to the program. A subcommand's callback does the work
// and throws Exit for any code but 0; std::exception means a bug or an unreadable file and is
// printed as one line.
void add_rule_commands(CLI::App& app);
void add_status_command(CLI::App& app);

}  // namespace muster::cli
