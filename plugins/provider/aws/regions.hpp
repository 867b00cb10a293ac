// Where the account can launch: regions and their zones, asked for seldom.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// Calls `work` with each index below `count`, several at a time, and returns when all are done.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

// THREADS: one at a time.
class Regions {
 public:
  Regions(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // Those of the configuration, or all that are enabled for the account. An old answer is used
  // while AWS gives no new one.
  Result<std::vector<std::string>> names(const Context& context);

  // A region that does not answer is as it was before; one that never has is left out, logged and
  // asked again soon. Fails only if no region has ever answered.
  Result<Placements> placements(const Context& context);

 private:
  struct Zones {
    std::vector<std::string> names;
    Time ask_again{};
    std::optional<Error> error;
  };

  Result<std::vector<std::string>> ask_for_zones(const std::string& region,
                                                 const Context& context) const;

  const Settings& settings_;
  Api& api_;
  std::vector<std::string> enabled_;
  Time ask_for_regions_again_{};
  std::map<std::string, Zones> zones_;
};

}  // namespace muster::aws
