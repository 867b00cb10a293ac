#include "cli/simulate/clouds.hpp"

#include <algorithm>
#include <array>

#include "lib/base/letter_case.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::cli {
namespace {

const std::string nameless_type = "machine";

// Clouds are asked only what needs no clock.
class NoContext final : public Context {
 public:
  bool cancelled() const noexcept override { return false; }
  std::chrono::milliseconds time_left() const noexcept override { return std::chrono::seconds(30); }
  Time now() const noexcept override { return {}; }
  void log(LogLevel, std::string_view) const noexcept override {}
};

// "instanceTypes", "InstanceType", "machineType", "vmSizes", "flavors", ...
bool names_types(std::string_view key) {
  std::string word = to_lower(key);
  std::erase_if(word, [](char c) { return c == '_' || c == '-'; });
  if (word.ends_with('s')) word.pop_back();
  static constexpr std::array<std::string_view, 6> known{
      "instancetype", "machinetype", "servertype", "vmsize", "vmtype", "flavor"};
  return std::find(known.begin(), known.end(), word) != known.end();
}

std::string name_of(const json::value& element) {
  if (element.is_string()) return std::string(element.get_string());
  if (!element.is_object()) return {};
  for (const auto& [key, value] : element.get_object())
    if ((names_types(std::string_view(key)) || key == "name" || key == "type") && value.is_string())
      return std::string(value.get_string());
  return {};
}

}  // namespace

std::pair<std::string, std::string> place_of(const ProviderId& provider,
                                             const Placement& placement) {
  std::string region, zone;
  for (const auto& [name, value] : placement.facts) {
    if (name == "region")
      region = value;
    else
      zone += (zone.empty() ? "" : "/") + value;
  }
  if (region.empty()) region = provider.str();
  if (zone.empty()) return {region, region};
  return {region, zone.starts_with(region) ? zone : region + "/" + zone};
}

NamedTypes instance_types_in(const json::object& section) {
  NamedTypes found;
  for (const auto& [key, value] : section) {
    if (!names_types(std::string_view(key))) continue;
    NamedTypes here{std::string(key), value.is_array(), {}};
    const json::array one{value};
    for (const json::value& element : value.is_array() ? value.get_array() : one)
      if (std::string name = name_of(element); !name.empty()) here.names.push_back(std::move(name));
    const std::size_t elements = value.is_array() ? value.get_array().size() : 1;
    // A list wins over a single one, which is then a default or an alternative.
    if (here.names.size() == elements && elements > 0 && (found.names.empty() || here.list))
      found = std::move(here);
  }
  return found;
}

namespace {

json::array regions_of(const GivenProvider& provider) {
  std::map<std::string, std::set<std::string>> zones;
  for (const Placement& placement : provider.placements) {
    const auto [region, zone] = place_of(provider.provider_id, placement);
    zones[region].insert(zone);
  }
  json::array regions;
  for (const auto& [region, names] : zones)
    regions.push_back(
        json::object{{"name", region}, {"zones", json::array(names.begin(), names.end())}});
  return regions;
}

}  // namespace

Result<void> Clouds::add(const GivenProvider& provider, const CloudAssumptions& assumed,
                         std::uint64_t seed) {
  Cloud cloud{provider, assumed, seed, provider.plugin == "simulated", {}, {}};
  if (cloud.itself) {
    json::object config = provider.config.empty() ? assumed.config : provider.config;
    if (!config.contains("regions") && !provider.placements.empty())
      config["regions"] = regions_of(provider);
    if (!config.contains("seed")) config["seed"] = static_cast<std::int64_t>(seed % 1'000'000);
    auto settings = simulated::read_settings(config);
    if (!settings) return settings.error();
    settings->state_file.clear();
    cloud.settings = std::move(*settings);
  } else {
    if (cloud.given.placements.empty())
      cloud.given.placements.push_back({{{"region", provider.provider_id.str()}}});
    // Errors of the assumptions are reported now, not when the types are known.
    cloud.instance_types = {nameless_type};
    if (auto settings = stand_in(cloud); !settings) return settings.error();
    cloud.instance_types.clear();
  }
  clouds_.emplace(provider.provider_id, std::move(cloud));
  return {};
}

Result<simulated::Settings> Clouds::stand_in(const Cloud& cloud) const {
  const CloudAssumptions& assumed = cloud.assumed;
  json::object config = assumed.trouble;
  config["seed"] = static_cast<std::int64_t>(cloud.seed % 1'000'000);
  json::array types;
  for (const std::string& name : cloud.instance_types) {
    const auto found = assumed.instance_types.find(name);
    const auto type =
        found == assumed.instance_types.end() ? CloudAssumptions::Type{} : found->second;
    types.push_back(
        json::object{{"name", name},
                     {"pricePerHour", type.price_per_hour.value_or(assumed.price_per_hour)},
                     {"perZone", type.per_zone.value_or(assumed.per_zone)}});
  }
  config["regions"] = regions_of(cloud.given);
  config["instanceTypes"] = std::move(types);
  if (!config.contains("prices")) config["prices"] = json::object{{"volatility", 0}};
  config["boot"] = json::object{{"minSeconds", assumed.boot_seconds.first},
                                {"maxSeconds", assumed.boot_seconds.second},
                                {"never", assumed.never_boots}};
  return simulated::read_settings(config);
}

std::map<ProviderId, pools::ProviderFacts> Clouds::facts() const {
  std::map<ProviderId, pools::ProviderFacts> all;
  for (const auto& [id, cloud] : clouds_) {
    pools::ProviderFacts facts;
    facts.version = "simulated";
    facts.description.name = cloud.given.plugin;
    facts.description.section = cloud.given.plugin;
    for (const std::string& name : cloud.given.fact_names)
      facts.description.facts.push_back({name, ""});
    facts.placements = cloud.given.placements;
    if (cloud.itself) {
      facts.description.section_schema = simulated::section_schema();
      facts.placements =
          simulated::Cloud(cloud.settings).placements({}, NoContext()).value().placements;
    }
    all.emplace(id, std::move(facts));
  }
  return all;
}

Result<Expansion> Clouds::expand(const ProviderId& provider, const ExpandRequest& request) {
  Cloud& cloud = clouds_.at(provider);
  if (cloud.itself) return simulated::Cloud(cloud.settings).expand(request, NoContext());
  const json::value* section = request.document.if_contains(cloud.given.plugin);
  const NamedTypes types =
      section && section->is_object() ? instance_types_in(section->get_object()) : NamedTypes{};
  Expansion expansion;
  if (types.names.empty()) {
    cloud.instance_types.insert(nameless_type);
    expansion.launch_documents.push_back({request.document, 1, nameless_type});
  }
  for (std::size_t i = 0; i < types.names.size(); ++i) {
    cloud.instance_types.insert(types.names[i]);
    json::object document = request.document;
    if (types.list) {
      json::value& list = document[cloud.given.plugin].as_object()[types.key];
      const json::value one = list.as_array()[i];
      list = json::array{one};
    }
    expansion.launch_documents.push_back({std::move(document), 1, types.names[i]});
  }
  return expansion;
}

std::shared_ptr<const fleet::Configuration> Clouds::adapt(
    const fleet::Configuration& configuration) const {
  auto adapted = std::make_shared<fleet::Configuration>(configuration);
  for (auto& [id, pool] : adapted->pools) {
    auto changed = std::make_shared<fleet::PoolSpec>(*pool);
    for (auto& spec : changed->launch_configs) {
      const Cloud& cloud = clouds_.at(spec->provider_id);
      if (cloud.itself) continue;
      auto understood = std::make_shared<fleet::LaunchConfigSpec>(*spec);
      LaunchConfig& launch_config = understood->launch_config;
      const auto [region, zone] = place_of(spec->provider_id, launch_config.placement);
      launch_config.placement.facts = {{"region", region}, {"availabilityZone", zone}};
      launch_config.document = {
          {"simulated", json::object{{"instanceType", launch_config.instance_type}}}};
      spec = std::move(understood);
    }
    pool = std::move(changed);
  }
  return adapted;
}

std::vector<UsedPrice> Clouds::prices() const {
  std::vector<UsedPrice> all;
  for (const auto& [id, cloud] : clouds_) {
    if (cloud.itself)
      for (const simulated::InstanceType& type : cloud.settings.instance_types)
        all.push_back({id.str(), type.name, type.price_per_hour, "its configuration"});
    for (const std::string& name : cloud.instance_types) {
      const auto type = cloud.assumed.instance_types.find(name);
      const bool has_own =
          type != cloud.assumed.instance_types.end() && type->second.price_per_hour;
      const std::string& source = has_own ? type->second.price_source : cloud.assumed.price_source;
      all.push_back({id.str(), name,
                     has_own ? *type->second.price_per_hour : cloud.assumed.price_per_hour,
                     source.empty() ? "assumed" : source});
    }
  }
  return all;
}

Result<std::vector<simulation::ProviderScenario>> Clouds::scenarios() const {
  std::vector<simulation::ProviderScenario> all;
  for (const auto& [id, cloud] : clouds_) {
    simulation::ProviderScenario scenario{id, cloud.settings, cloud.given.settings};
    if (!cloud.itself && !cloud.instance_types.empty()) {
      auto settings = stand_in(cloud);
      if (!settings) return settings.error();
      scenario.cloud = std::move(*settings);
    }
    const auto& interruptions = scenario.cloud.interruptions;
    scenario.has_notices = interruptions.per_hour > 0 || !interruptions.launches.empty();
    all.push_back(std::move(scenario));
  }
  return all;
}

}  // namespace muster::cli
