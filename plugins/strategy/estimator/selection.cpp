#include "plugins/strategy/estimator/selection.hpp"

#include <algorithm>
#include <vector>

#include "plugins/strategy/classic/numbers.hpp"

namespace muster::estimator {
namespace {

using classic::largest_count;

struct Option {
  const SelectRequest::Offer* offer;
  double weight;
  std::int64_t left;
  std::int64_t taken = 0;

  std::int64_t capacity() const { return offer->bid.capacity_per_instance; }
};

std::vector<Option> options_of(const SelectRequest& request) {
  std::vector<Option> options;
  for (const SelectRequest::Offer& offer : request.offers)
    if (offer.weight > 0 && offer.bid.instances > 0 && offer.bid.capacity_per_instance > 0 &&
        offer.bid.capacity_per_instance <= largest_count)
      options.push_back({&offer, std::min(offer.weight, 1.0), offer.bid.instances});
  return options;
}

double fraction(classic::Random& random) {  // in [0, 1)
  constexpr std::uint64_t steps = std::uint64_t{1} << 53;
  return static_cast<double>(random.below(steps)) / static_cast<double>(steps);
}

// By weight, of those that have instances left; null if none has.
Option* draw(std::vector<Option>& options, classic::Random& random) {
  double total = 0;
  for (const Option& option : options)
    if (option.left > 0) total += option.weight;
  double point = fraction(random) * total;
  Option* last = nullptr;
  for (Option& option : options) {
    if (option.left == 0) continue;
    last = &option;
    if (point < option.weight) return last;
    point -= option.weight;
  }
  return last;  // rounding may step over the end
}

// When thousands are missing a draw counts for several, so that the time does not grow with the
// demand.
std::int64_t take(Option& option, std::int64_t needed) {
  constexpr std::int64_t draws = 10'000;
  const std::int64_t whole = (needed - 1) / option.capacity() + 1;
  const std::int64_t count = std::min({1 + needed / option.capacity() / draws, whole, option.left});
  option.taken += count;
  option.left -= count;
  return count * option.capacity();
}

std::string reason(const SelectRequest& request, const std::vector<Option>& options,
                   std::int64_t needed) {
  if (request.capacity <= 0)
    return "took nothing: " + std::to_string(request.capacity) + " capacity wanted";
  if (request.offers.empty()) return "took nothing: there are no offers";
  if (options.empty())
    return "took nothing: none of " + std::to_string(request.offers.size()) +
           " offers has instances, capacity and a weight above 0";
  constexpr int shown = 5;
  std::string text = "drawn by weight from " + std::to_string(options.size()) + " of " +
                     std::to_string(request.offers.size()) + " offers: ";
  int count = 0;
  for (const Option& option : options) {
    if (option.taken == 0 || ++count > shown) continue;
    text += (count > 1 ? ", " : "") + std::to_string(option.taken) + " of " +
            option.offer->bid.launch_config_id.str() + " (bid " + option.offer->bid_id.str() +
            ", weight " + classic::in_words(option.weight) + ")";
  }
  if (count > shown) text += " and " + std::to_string(count - shown) + " others";
  text += "; " + std::to_string(request.capacity - needed) + " of " +
          std::to_string(request.capacity) + " capacity";
  if (needed > 0) text += ", " + std::to_string(needed) + " more than the offers hold";
  return text;
}

}  // namespace

Result<Selection> select(const SelectRequest& request) {
  if (request.capacity > largest_count)
    return Error::invalid("capacity: " + std::to_string(request.capacity) + " is above " +
                          std::to_string(largest_count));
  classic::Random random(request.seed);
  std::vector<Option> options = options_of(request);
  std::int64_t needed = request.capacity;
  while (needed > 0) {
    Option* const drawn = draw(options, random);
    if (!drawn) break;
    needed -= take(*drawn, needed);
  }
  Selection selection;
  for (const Option& option : options)
    if (option.taken > 0) selection.choices.push_back({option.offer->bid_id, option.taken});
  selection.reason = reason(request, options, needed);
  return selection;
}

}  // namespace muster::estimator
