#include "plugins/strategy/classic/selection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <muster/codec.hpp>
#include <muster/plural.hpp>

#include "plugins/strategy/classic/numbers.hpp"

namespace muster::classic {
namespace {

constexpr double head_room = 2;  // aws-provisioner bid twice the spot price

// An offer with what the algorithm computes from it.
struct Option {
  const SelectRequest::Offer* offer;
  double utility;  // of one instance
  double price;    // per utility and hour
  double bid;      // per instance and hour
  std::int64_t left;
  std::int64_t taken = 0;

  std::int64_t capacity() const { return offer->bid.capacity_per_instance; }
};

double ceil_to_millionth(double number) {
  return std::ceil(number * 1e6) / 1e6;
}

double utility_of(const SelectRequest::Offer& offer, const Preferences& preferences) {
  const auto capacity = static_cast<double>(offer.bid.capacity_per_instance);
  auto named = preferences.utility.find(offer.bid.launch_config_id.str());
  if (named == preferences.utility.end()) named = preferences.utility.find(offer.provider_id.str());
  return capacity * (named == preferences.utility.end() ? 1 : named->second);
}

std::vector<Option> options_of(const SelectRequest& request, const Preferences& preferences) {
  std::vector<Option> options;
  for (const SelectRequest::Offer& offer : request.offers) {
    if (offer.weight <= 0 || offer.bid.instances < 1 || offer.bid.capacity_per_instance < 1 ||
        offer.bid.capacity_per_instance > largest_count)
      continue;
    const double spot =
        offer.bid.price_per_capacity_hour * static_cast<double>(offer.bid.capacity_per_instance);
    const double utility = utility_of(offer, preferences);
    const double price = spot / utility;
    double bid = ceil_to_millionth(spot * head_room);
    if (preferences.min_price && price < *preferences.min_price)
      bid = ceil_to_millionth(*preferences.min_price / utility);
    options.push_back({&offer, utility, price, bid, offer.bid.instances});
  }
  return options;
}

// One run of the loop over what is still needed.
class Run {
 public:
  Run(const SelectRequest& request, const Preferences& preferences)
      : request_(request),
        preferences_(preferences),
        random_(request.seed),
        options_(options_of(request, preferences)),
        needed_(request.capacity) {
    for (Option& option : options_) open_.push_back(&option);
    if (preferences.mode == Mode::cheapest_biased)
      std::stable_sort(open_.begin(), open_.end(), [](const Option* a, const Option* b) {
        return a->price * bias(*a->offer) < b->price * bias(*b->offer);
      });
  }

  Selection choose() {
    while (needed_ > 0 && stopped_.empty()) step();
    Selection selection;
    for (const Option& option : options_)
      if (option.taken > 0) selection.choices.push_back({option.offer->bid_id, option.taken});
    selection.reason = reason();
    return selection;
  }

 private:
  void step() {
    if (open_.empty()) {
      stopped_ = std::to_string(needed_) + " more than the offers hold";
      return;
    }
    const std::size_t index = preferences_.mode == Mode::random ? random_.below(open_.size()) : 0;
    Option& option = *open_[index];
    const std::string who = option.offer->bid_id.str();
    if (preferences_.max_price && option.price > *preferences_.max_price) {
      stopped_ = "stopped at " + who + ": its price " + in_words(option.price) +
                 " is above maxPrice " + in_words(*preferences_.max_price);
      return;
    }
    if (option.bid > preferences_.max_bid) {
      for (Option& other : options_) other.taken = 0;
      stopped_ = "took nothing, because a bid of " + in_words(option.bid) + " per hour for " + who +
                 " is above maxBid " + in_words(preferences_.max_bid) +
                 ": look at its price before you raise the limit";
      return;
    }
    take(option);
    if (option.left == 0) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  // One instance, as aws-provisioner did. When thousands are missing a draw counts for several, so
  // that the time does not grow with the demand.
  void take(Option& option) {
    constexpr std::int64_t draws = 10'000;
    const std::int64_t whole = (needed_ - 1) / option.capacity() + 1;  // that would fill the need
    const std::int64_t share =
        preferences_.mode == Mode::random ? 1 + needed_ / option.capacity() / draws : whole;
    const std::int64_t count = std::min({share, whole, option.left});
    option.taken += count;
    option.left -= count;
    needed_ -= count * option.capacity();
  }

  std::string reason() const {
    if (request_.capacity <= 0)
      return "nothing: " + std::to_string(request_.capacity) + " capacity wanted";
    if (options_.empty())
      return request_.offers.empty()
                 ? "nothing: there are no offers"
                 : "nothing: none of " + std::to_string(request_.offers.size()) +
                       " offers has instances, capacity and a healthy launch configuration";
    std::int64_t total = 0, instances = 0;
    for (const Option& option : options_) {
      total += option.taken * option.capacity();
      instances += option.taken;
    }
    std::string text =
        count_of(instances, "instance") + " with " + std::to_string(total) + " of " +
        std::to_string(request_.capacity) + " capacity, " +
        (preferences_.mode == Mode::random ? "drawn at random" : "by the lowest price × bias") +
        " from " + count_of(options_.size(), "offer");
    if (preferences_.mode == Mode::cheapest_biased && instances > 0) text += best();
    return stopped_.empty() ? text : text + "; " + stopped_;
  }

  // "; first b: 0.05 × 1.4"
  std::string best() const {
    const auto cheaper = [](const Option& a, const Option& b) {
      return a.price * bias(*a.offer) < b.price * bias(*b.offer);
    };
    const auto first = std::min_element(options_.begin(), options_.end(), cheaper);
    return "; first " + first->offer->bid_id.str() + ": " + in_words(first->price) + " × " +
           in_words(bias(*first->offer));
  }

  const SelectRequest& request_;
  const Preferences& preferences_;
  Random random_;
  std::vector<Option> options_;
  std::vector<Option*> open_;  // in the offers' order, or the cheapest first
  std::int64_t needed_;
  std::string stopped_;
};

}  // namespace

Result<Preferences> read_preferences(const json::object& document, const Preferences& base,
                                     const std::string& where) {
  Preferences preferences = base;
  codec::Reader reader;
  reader.read(json::value(document), preferences);
  const auto wrong = [&](const std::string& mistake) {
    return Error::invalid(where.empty() ? mistake : where + "." + mistake);
  };
  if (reader.failed()) return wrong(reader.mistake());
  if (preferences.min_price && *preferences.min_price < 0) return wrong("minPrice: is negative");
  if (preferences.max_price && *preferences.max_price < 0) return wrong("maxPrice: is negative");
  if (preferences.min_price && preferences.max_price &&
      *preferences.min_price > *preferences.max_price)
    return wrong("minPrice: " + in_words(*preferences.min_price) + " is above maxPrice " +
                 in_words(*preferences.max_price));
  if (preferences.max_bid <= 0) return wrong("maxBid: is not above 0");
  for (const auto& [name, factor] : preferences.utility)
    if (!(factor > 0)) return wrong("utility." + name + ": is not above 0");
  return preferences;
}

double bias(const SelectRequest::Offer& offer) {
  const double stays = std::clamp(offer.weight * offer.bid.reliability, 0.0, 1.0);
  return 1 + 4 * (1 - stays);
}

Result<Selection> select(const SelectRequest& request, const Preferences& preferences) {
  if (request.capacity > largest_count)
    return Error::invalid("capacity: " + std::to_string(request.capacity) + " is above " +
                          std::to_string(largest_count));
  return Run(request, preferences).choose();
}

}  // namespace muster::classic
