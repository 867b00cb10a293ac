// What a service must keep to, beyond the shape of its answers.
#pragma once

#include <string>

#include <muster/provider.hpp>

namespace muster::bridge {

// The first promise that the answer breaks, with the place: "bids[0].launchConfigId: nobody asked
// for lc-9"; empty if it breaks none.
std::string broken_promise(const PlacementsRequest&, const Placements& answer);
std::string broken_promise(const ExpandRequest&, const Expansion& answer);
std::string broken_promise(const BidRequest& request, const Bids& answer);
std::string broken_promise(const AllocateRequest& request, const Allocation& answer);

// The shape is all there is to promise.
template <class Request, class Reply>
std::string broken_promise(const Request&, const Reply&) {
  return {};
}

}  // namespace muster::bridge
