// For commands that go on until somebody ends them: Ctrl-C and SIGTERM end them cleanly.
#pragma once

#include "lib/base/file_descriptor.hpp"

namespace muster::cli {

// Becomes readable when the program is to end, in place of the signals' usual effect.
FileDescriptor end_of_program();

// Until the time is over. False: the program is to end.
bool wait_for(int milliseconds, int end);

}  // namespace muster::cli
