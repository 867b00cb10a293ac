// How much capacity a pool needs, as aws-provisioner counted it.
#pragma once

#include <cstdint>

#include <muster/bidding_strategy.hpp>

namespace muster::classic {

// ECMAScript's Math.round: halves go up, so round(-2.5) is -2.
double round_half_up(double number);

// `invalid` for a count below zero or beyond what the arithmetic keeps exact.
Result<Size> size(const SizeRequest& request);

}  // namespace muster::classic
