// Which offers to take: at random, in proportion to the health of their launch configurations.
#pragma once

#include <muster/bidding_strategy.hpp>

namespace muster::estimator {

// One instance at a time, drawn by weight from the offers that have instances left, until the need
// is covered: at most one instance's capacity − 1 too much. An offer without room or with weight 0
// is never drawn. The seed decides the draws. `invalid` for a capacity beyond all reason.
Result<Selection> select(const SelectRequest& request);

}  // namespace muster::estimator
