#include "host/fleet/bidding/fair_share.hpp"

#include <algorithm>
#include <numeric>

namespace muster::bidding {

std::vector<std::int64_t> fair_shares(std::span<const std::int64_t> claims, std::int64_t limit,
                                      std::size_t first) {
  std::vector<std::int64_t> shares(claims.size(), 0);
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return claims[i]; });
  std::int64_t left = std::max<std::int64_t>(limit, 0);
  for (std::size_t done = 0; done < order.size(); ++done) {
    const auto hungry = static_cast<std::int64_t>(order.size() - done);
    const std::int64_t claim = std::max<std::int64_t>(claims[order[done]], 0);
    if (left / hungry < claim) {  // from here on nobody gets all
      for (std::size_t i = done; i < order.size(); ++i) shares[order[i]] = left / hungry;
      left %= hungry;
      break;
    }
    shares[order[done]] = claim;
    left -= claim;
  }
  for (std::size_t step = 0; left > 0 && step < claims.size(); ++step) {
    const std::size_t i = (first + step) % claims.size();
    if (shares[i] < claims[i]) ++shares[i], --left;
  }
  return shares;
}

}  // namespace muster::bidding
