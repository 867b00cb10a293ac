// What a service must keep to, or its answer is not used.
#pragma once

#include <string>

#include <muster/bidding_strategy.hpp>

namespace muster::external {

// The first promise that the answer breaks, as the end of a sentence ("wants 50 more, which is 30
// above maxCapacity 20"); empty if it breaks none.
std::string broken_promise(const SizeRequest& request, const Size& answer);
std::string broken_promise(const SelectRequest& request, const Selection& answer);

}  // namespace muster::external
