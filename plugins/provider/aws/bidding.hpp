// Offers for launch configurations.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/provider/aws/launch_history.hpp"
#include "plugins/provider/aws/prices.hpp"

namespace muster::aws {

// Each candidate has a bid or a problem, unless nothing of it is wanted.
Bids make_bids(const BidRequest& request, Prices& prices, LaunchHistory& history,
               const Context& context);

}  // namespace muster::aws
