// The public keys of a pool: a worker joins by signing with the private half of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/ssh/public_key.hpp"

namespace muster::queue {

inline constexpr std::size_t most_pool_keys = 16;

// All of them; `name` is what the document calls the list. Fails as `invalid`: "publicKeys[1]: this
// key occurs twice".
Result<std::vector<ssh::PublicKey>> read_pool_keys(std::string_view name,
                                                   const std::vector<std::string>& lines);

}  // namespace muster::queue
