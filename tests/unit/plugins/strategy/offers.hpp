// Requests for tests of strategies, with as few words as possible.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/bidding_strategy.hpp>

namespace muster::testing {

inline SelectRequest::Offer offer(const std::string& id, std::int64_t instances,
                                  std::int64_t capacity, double price, double weight = 1,
                                  double reliability = 1) {
  return {BidId(id), ProviderId("p-" + id), weight,
          Bid{LaunchConfigId("lc-" + id), capacity, instances, price, reliability}};
}

inline SelectRequest select_request(std::int64_t capacity, std::vector<SelectRequest::Offer> offers,
                                    std::uint64_t seed = 0) {
  return {WorkerPoolId("a/b"), capacity, {0, 1000}, std::move(offers), seed};
}

using Taken = std::map<std::string, std::int64_t>;  // instances by bid

inline Taken taken(const Selection& selection) {
  Taken by_bid;
  for (const auto& choice : selection.choices) by_bid[choice.bid_id.str()] = choice.instances;
  return by_bid;
}

}  // namespace muster::testing
