#include "plugins/provider/aws/regions.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/aws/instances.hpp"

namespace muster::aws {
namespace {

// The member `name` of each entry of the answer's list `list`.
Result<std::vector<std::string>> names_in(const Result<json::object>& answer, const char* list,
                                          const char* name) {
  if (!answer) return answer.error();
  std::vector<std::string> names;
  for_each_of(*answer, list, [&](const json::object& entry) {
    if (std::string text = text_of(entry, name); !text.empty()) names.push_back(std::move(text));
  });
  return names;
}

Result<std::vector<std::string>> ask_for_regions(const std::string& home, Api& api,
                                                 const Context& context) {
  return names_in(api.call({.service = "ec2",
                            .region = home,
                            .action = "DescribeRegions",
                            .parameters = {{"AllRegions", false}}},
                           context),
                  "Regions", "RegionName");
}

Result<std::vector<std::string>> ask_for_zones(const std::string& region, Api& api,
                                               const Context& context) {
  return names_in(
      api.call(
          {.service = "ec2",
           .region = region,
           .action = "DescribeAvailabilityZones",
           .parameters = {{"Filters", json::array{filter("state", {"available"}),
                                                  filter("zone-type", {"availability-zone"})}}}},
          context),
      "AvailabilityZones", "ZoneName");
}

}  // namespace

Regions::Regions(const Settings& settings, Api& api)
    : settings_(settings),
      api_(api),
      places_(words.zone_fact, [&api](const std::string& region, const Context& context) {
        return ask_for_zones(region, api, context);
      }) {}

Result<std::vector<std::string>> Regions::names(const Context& context) {
  if (!settings_.regions.empty()) return settings_.regions;
  return enabled_.get(
      "the regions of the account",
      [&] { return ask_for_regions(settings_.home_region, api_, context); }, context);
}

Result<Placements> Regions::placements(const Context& context) {
  const auto regions = names(context);
  if (!regions) return regions.error();
  return places_.placements(*regions, context);
}

}  // namespace muster::aws
