// How much capacity a pool needs, as aws-provisioner counted it.
#pragma once

#include <cstdint>

#include <muster/bidding_strategy.hpp>

namespace muster::classic {

// `invalid` for a count below zero or beyond what the arithmetic keeps exact, with its name.
Result<void> check_counts(const SizeRequest& request);

// ECMAScript's Math.round: halves go up, so round(-2.5) is -2.
double round_half_up(double number);

// `invalid` as check_counts.
Result<Size> size(const SizeRequest& request);

}  // namespace muster::classic
