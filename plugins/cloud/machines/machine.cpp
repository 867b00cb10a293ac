#include "plugins/cloud/machines/machine.hpp"

#include "plugins/cloud/json_access.hpp"

namespace muster::cloud {

std::string type_and_market(const std::string& instance_type, bool spot) {
  return spot ? instance_type + "/spot" : instance_type;
}

std::string Machine::type_and_market() const {
  return cloud::type_and_market(instance_type, spot);
}

std::string fact(const Placement& placement, const char* name) {
  const auto found = placement.facts.find(name);
  return found == placement.facts.end() ? std::string() : found->second;
}

Result<Machine> read_machine(const Words& words, const LaunchConfig& launch_config) {
  const auto wrong = [&](const std::string& what) {
    return Error::config(what).of_launch_config(launch_config.launch_config_id.str());
  };
  const std::string name = words.section;
  const json::object* section = table_of(launch_config.document, name);
  if (!section) return wrong("the launch document has no table \"" + name + "\"");
  Machine machine{.region = fact(launch_config.placement, "region"),
                  .zone = fact(launch_config.placement, words.zone_fact),
                  .instance_type = text_of(*section, words.type_key),
                  .market = words.on_demand,
                  .section = section,
                  .launch = table_of(*section, "launch"),
                  .tags = table_of(*section, "tags"),
                  .user_data = section->if_contains("userData")};
  if (!machine.launch || machine.instance_type.empty() || machine.region.empty())
    return wrong("the launch document lacks " + name + ".launch, " + name + "." + words.type_key +
                 " or a region");
  if (text_of(*section, "market") == words.spot) {
    machine.market = words.spot;
    machine.spot = true;
  }
  if (const json::value* price = section->if_contains("maxPrice"); price && price->is_number())
    machine.max_price = price->to_number<double>();
  return machine;
}

}  // namespace muster::cloud
