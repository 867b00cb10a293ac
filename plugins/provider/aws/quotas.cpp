#include "plugins/provider/aws/quotas.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

// "m5.large" → "m", "g4dn.xlarge" → "g", "u-6tb1.metal" → "u", "inf2.xlarge" → "inf"
std::string family_of(const std::string& instance_type) {
  const auto end = std::ranges::find_if_not(
      instance_type, [](char letter) { return letter >= 'a' && letter <= 'z'; });
  return {instance_type.begin(), end};
}

// "... your current vCPU limit of 32 allows ..." → "32"
std::string limit_in(const std::string& message) {
  for (const std::string_view before : {"limit of ", "quota of "}) {
    const std::size_t at = message.find(before);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + before.size();
    const std::size_t end = message.find_first_not_of("0123456789", begin);
    if (end != begin) return message.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

Quotas::Quotas() {
  const json::value document = documents.read("quotas");
  for (const json::value& entry : document.as_array()) {
    const json::object& row = entry.as_object();
    rows_.push_back({{}, text_of(row, "name"), text_of(row, "onDemand"), text_of(row, "spot")});
    for (const json::value& family : row.at("families").as_array())
      rows_.back().families.emplace_back(family.as_string());
  }
}

Quota Quotas::of(const std::string& instance_type, bool is_spot) const {
  const std::string family = family_of(instance_type);
  for (const Row& row : rows_)
    if (std::ranges::find(row.families, family) != row.families.end())
      return is_spot ? Quota{"All " + row.name + " Spot Instance Requests", row.spot}
                     : Quota{"Running On-Demand " + row.name + " instances", row.on_demand};
  return {std::string(is_spot ? "Spot Instance Requests" : "Running On-Demand instances") +
              " of the family " + family,
          {}};
}

Error Quotas::explain(Error error, const Machine& machine) const {
  if (error.error_class != ErrorClass::quota || !error.scope.instance_type) return error;
  const Quota quota = of(machine.instance_type, machine.is_spot());
  const std::string limit = limit_in(error.message);
  error.message = "the quota \"" + quota.name + "\"" +
                  (quota.code.empty() ? "" : " (" + quota.code + ")") + " in " + machine.region +
                  " is used up" + (limit.empty() ? "" : ": it is " + limit + " vCPUs") +
                  "; raise it at " + quota_page(machine.region, quota.code) +
                  ". AWS says: " + error.message;
  return error;
}

bool is_of_family(const Error& error) {
  return error.error_class == ErrorClass::quota &&
         (error.code == "VcpuLimitExceeded" || error.code == "MaxSpotInstanceCountExceeded" ||
          error.code == "InstanceLimitExceeded");
}

std::string quota_page(const std::string& region, const std::string& code) {
  return "https://" + region + ".console.aws.amazon.com/servicequotas/home/services/ec2/quotas" +
         (code.empty() ? "" : "/" + code);
}

}  // namespace muster::aws
