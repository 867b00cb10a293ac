// What a local worker proves who it is with: a secret that only it and the host's machine have
// seen.
#pragma once

#include <string>

#include <muster/error.hpp>

namespace muster::local {

// 264 bits from the kernel, as 44 letters that need no quoting anywhere.
Result<std::string> random_secret();

}  // namespace muster::local
