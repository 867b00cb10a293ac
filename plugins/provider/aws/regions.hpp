// Where the account can launch: regions and their zones.
#pragma once

#include <string>
#include <vector>

#include "plugins/cloud/machines/places.hpp"
#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// THREADS: one at a time. The references are borrowed.
class Regions {
 public:
  Regions(const Settings& settings, Api& api);

  // Those of the configuration, or all that are enabled for the account.
  Result<std::vector<std::string>> names(const Context& context);
  Result<Placements> placements(const Context& context);

 private:
  const Settings& settings_;
  Api& api_;
  RememberedList enabled_;
  Places places_;
};

}  // namespace muster::aws
