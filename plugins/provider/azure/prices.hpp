// What an hour of a machine costs: the operator's table, then Azure's public retail prices.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "plugins/cloud/machines/price_table.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// The prices of all pools. THREADS: one at a time.
class Prices {
 public:
  Prices(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // So that one question for the location has all sizes that pools use.
  void note(const cloud::Machine& machine);

  // Asks Azure at most once in six hours for a location, and when a size is asked about for the
  // first time. While Azure does not answer, prices of the last week are used.
  Result<cloud::Price> of(const cloud::Machine& machine, const Context& context);

 private:
  struct Key {
    std::string size;  // in small letters
    bool spot = false, windows = false;
    auto operator<=>(const Key&) const = default;
  };
  struct Book {
    std::set<std::string> wanted, asked;  // sizes
    std::map<Key, double> prices;
    Time asked_at{}, good_at{};
    std::optional<Error> error;
  };

  void refresh(const std::string& location, Book& book, const Context& context);

  const Settings& settings_;
  Api& api_;
  std::map<std::string, Book> books_;
};

// Whether a Windows licence is paid with the machine.
bool pays_for_windows(const cloud::Machine& machine);

}  // namespace muster::azure
