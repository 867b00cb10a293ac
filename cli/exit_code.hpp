// Exit codes, the same for all commands.
#pragma once

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

}  // namespace muster::cli
