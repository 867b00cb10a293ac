// Launch configurations of Taskcluster's provider aws: {region, launchConfig, additionalUserData}.
#include <algorithm>
#include <charconv>

#include "cli/import/documents.hpp"
#include "cli/import/launch_choice.hpp"
#include "cli/import/places.hpp"

namespace muster::importing {
namespace {

constexpr std::size_t most_tags = 30, longest_tag_value = 256;

// What muster decides for each launch.
constexpr const char* set_by_muster[] = {"MinCount", "MaxCount", "ClientToken", "DryRun"};
// What it does not allow, and why.
constexpr std::pair<const char*, const char*> refused_for_aws[] = {
    {"UserData", "muster writes the user data; aws.userData adds to it"},
    {"PrivateIpAddress", "several machines cannot share an address"},
    {"DisableApiTermination", "muster could not end the machine"},
};

Result<void> read_market(const json::value& options, LaunchChoice& choice,
                         std::vector<Loss>& losses) {
  choice.market = "onDemand";
  if (options.is_null()) return {};
  const json::object* given = options.if_object();
  if (!given) return Error::invalid("launchConfig.InstanceMarketOptions is no table");
  if (const std::string type = text_in(*given, "MarketType"); type != "spot" && !type.empty())
    return Error::invalid("muster buys no machines of the market " + type);
  choice.market = "spot";
  const json::object* spot = table_in(*given, "SpotOptions");
  for (const auto& [key, value] : spot ? *spot : json::object()) {
    const std::string text = value.is_string() ? std::string(value.get_string()) : std::string();
    double price = 0;
    if (key == "MaxPrice" &&
        std::from_chars(text.data(), text.data() + text.size(), price).ec == std::errc() &&
        price > 0)
      choice.max_price = price;
    else if (text != "one-time" && text != "terminate")
      losses.push_back({"", "launchConfig.InstanceMarketOptions.SpotOptions." + std::string(key),
                        "muster requests spot machines once, and they end when interrupted"});
  }
  return {};
}

bool is_reserved(std::string_view tag) {
  return tag.starts_with("muster-") || tag.starts_with("aws:");
}

// Tags of machines; muster gives them to volumes, too.
void read_tags(const json::value& specifications, LaunchChoice& choice, std::vector<Loss>& losses) {
  if (specifications.is_null()) return;
  const char* const path = "launchConfig.TagSpecifications";
  const json::array* list = specifications.if_array();
  if (!list) return losses.push_back({"", path, "it is no list"});
  json::object tags;
  bool others = false, odd = false;
  for (const json::value& item : *list) {
    const json::object* specification = item.if_object();
    if (!specification) continue;
    const std::string resource = text_in(*specification, "ResourceType");
    others |= resource != "instance" && resource != "volume";
    const json::value* listed = specification->if_contains("Tags");
    for (const json::value& tag :
         listed && listed->is_array() ? listed->get_array() : json::array()) {
      const json::object* pair = tag.if_object();
      const std::string key = pair ? text_in(*pair, "Key") : "",
                        value = pair ? text_in(*pair, "Value") : "";
      const json::value* there = tags.if_contains(key);
      if (key.empty() || is_reserved(key) || key.size() > 128 || value.size() > longest_tag_value ||
          (there && *there != json::value(value)) || tags.size() == most_tags)
        odd = true;
      else
        tags[key] = value;
    }
  }
  if (others)
    losses.push_back(
        {"", path, "muster tags machines, their volumes and spot requests with the same tags"});
  if (odd)
    losses.push_back({"", path,
                      "some tags have names that are reserved, values of their own for volumes, or "
                      "are too many or too long"});
  if (!tags.empty()) choice.section["tags"] = std::move(tags);
}

Result<LaunchChoice> read_aws(json::object document, const Knowledge& knowledge,
                              std::vector<Loss>& losses) {
  LaunchChoice choice{.region = text_in(document, "region")};
  const json::object* given = table_in(document, "launchConfig");
  if (!given) return Error::invalid("launchConfig is no table");
  json::object launch = *given;
  for (const auto& [key, value] : document)
    if (key != "region" && key != "launchConfig" && key != "additionalUserData")
      losses.push_back({"", key, "Taskcluster's provider aws has no such key"});
  if (const json::value* more = document.if_contains("additionalUserData")) {
    if (!more->is_object()) return Error::invalid("additionalUserData is no table");
    if (!more->get_object().empty()) choice.section["userData"] = *more;
  }
  choice.type = text_in(launch, "InstanceType");
  if (choice.type.empty())
    return Error::invalid("launchConfig.InstanceType is missing; muster must know the type");
  take(launch, "InstanceType");
  for (const char* key : set_by_muster) take(launch, key);
  for (const auto& [key, reason] : refused_for_aws)
    if (!take(launch, key).is_null())
      losses.push_back({"", "launchConfig." + std::string(key), reason});
  if (const auto market = read_market(take(launch, "InstanceMarketOptions"), choice, losses);
      !market)
    return market.error();
  read_tags(take(launch, "TagSpecifications"), choice, losses);
  if (json::value* placement = launch.if_contains("Placement");
      placement && placement->is_object()) {
    choice.zone = text_in(placement->get_object(), "AvailabilityZone");
    take(placement->get_object(), "AvailabilityZone");
    if (placement->get_object().empty()) take(launch, "Placement");
  }
  const auto known = knowledge.zone_of_subnet.find(text_in(launch, "SubnetId"));
  if (choice.zone.empty() && known != knowledge.zone_of_subnet.end()) choice.zone = known->second;
  choice.launch = std::move(launch);
  return choice;
}

json::object* launch_in(Place& place) {
  json::value* section = place.document.if_contains("aws");
  json::value* launch = section ? section->as_object().if_contains("launch") : nullptr;
  return launch ? launch->if_object() : nullptr;
}

// The zones of a region whose machines differ in their subnets alone become one place with a table
// of subnets.
bool fold_region(const std::vector<Place*>& zones, Place& folded) {
  json::object subnets;
  for (Place* place : zones) {
    Place copy = *place;
    json::object* launch = launch_in(copy);
    const std::string subnet = launch ? text_in(*launch, "SubnetId") : "";
    if (copy.zone.empty() || subnet.empty()) return false;
    take(*launch, "SubnetId");
    subnets[copy.zone] = subnet;
    folded.zones.push_back(copy.zone);
    if (place == zones.front())
      folded.document = std::move(copy.document);
    else if (copy.document != folded.document)
      return false;
  }
  folded.region = zones.front()->region;
  folded.document["aws"].as_object()["zones"] = std::move(subnets);
  return true;
}

void shorten_aws(std::vector<Place>& places, PoolReport& report) {
  std::vector<Place> made;
  while (!places.empty()) {
    const std::string region = places.front().region;
    std::vector<Place*> same;
    for (Place& place : places)
      if (place.region == region) same.push_back(&place);
    if (Place folded; fold_region(same, folded))
      made.push_back(std::move(folded));
    else
      for (const Place* place : same) made.push_back(*place);
    std::erase_if(places, [&](const Place& place) { return place.region == region; });
  }
  places = std::move(made);
  for (Place& place : places) {
    const json::object* launch = launch_in(place);
    const std::string subnet = launch && place.zone.empty() ? text_in(*launch, "SubnetId") : "";
    if (!subnet.empty())
      report.decisions.push_back("the zone of " + subnet + " in " + place.region +
                                 " is not known, and launches in other zones fail: import again "
                                 "with --subnet-zone " +
                                 subnet + "=ZONE");
  }
  report.decisions.emplace_back(
      "muster asks for IMDSv2 (MetadataOptions.HttpTokens = \"required\") and lets machines end "
      "when they shut down; for images that read metadata in the old way set "
      "aws.launch.MetadataOptions.HttpTokens to \"optional\"");
}

}  // namespace

const Cloud aws_cloud{"aws", "availabilityZone", "instanceTypes", "type", read_aws, shorten_aws};

}  // namespace muster::importing
