// The section `aws` of a worker configuration: what a team may write, and the launch documents that
// are made of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/json_schema.hpp>
#include <muster/provider_types.hpp>

#include "plugins/provider/aws/model.hpp"

namespace muster::aws {

inline constexpr const char* spot = "spot";
inline constexpr const char* on_demand = "onDemand";
inline constexpr const char* linux_product = "Linux/UNIX";

// Made from AWS's own model of RunInstances.
json::object section_schema(const Model& model);
json::object example_section();
FieldClasses field_classes();

// What is launched from one launch document, the `aws` in it. It points into the document.
struct Machine {
  std::string region = {}, zone = {};
  std::string instance_type = {};
  std::string market = on_demand;
  std::optional<double> max_price = {};    // dollars for an hour of the machine
  std::string product = linux_product;     // as the price history calls it
  const json::object* launch = nullptr;    // RunInstances' own parameters
  const json::object* tags = nullptr;      // may be null
  const json::value* user_data = nullptr;  // a table or a template; null: nothing of the team's own

  bool is_spot() const { return market == spot; }
  // How errors' scopes and bids name it: a shortage of spot machines is none of on-demand ones.
  std::string type_and_market() const;
};

// `config`, with the launch configuration's id as scope, if the document is not one of expand().
Result<Machine> read_machine(const LaunchConfig& launch_config);

// THREADS: any; it does not change.
class SectionReader {
 public:
  explicit SectionReader(const Model& model);

  // Pure. `invalid` has the path in the section ("aws.launch.ImageId") and what to do. Empty where
  // the section has no image for the region, or `zones` lacks the zone: nothing is launched there.
  Result<Expansion> expand(const ExpandRequest& request) const;

 private:
  json::Schema schema_;
};

}  // namespace muster::aws
