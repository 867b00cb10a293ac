#include "plugins/strategy/cheapest/selection.hpp"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <vector>

#include <muster/codec.hpp>

#include "plugins/strategy/classic/numbers.hpp"

namespace muster::cheapest {
namespace {

using classic::in_words;
using classic::largest_count;

constexpr double least_health = 0.001;  // an offer that nearly always fails costs a thousandfold

struct Option {
  const SelectRequest::Offer* offer;
  double effective;
  std::uint64_t lot;  // orders equals
  std::int64_t taken = 0;

  const Bid& bid() const { return offer->bid; }
};

bool can_be_taken(const SelectRequest::Offer& offer) {
  return offer.weight > 0 && offer.bid.instances > 0 && offer.bid.capacity_per_instance > 0 &&
         offer.bid.capacity_per_instance <= largest_count && offer.bid.price_per_capacity_hour >= 0;
}

// Cheapest first. Lots are drawn for all offers, so that one that leaves does not change the
// others'.
std::vector<Option> in_order(const SelectRequest& request, const Preferences& preferences) {
  classic::Random random(request.seed);
  std::vector<Option> options;
  for (const SelectRequest::Offer& offer : request.offers) {
    const std::uint64_t lot = random.below(std::uint64_t{1} << 62);
    if (!can_be_taken(offer)) continue;
    if (preferences.max_price && offer.bid.price_per_capacity_hour > *preferences.max_price)
      continue;
    options.push_back({&offer, effective_price(offer), lot});
  }
  std::stable_sort(options.begin(), options.end(), [](const Option& a, const Option& b) {
    return std::tie(a.effective, a.lot) < std::tie(b.effective, b.lot);
  });
  return options;
}

// Prices in words need no more digits than a bill has.
std::string money(double price) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", price);
  return text;
}

// "took 5 of lc-1 (bid 3) at 0.042/h per capacity, health 0.9"
std::string taken_in_words(const Option& option) {
  return std::to_string(option.taken) + " of " + option.bid().launch_config_id.str() + " (bid " +
         option.offer->bid_id.str() + ") at " + money(option.bid().price_per_capacity_hour) +
         "/h per capacity, health " + money(health(*option.offer));
}

std::string left_out(const SelectRequest& request, const Preferences& preferences) {
  std::int64_t unhealthy = 0, dear = 0, empty = 0;
  for (const SelectRequest::Offer& offer : request.offers)
    if (!(offer.weight > 0))
      ++unhealthy;
    else if (!can_be_taken(offer))
      ++empty;
    else if (preferences.max_price && offer.bid.price_per_capacity_hour > *preferences.max_price)
      ++dear;
  std::string text;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(unhealthy, "with weight 0");
  add(empty, "without instances, capacity or price");
  if (preferences.max_price) add(dear, "above maxPrice " + in_words(*preferences.max_price));
  return text;
}

std::string nothing(const SelectRequest& request, const Preferences& preferences) {
  if (request.capacity <= 0)
    return "took nothing: " + std::to_string(request.capacity) + " capacity wanted";
  if (request.offers.empty()) return "took nothing: there are no offers";
  return "took nothing: of " + std::to_string(request.offers.size()) + " offers, " +
         left_out(request, preferences);
}

std::string reason(const SelectRequest& request, const Preferences& preferences,
                   const std::vector<Option>& options, std::int64_t missing) {
  constexpr std::size_t shown = 5;
  std::string text;
  std::size_t count = 0;
  const Option* next = nullptr;
  for (const Option& option : options) {
    if (option.taken == 0) {
      if (!next) next = &option;
    } else if (++count <= shown) {
      text += (text.empty() ? "took " : ", then ") + taken_in_words(option);
    }
  }
  if (count > shown) text += ", then from " + std::to_string(count - shown) + " dearer offers";
  if (next)
    text += "; next best " + money(next->bid().price_per_capacity_hour) + ", health " +
            money(health(*next->offer)) + " (" + next->bid().launch_config_id.str() + ")";
  if (missing > 0) text += "; " + std::to_string(missing) + " more than the offers hold";
  if (const std::string out = left_out(request, preferences); !out.empty())
    text += "; left out: " + out;
  return text;
}

}  // namespace

Result<Preferences> read_preferences(const json::object& document, const Preferences& base,
                                     const std::string& where) {
  Preferences preferences = base;
  codec::Reader reader;
  reader.read(json::value(document), preferences);
  const std::string prefix = where.empty() ? "" : where + ".";
  if (reader.failed()) return Error::invalid(prefix + reader.mistake());
  if (preferences.max_price && !(*preferences.max_price >= 0))
    return Error::invalid(prefix + "maxPrice: is negative");
  return preferences;
}

double health(const SelectRequest::Offer& offer) {
  return std::clamp(offer.weight, 0.0, 1.0) * std::clamp(offer.bid.reliability, 0.0, 1.0);
}

double effective_price(const SelectRequest::Offer& offer) {
  return offer.bid.price_per_capacity_hour / std::max(health(offer), least_health);
}

Result<Selection> select(const SelectRequest& request, const Preferences& preferences) {
  if (request.capacity > largest_count)
    return Error::invalid("capacity: " + std::to_string(request.capacity) + " is above " +
                          std::to_string(largest_count));
  Selection selection;
  std::vector<Option> options = in_order(request, preferences);
  std::int64_t needed = request.capacity;
  for (Option& option : options) {
    if (needed <= 0) break;
    const std::int64_t each = option.bid().capacity_per_instance;
    option.taken = std::min((needed - 1) / each + 1, option.bid().instances);
    needed -= option.taken * each;
    selection.choices.push_back({option.offer->bid_id, option.taken});
  }
  selection.reason = selection.choices.empty() ? nothing(request, preferences)
                                               : reason(request, preferences, options, needed);
  return selection;
}

}  // namespace muster::cheapest
