// Exit codes, the same for all commands.
#pragma once

#include <string>

namespace muster::cli {

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;      // the command ran and found errors, or could not do its work
constexpr int exit_usage = 2;       // the command line is wrong
constexpr int exit_no_worker = 75;  // no worker came in time; it may be tried again

// Thrown by a command's callback to end the program with a code, after it has printed what it had
// to say.
struct Exit {
  int code;
};

// Thrown to end the program with a message. It is printed in one place: as a line on stderr or,
// with --json, as {"error", "code", "exitCode"} on stdout.
struct CommandFailure {
  int exit_code = exit_failed;
  std::string message;
  std::string code = {};  // for programs: the host's, or a class of errors
  bool as_json = false;   // whatever the command line says
};

}  // namespace muster::cli
