// The same program once more, in the same process.
#pragma once

#include <chrono>

namespace muster {

// With the same arguments; returns only if that is not possible. The new one does not ask for the
// lead for so long.
void start_again(std::chrono::milliseconds stand_back);

}  // namespace muster
