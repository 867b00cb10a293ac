#include "plugins/provider/aws/section.hpp"

#include <algorithm>

#include "plugins/provider/aws/json_access.hpp"
#include "plugins/provider/aws/settings.hpp"
#include "plugins/provider/aws/user_data.hpp"

namespace muster::aws {
namespace {

const char* const zone_fact = "availabilityZone";

std::string fact(const Placement& placement, const char* name) {
  const auto found = placement.facts.find(name);
  return found == placement.facts.end() ? std::string() : found->second;
}

// "/launch/ImageId" → "aws.launch.ImageId"
std::string dotted(std::string_view pointer) {
  std::string path = section_name;
  for (const char letter : pointer) path += letter == '/' ? '.' : letter;
  return path;
}

// Tables merge, everything else replaces, as rules do it.
void lay_over(json::object& target, const json::object& source) {
  for (const auto& [key, value] : source) {
    json::value* below = target.if_contains(key);
    if (below && below->is_object() && value.is_object())
      lay_over(below->get_object(), value.get_object());
    else
      target[key] = value;
  }
}

Result<std::optional<std::int64_t>> capacity_in(const json::object& document) {
  const json::object* manager = table_of(document, "workerManager");
  const json::value* capacity = manager ? manager->if_contains("capacityPerInstance") : nullptr;
  if (!capacity) return std::optional<std::int64_t>();
  if (!capacity->is_int64() || capacity->get_int64() < 1)
    return Error::invalid("workerManager.capacityPerInstance: expected a whole number from 1");
  return std::optional(capacity->get_int64());
}

Result<void> check_network(const json::object& launch) {
  if (!launch.contains("NetworkInterfaces")) return {};
  for (const char* key : {"SubnetId", "SecurityGroupIds", "SecurityGroups"})
    if (launch.contains(key))
      return Error::invalid(std::string("aws.launch.") + key +
                            ": EC2 takes it in NetworkInterfaces or beside it, not both; move it "
                            "into NetworkInterfaces");
  return {};
}

Result<void> check_zone(const json::object& launch) {
  const json::object* placement = table_of(launch, "Placement");
  if (placement && (placement->contains("AvailabilityZone")))
    return Error::invalid(
        "aws.launch.Placement.AvailabilityZone: muster launches in every zone that it may; to use "
        "some only, write rules with the condition availabilityZone, or list them in aws.zones");
  return {};
}

}  // namespace

std::string Machine::type_and_market() const {
  return is_spot() ? instance_type + "/spot" : instance_type;
}

Result<Machine> read_machine(const LaunchConfig& launch_config) {
  const auto wrong = [&](const std::string& what) {
    return Error::config(what).of_launch_config(launch_config.launch_config_id.str());
  };
  const json::object* section = table_of(launch_config.document, section_name);
  if (!section) return wrong("the launch document has no table \"aws\"");
  Machine machine{.region = fact(launch_config.placement, "region"),
                  .zone = fact(launch_config.placement, zone_fact),
                  .instance_type = text_of(*section, "instanceType")};
  const json::object* launch = table_of(*section, "launch");
  if (!launch || machine.instance_type.empty() || machine.region.empty())
    return wrong("the launch document lacks aws.launch, aws.instanceType or a region");
  machine.launch = launch;
  if (text_of(*section, "market") == spot) machine.market = spot;
  if (const json::value* price = section->if_contains("maxPrice"); price && price->is_number())
    machine.max_price = price->to_number<double>();
  if (const std::string product = text_of(*section, "product"); !product.empty())
    machine.product = product;
  machine.tags = table_of(*section, "tags");
  machine.user_data = section->if_contains("userData");
  return machine;
}

SectionReader::SectionReader(const Model& model)
    : schema_(json::Schema::compile(section_schema(model)).value()) {}

Result<Expansion> SectionReader::expand(const ExpandRequest& request) const {
  const json::value* given = request.document.if_contains(section_name);
  if (!given) return Expansion{};
  if (const auto violations = schema_.validate(*given); !violations.empty())
    return Error::invalid(dotted(violations.front().path) + ": " + violations.front().message);
  const json::object& section = given->get_object();
  const auto capacity = capacity_in(request.document);
  if (!capacity) return capacity.error();

  const std::string zone = fact(request.placement, zone_fact);
  json::object launch;
  if (const json::object* common = table_of(section, "launch")) launch = *common;
  if (const json::object* zones = table_of(section, "zones")) {
    if (!zones->contains(zone)) return Expansion{};
    if (launch.contains("SubnetId"))
      return Error::invalid("aws.launch.SubnetId: aws.zones says the subnets; remove one of them");
    launch["SubnetId"] = zones->at(zone);
  }

  Expansion expansion;
  std::vector<std::string> markets;
  if (const json::value* listed = section.if_contains("market"))
    for (const json::value& market : listed->get_array()) markets.emplace_back(market.get_string());
  if (markets.empty()) markets.emplace_back(on_demand);
  if (!section.contains("instanceTypes") && !launch.empty())
    return Error::invalid(
        "aws.instanceTypes: is missing; write for example [{ type = \"m5.large\" }]");
  std::size_t index = 0;
  Result<void> outcome;
  std::vector<std::string> seen;
  for_each_of(section, "instanceTypes", [&](const json::object& entry) {
    const std::string path = "aws.instanceTypes[" + std::to_string(index++) + "]";
    const std::string type = text_of(entry, "type");
    json::object own = launch;
    if (const json::object* over = table_of(entry, "launch")) lay_over(own, *over);
    if (outcome && std::ranges::find(seen, type) != seen.end())
      outcome = Error::invalid(path + ": the type \"" + type + "\" is there twice; remove one");
    seen.push_back(type);
    if (outcome) outcome = check_network(own);
    if (outcome) outcome = check_zone(own);
    if (!outcome || (!own.contains("ImageId") && !own.contains("LaunchTemplate"))) return;
    for (const std::string& market : markets) {
      json::object machine{{"launch", own}, {"instanceType", type}, {"market", market}};
      for (const char* key : {"maxPrice", "product", "tags", "userData"})
        if (const json::value* value = section.if_contains(key)) machine[key] = *value;
      if (const json::value* price = entry.if_contains("maxPrice")) machine["maxPrice"] = *price;
      json::object document{{section_name, std::move(machine)}};
      for (const char* key : {"workerManager", "workerConfig"})
        if (const json::value* other = request.document.if_contains(key)) document[key] = *other;
      const json::value* tasks = entry.if_contains("capacity");
      expansion.launch_documents.push_back({std::move(document),
                                            tasks ? tasks->get_int64() : capacity->value_or(1),
                                            market == spot ? type + "/spot" : type});
    }
  });
  if (!outcome) return outcome.error();
  if (const auto fits = check_user_data(section, request.document); !fits) return fits.error();
  return expansion;
}

}  // namespace muster::aws
