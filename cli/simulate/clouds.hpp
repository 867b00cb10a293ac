// Simulated clouds in the place of an operator's providers. An instance of provider/simulated is
// itself; any other provider gets a stand-in that can launch wherever the provider can, at the
// assumed prices. Pure.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/simulate/assumptions.hpp"
#include "host/fleet/model/configuration.hpp"
#include "host/pools/provider_facts.hpp"
#include "host/simulation/scenario.hpp"

namespace muster::cli {

// A provider as the configuration has it.
struct GivenProvider {
  ProviderId provider_id;
  std::string plugin;                        // "simulated", "aws": also its section
  std::vector<std::string> fact_names = {};  // besides those of the placements
  std::vector<Placement> placements = {};    // empty: not said
  json::object config = {};                  // of provider/simulated
  fleet::ProviderSettings settings = {};
};

// What a machine of a type costs by the hour in a simulation, and who says so.
struct UsedPrice {
  std::string provider_id, instance_type;
  double per_hour = 0;
  std::string source;  // a file, "its configuration", or "assumed"
};

class Clouds {
 public:
  // `invalid`: the configuration of a simulated provider, or what is assumed of one, is wrong.
  // Everything that is drawn depends on `seed`, unless a configuration names its own.
  Result<void> add(const GivenProvider& provider, const CloudAssumptions& assumed,
                   std::uint64_t seed);

  bool has(const ProviderId& provider) const { return clouds_.contains(provider); }
  std::map<ProviderId, pools::ProviderFacts> facts() const;

  // As Provider::expand; remembers the instance types that it met.
  Result<Expansion> expand(const ProviderId& provider, const ExpandRequest& request);

  // To be called after everything was expanded: the launch configurations as the simulated clouds
  // understand them, with the ids that they have.
  std::shared_ptr<const fleet::Configuration> adapt(
      const fleet::Configuration& configuration) const;
  Result<std::vector<simulation::ProviderScenario>> scenarios() const;
  // Of all instance types that were met, by provider and type.
  std::vector<UsedPrice> prices() const;

 private:
  struct Cloud {
    GivenProvider given;
    CloudAssumptions assumed;
    std::uint64_t seed = 1;
    bool itself = false;  // not a stand-in
    simulated::Settings settings;
    std::set<std::string> instance_types;
  };
  Result<simulated::Settings> stand_in(const Cloud& cloud) const;

  std::map<ProviderId, Cloud> clouds_;
};

// The region and the zone in which a stand-in has a placement: the fact `region`, or the provider's
// id; and the other facts' values, joined by slashes and after the region unless they begin with
// it, or the region alone.
std::pair<std::string, std::string> place_of(const ProviderId& provider,
                                             const Placement& placement);

// What a section of a launch document names as instance types, and under which key: a list such as
// `instanceTypes` or `vmSizes`, of texts or of tables that have a name, or one text such as
// `machineType`. Empty if nothing looks like one.
struct NamedTypes {
  std::string key;
  bool list = false;
  std::vector<std::string> names;
};
NamedTypes instance_types_in(const json::object& section);

}  // namespace muster::cli
