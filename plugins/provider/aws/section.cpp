#include "plugins/provider/aws/section.hpp"

#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

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

// The zone's subnet. False for a zone that `zones` lacks.
Result<bool> set_subnet(json::object& launch, const json::object& section,
                        const std::string& zone) {
  const json::object* zones = table_of(section, "zones");
  if (!zones) return true;
  if (!zones->contains(zone)) return false;
  if (launch.contains("SubnetId"))
    return Error::invalid("aws.launch.SubnetId: aws.zones says the subnets; remove one of them");
  launch["SubnetId"] = zones->at(zone);
  return true;
}

Result<bool> complete(json::object& launch, const json::object& section,
                      const Placement& placement) {
  auto used = set_subnet(launch, section, fact(placement, words.zone_fact));
  if (!used || !*used) return used;
  for (const auto check : {check_network, check_zone})
    if (const auto fine = check(launch); !fine) return fine.error();
  return launch.contains("ImageId") || launch.contains("LaunchTemplate");
}

}  // namespace

SectionRules section_rules() {
  return {.words = words, .complete = complete, .kept = {"product"}};
}

std::string product_of(const Machine& machine) {
  const std::string product =
      machine.section ? text_of(*machine.section, "product") : std::string();
  return product.empty() ? linux_product : product;
}

}  // namespace muster::aws
