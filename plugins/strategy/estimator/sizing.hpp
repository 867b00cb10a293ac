// How much capacity a pool needs, as Taskcluster's worker-manager estimates it, with its mistakes
// corrected. README.md has both formulas side by side.
#pragma once

#include <muster/bidding_strategy.hpp>

namespace muster::estimator {

// `invalid` for a count below zero or beyond what the arithmetic keeps exact.
Result<Size> size(const SizeRequest& request);

}  // namespace muster::estimator
