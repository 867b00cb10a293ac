#include "host/fleet/model/messages.hpp"

namespace muster::fleet {

BidRequest AskBids::request() const {
  BidRequest request{
      .owner = owner, .worker_pool_id = worker_pool_id, .capacity = capacity, .candidates = {}};
  request.candidates.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    request.candidates.push_back(
        {candidate.spec->launch_config, candidate.weight, candidate.max_instances});
  return request;
}

}  // namespace muster::fleet
