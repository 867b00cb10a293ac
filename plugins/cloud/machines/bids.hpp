// Offers for launch configurations, from prices, quotas and how launches went.
#pragma once

#include <functional>

#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/cloud/machines/price_table.hpp"

namespace muster::cloud {

// What only the cloud knows. A function that is empty is not called.
struct BidSources {
  // Called for all candidates before the first price is asked for, so that one question to the
  // cloud can have them all.
  std::function<void(const Machine&)> note = {};
  std::function<Result<Price>(const Machine&)> price;
  // How many machines the quota has room for; nothing: it is not known. An error is why there is no
  // room, with its scope and hold.
  std::function<Result<std::optional<std::int64_t>>(const Machine&)> room = {};
};

// Each candidate has a bid or a problem, unless nothing of it is wanted. An error without a scope
// is about the one launch configuration.
Bids make_bids(const Words& words, const BidRequest& request, const BidSources& sources,
               LaunchHistory& history, const Context& context);

}  // namespace muster::cloud
