// Which offers to take: those with the lowest price for what is likely to work.
#pragma once

#include <optional>
#include <string>

#include <muster/bidding_strategy.hpp>

namespace muster::cheapest {

// Of the strategy's instance; a pool's own `strategy` table says otherwise for that pool.
struct Preferences {
  std::optional<double> max_price = {};  // per capacity and hour, of the offer itself

  static constexpr auto fields(auto visit) {
    return visit(optional("maxPrice", &Preferences::max_price));
  }
};

// `base`, with what `document` says instead. `invalid` names the key below `where`.
Result<Preferences> read_preferences(const json::object& document, const Preferences& base,
                                     const std::string& where);

// How likely an instance of the offer comes up and stays: weight × reliability, 0 to 1.
double health(const SelectRequest::Offer& offer);

// What one hour of capacity costs if launches that fail are paid for in time: price / health.
double effective_price(const SelectRequest::Offer& offer);

// Fills the need from the lowest effective price up; equals are ordered by the seed. At most one
// instance's capacity − 1 is taken too much. `invalid` for a capacity beyond all reason.
Result<Selection> select(const SelectRequest& request, const Preferences& preferences);

}  // namespace muster::cheapest
