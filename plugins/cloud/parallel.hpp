// Several calls at a time.
#pragma once

#include <cstddef>
#include <functional>

namespace muster::cloud {

// Calls `work` with each index below `count`, up to 16 at a time, and returns when all are done.
// What `work` throws is thrown when all others are done.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace muster::cloud
