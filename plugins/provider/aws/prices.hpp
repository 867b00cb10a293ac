// What an hour of a machine costs: spot prices as AWS's history has them, on-demand prices from the
// operator's table or from built-in list prices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include <muster/context.hpp>

#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/section.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// AWS's list prices of us-east-1 for the families that are built in, by the size of the type.
class ListPrices {
 public:
  ListPrices();
  std::optional<double> of(const std::string& instance_type) const;

 private:
  std::map<std::string, double> types_;  // of families whose sizes are not in proportion
  std::map<std::string, double> large_;  // by family: what its size "large" costs
  std::map<std::string, double> metal_;  // by family: so many "large" is its size "metal"
};

// The prices of all pools. THREADS: one at a time.
class Prices {
 public:
  Prices(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // So that one call for the region asks for all types that pools use.
  void note(const std::string& region, const std::string& product, const std::string& type);

  // Calls AWS at most once in five minutes for a region, and when a type is asked about for the
  // first time. While AWS does not answer, prices of the last hour are used.
  Result<Price> of(const Machine& machine, const Context& context);

 private:
  struct Book {
    std::set<std::string> wanted, asked;                            // types
    std::map<std::pair<std::string, std::string>, double> highest;  // by zone and type
    Time asked_at{}, good_at{};
    std::optional<Error> error;
  };
  using Place = std::pair<std::string, std::string>;  // region and product

  Result<Price> spot_price(const Machine& machine, const Context& context);
  Result<Price> on_demand_price(const Machine& machine) const;
  void refresh(const Place& place, Book& book, const Context& context);

  const Settings& settings_;
  Api& api_;
  const ListPrices list_prices_;
  std::map<Place, Book> books_;
};

}  // namespace muster::aws
