// How many files and connections this process may have open.
#pragma once

#include <cstdint>
#include <sys/resource.h>

#include <muster/error.hpp>

namespace muster {

// Raises the soft limit as far as it goes: to the hard limit, or, if that is less than `wanted` and
// this process may, to `wanted`. Fails as `config` if less than `least` is to be had, with what to
// do; the limit is raised all the same. IDEMPOTENT
Result<void> raise_limit_of_open_files(rlim_t least, rlim_t wanted);

// The failure. Pure.
Error too_few_open_files(rlim_t limit, rlim_t least);

}  // namespace muster
