// For commands that run until Ctrl-C or SIGTERM, which end them cleanly.
#pragma once

#include "lib/base/file_descriptor.hpp"

namespace muster::cli {

// Becomes readable on SIGINT and SIGTERM, which are blocked from then on.
FileDescriptor stop_signals();

// False: the program must stop.
bool pause_unless_stopped(int milliseconds, int stop);

}  // namespace muster::cli
