// Which offers to take, as aws-provisioner chose its spot bids.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include <muster/bidding_strategy.hpp>

namespace muster::classic {

enum class Mode { random, cheapest_biased };
constexpr auto enum_names(Mode) {
  return std::array<std::string_view, 2>{"random", "cheapestBiased"};
}

// Of the strategy's instance; a pool's own `strategy` table says otherwise for that pool.
struct Preferences {
  Mode mode = Mode::random;
  std::optional<double> min_price = {};  // per utility and hour
  std::optional<double> max_price = {};
  double max_bid = 10;  // per instance and hour: above it something is wrong and nothing is taken
  std::map<std::string, double> utility = {};  // by launchConfigId or providerId; 1 if not named

  static constexpr auto fields(auto visit) {
    return visit(
        optional("mode", &Preferences::mode), optional("minPrice", &Preferences::min_price),
        optional("maxPrice", &Preferences::max_price), optional("maxBid", &Preferences::max_bid),
        optional("utility", &Preferences::utility));
  }
};

// `base`, with what `document` says instead. `invalid` names the key below `where`.
Result<Preferences> read_preferences(const json::object& document, const Preferences& base,
                                     const std::string& where);

// A price is multiplied by it in the mode cheapestBiased: 1 for a launch configuration that never
// fails, up to 5 for one that always does.
double bias(const SelectRequest::Offer& offer);

// `invalid` for a capacity beyond all reason.
Result<Selection> select(const SelectRequest& request, const Preferences& preferences);

}  // namespace muster::classic
