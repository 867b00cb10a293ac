// What an hour of a machine costs: the operator's table, Google's billing catalogue where it may be
// asked, or an estimate from built-in list prices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "plugins/cloud/machines/price_table.hpp"
#include "plugins/provider/google/api.hpp"
#include "plugins/provider/google/machine_types.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// Dollars for an hour of one processor and of one GiB.
struct Rates {
  double processor = 0, gib = 0;
  std::optional<double> of(const MachineShape& shape) const;
};

// One row of the catalogue that is about processors or memory of a family.
struct CatalogueRow {
  std::string family;  // "n2"
  bool is_spot = false, is_memory = false;
  double price = 0;
};
// Nothing for rows about anything else (disks, networks, commitments, custom machines). Pure.
std::optional<CatalogueRow> read_sku(const json::object& sku);

// Google's whole list, read page by page: a call reads one page, so that nobody waits for all.
// THREADS: one at a time.
class Catalogue {
 public:
  explicit Catalogue(Api& api) : api_(api) {}

  // Reads the next page if the list is not complete or older than half a day.
  void advance(const Context& context);
  std::optional<Rates> rates(const std::string& region, const std::string& family,
                             bool is_spot) const;

 private:
  using Key = std::tuple<std::string, std::string, bool>;  // region, family, spot
  void take(const json::object& sku);

  Api& api_;
  std::map<Key, Rates> known_, reading_;
  std::string page_;
  Time ask_again_{};
};

// THREADS: one at a time.
class Prices {
 public:
  Prices(const Settings& settings, Api& api);

  Result<cloud::Price> of(const cloud::Machine& machine) const;
  void advance(const Context& context);

 private:
  const Settings& settings_;
  Catalogue catalogue_;
  std::map<std::string, Rates> list_;
  double spot_share_ = 1;
};

}  // namespace muster::google
