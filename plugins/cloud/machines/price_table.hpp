// Prices that the operator writes, for what a cloud does not tell.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

struct Price {
  double per_hour = 0;  // dollars, of one machine
  std::string source;   // in words: "the highest spot price of the last 30 minutes"
};

// Dollars an hour. A key is a type ("m5.large"), a region or zone and a type
// ("us-east-1/m5.large"), or place, market and type ("us-east-1a/spot/m5.large").
using PriceTable = std::map<std::string, double>;

json::object price_table_schema(const char* description);

// The key `priceTable` of an instance's configuration, which fits its schema. `is_type` says
// whether the last part of a key can be a type; `examples` are for the message.
Result<PriceTable> read_price_table(const json::object& config,
                                    const std::function<bool(std::string_view)>& is_type,
                                    const std::string& examples);

// The entry that fits best: zone before region before none, with the market before without, which
// is on demand. Nothing if none does.
std::optional<double> price_in_table(const PriceTable& table, const Machine& machine);

}  // namespace muster::cloud
