#include "plugins/strategy/external/promises.hpp"

#include <algorithm>
#include <map>

#include "plugins/strategy/classic/numbers.hpp"

namespace muster::external {
namespace {

using classic::largest_count;
using std::to_string;

constexpr std::size_t longest_reason = 4000;

std::string broken_by(const std::string& reason) {
  if (reason.empty()) return "gives no reason";
  if (reason.size() > longest_reason)
    return "gives a reason of " + to_string(reason.size()) + " bytes; " +
           to_string(longest_reason) + " are allowed";
  return {};
}

}  // namespace

std::string broken_promise(const SizeRequest& request, const Size& answer) {
  const std::int64_t wanted = answer.capacity;
  if (wanted > largest_count || wanted < -largest_count)
    return "wants " + to_string(wanted) + ", which is beyond all reason";
  const std::int64_t present = request.capacity.running + request.capacity.requested;
  const std::int64_t min = request.settings.min_capacity, max = request.settings.max_capacity;
  if (wanted > 0 && present + wanted > max)
    return "wants " + to_string(wanted) + " beside " + to_string(present) +
           " running and requested; maxCapacity is " + to_string(max);
  if (present < min && present + wanted < std::min(min, max))
    return "wants " + to_string(wanted) + " beside " + to_string(present) +
           " running and requested; minCapacity is " + to_string(min);
  return broken_by(answer.reason);
}

std::string broken_promise(const SelectRequest& request, const Selection& answer) {
  std::map<BidId, const SelectRequest::Offer*> offers;
  for (const SelectRequest::Offer& offer : request.offers) offers[offer.bid_id] = &offer;
  std::int64_t total = 0, largest = 0;
  for (const Selection::Choice& choice : answer.choices) {
    const std::string bid = "bid " + choice.bid_id.str().substr(0, 100);
    const auto found = offers.find(choice.bid_id);
    if (found == offers.end()) return "takes " + bid + ", which is not offered";
    if (!found->second) return "takes " + bid + " twice";
    const SelectRequest::Offer& offer = *found->second;
    const std::int64_t each = offer.bid.capacity_per_instance;
    if (choice.instances < 1 || choice.instances > offer.bid.instances)
      return "takes " + to_string(choice.instances) + " instances of " + bid + ", which offers " +
             to_string(offer.bid.instances);
    if (!(offer.weight > 0)) return "takes " + bid + ", which has weight 0";
    if (each < 1 || each > largest_count) return "takes " + bid + ", which has no capacity";
    // One instance fewer must be too little, so what is taken has a bound before it can overflow.
    if (choice.instances > largest_count / each) return "takes more than is wanted";
    total += choice.instances * each;
    largest = std::max(largest, each);
    if (total > 4 * largest_count) return "takes more than is wanted";
    found->second = nullptr;
  }
  if (total > 0 && total - largest >= request.capacity)
    return "takes " + to_string(total) + " capacity where " + to_string(request.capacity) +
           " is wanted: an instance fewer would do";
  return broken_by(answer.reason);
}

}  // namespace muster::external
