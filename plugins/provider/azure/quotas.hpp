// Sizes and quotas of a location: what a size is, whether the subscription is offered it, and how
// many more machines its quotas take.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "plugins/cloud/machines/machine.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// A size as Azure's list of resource SKUs has it.
struct Size {
  std::string family;  // "standardDSv5Family", as usages call it
  std::int64_t processors = 0;
  bool restricted = false;           // not offered to the subscription in the location
  std::set<std::string> zones = {};  // those of the location that have it
  std::set<std::string> restricted_zones = {};
};

struct Usage {
  std::string title;  // "Standard DSv5 Family vCPUs"
  std::int64_t used = 0, limit = 0;
};

using Sizes = std::map<std::string, Size>;    // by name, in small letters
using Usages = std::map<std::string, Usage>;  // by name, in small letters

// THREADS: one at a time.
class Quotas {
 public:
  Quotas(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // How many more machines there is room for; nothing: Azure does not tell. An error says why there
  // is none: the quota and where to raise it, or that the size is not offered. Usages are asked for
  // once a minute for a location, sizes once a day; what was launched since is debited.
  Result<std::optional<std::int64_t>> room(const cloud::Machine& machine, const Context& context);

  void debit(const cloud::Machine& machine, Time now);

  // A quota error says which quota, how much it is and where to raise it; others stay as they are.
  Error explain(Error error, const cloud::Machine& machine) const;

  // For diagnosis: asked anew.
  Result<Sizes> sizes_in(const std::string& location, const Context& context) const;
  Result<Usages> usages_in(const std::string& location, const Context& context) const;
  // The quotas that a machine counts against: its family's and the location's, or Spot's.
  static std::vector<std::string> quotas_of(const Size& size, bool spot);
  std::string quota_page() const;

 private:
  struct Debit {
    std::string size;
    bool spot = false;
    Time at{};
  };
  struct Location {
    Sizes sizes;
    Usages usages;
    Time sizes_again{}, usages_again{};
    std::deque<Debit> debits;
  };

  void refresh(const std::string& name, Location& location, const Context& context) const;
  std::int64_t debited(const Location& location, const std::string& quota) const;

  const Settings& settings_;
  Api& api_;
  std::map<std::string, Location> locations_;
};

}  // namespace muster::azure
