// How a limit that several pools share is divided when it is scarce.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::bidding {

// Max-min fairness: nobody gets more than it asks for, and nobody gets less than somebody who asks
// for as much. What is left over by whole numbers goes to the claims from `first` on, in a circle,
// so that with a changing `first` no place in the list is a better one.
std::vector<std::int64_t> fair_shares(std::span<const std::int64_t> claims, std::int64_t limit,
                                      std::size_t first);

}  // namespace muster::bidding
