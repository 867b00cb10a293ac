// What one launch document is about, in the words of its cloud.
#pragma once

#include <optional>
#include <string>

#include <muster/provider_types.hpp>

namespace muster::cloud {

// How one cloud spells what all have. Texts are constants of the plugin.
struct Words {
  const char* cloud;      // in messages: "EC2", "Compute Engine", "Azure"
  const char* section;    // the table of worker configurations: "aws"
  const char* zone_fact;  // "availabilityZone"
  const char* types_key;  // the list of types in the section: "instanceTypes"
  const char* type_key;   // the one type in a launch document: "instanceType"
  const char* spot;       // the two markets: "spot" and "onDemand"
  const char* on_demand;
  const char* example_type;        // "m5.large"
  const char* entry_key = "type";  // the type in an entry of the list
};

// What is launched from one launch document. It points into the document.
struct Machine {
  std::string region = {}, zone = {};  // the zone is empty where the cloud has none
  std::string instance_type = {};
  std::string market = {};  // one of the two words
  bool spot = false;
  std::optional<double> max_price = {};    // dollars for an hour of the machine
  const json::object* section = nullptr;   // all of the cloud's table
  const json::object* launch = nullptr;    // the cloud's own document
  const json::object* tags = nullptr;      // may be null
  const json::value* user_data = nullptr;  // a table or a template; null: nothing of the team's own

  bool is_spot() const { return spot; }
  // How errors' scopes and bids name it: a shortage of spot machines is none of on-demand ones.
  std::string type_and_market() const;
  std::string place() const { return zone.empty() ? region : zone; }
};

std::string type_and_market(const std::string& instance_type, bool spot);

// Empty if the placement does not have it.
std::string fact(const Placement& placement, const char* name);

// `config`, with the launch configuration's id as scope, if the document is not one of
// expand_section().
Result<Machine> read_machine(const Words& words, const LaunchConfig& launch_config);

}  // namespace muster::cloud
