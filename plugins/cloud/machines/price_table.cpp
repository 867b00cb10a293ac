#include "plugins/cloud/machines/price_table.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/base/schema_parts.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::cloud {
namespace {

// place/market/type, where place and market may be left out.
bool is_price_key(std::string_view key, const std::function<bool(std::string_view)>& is_type) {
  if (key.empty() || key.front() == '/' || key.back() == '/') return false;
  return std::count(key.begin(), key.end(), '/') <= 2 && is_type(key.substr(key.rfind('/') + 1));
}

}  // namespace

json::object price_table_schema(const char* description) {
  return map_schema(description, {{"type", "number"}, {"minimum", 0}});
}

Result<PriceTable> read_price_table(const json::object& config,
                                    const std::function<bool(std::string_view)>& is_type,
                                    const std::string& examples) {
  PriceTable prices;
  const json::object* table = table_of(config, "priceTable");
  if (!table) return prices;
  for (const auto& [key, value] : *table) {
    const double price = value.to_number<double>();
    if (!is_price_key(key, is_type))
      return Error::invalid("priceTable: \"" + std::string(key) +
                            "\" is not a key for a price; write " + examples);
    if (!std::isfinite(price) || price < 0)
      return Error::invalid("priceTable: the price of \"" + std::string(key) +
                            "\" must be a number that is not negative, in dollars an hour");
    prices.emplace(key, price);
  }
  return prices;
}

std::optional<double> price_in_table(const PriceTable& table, const Machine& machine) {
  if (table.empty()) return std::nullopt;
  const auto find = [&](const std::string& key) -> std::optional<double> {
    const auto found = table.find(key);
    if (found == table.end()) return std::nullopt;
    return found->second;
  };
  for (const std::string& place : {machine.zone, machine.region}) {
    if (place.empty()) continue;
    if (const auto price = find(place + "/" + machine.market + "/" + machine.instance_type))
      return price;
    if (!machine.is_spot())
      if (const auto price = find(place + "/" + machine.instance_type)) return price;
  }
  if (const auto price = find(machine.market + "/" + machine.instance_type)) return price;
  return machine.is_spot() ? std::nullopt : find(machine.instance_type);
}

}  // namespace muster::cloud
