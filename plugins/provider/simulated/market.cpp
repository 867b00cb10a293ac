// What the cloud asks for and what it offers: placements, launch documents, prices, bids.
#include <algorithm>
#include <cmath>

#include <muster/codec.hpp>
#include <muster/nearest.hpp>

#include "plugins/provider/simulated/cloud.hpp"
#include "plugins/provider/simulated/draws.hpp"
#include "plugins/provider/simulated/use.hpp"

namespace muster::simulated {
namespace {

std::string in_quotes(std::string_view word) {
  return "\"" + std::string(word) + "\"";
}

struct Section {
  std::optional<std::vector<std::string>> instance_types = {};
  std::optional<std::string> image = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("instanceTypes", &Section::instance_types),
                 optional("image", &Section::image));
  }
};

Result<Section> read_section(const json::object& document) {
  const json::value* found = document.if_contains("simulated");
  if (!found) return Section{};
  auto section = from_value<Section>(*found);
  if (section) return section;
  const std::string& mistake = section.error().message;
  return Error::invalid(found->is_object() ? "simulated." + mistake : "simulated: " + mistake);
}

// What the worker configuration says of the capacity, if it does.
Result<std::optional<std::int64_t>> capacity_in(const json::object& document) {
  const json::value* manager = document.if_contains("workerManager");
  if (!manager) return std::optional<std::int64_t>();
  if (!manager->is_object()) return Error::invalid("workerManager: expected an object");
  const json::value* capacity = manager->get_object().if_contains("capacityPerInstance");
  if (!capacity) return std::optional<std::int64_t>();
  if (!capacity->is_int64() || capacity->get_int64() < 1)
    return Error::invalid("workerManager.capacityPerInstance: expected a whole number from 1");
  return std::optional(capacity->get_int64());
}

double smooth(double from, double to, double part) {
  const double eased = part * part * (3 - 2 * part);
  return from + (to - from) * eased;
}

}  // namespace

double price_at(const Settings& settings, const std::string& zone, const InstanceType& type,
                Time now) {
  const double periods =
      static_cast<double>(now.time_since_epoch().count()) / 1000 / settings.prices.period_seconds;
  const auto period = static_cast<std::int64_t>(std::floor(periods));
  const auto level = [&](std::int64_t at) {
    return draw(settings.seed, {"price", zone, type.name, std::to_string(at)});
  };
  const double moved =
      smooth(level(period), level(period + 1), periods - static_cast<double>(period));
  const double price = type.price_per_hour * (1 + settings.prices.volatility * (2 * moved - 1));
  return std::round(price * 1e6) / 1e6;
}

Result<Placements> Cloud::placements(const PlacementsRequest&, const Context& context) {
  if (const auto begun = begin("placements", context); !begun) return begun.error();
  Placements found;
  for (const Region& region : settings_.regions)
    for (const std::string& zone : region.zones)
      found.placements.push_back({{{"region", region.name}, {"availabilityZone", zone}}});
  return found;
}

// Neither slow nor failing: launch configurations must settle.
Result<Expansion> Cloud::expand(const ExpandRequest& request, const Context&) {
  const auto section = read_section(request.document);
  if (!section) return section.error();
  const auto capacity = capacity_in(request.document);
  if (!capacity) return capacity.error();
  std::vector<std::string> wanted;
  for (const InstanceType& type : settings_.instance_types) wanted.push_back(type.name);
  std::vector<std::string_view> known(wanted.begin(), wanted.end());
  const auto& names = section->instance_types ? *section->instance_types : wanted;
  Expansion expansion;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const InstanceType* type = settings_.find_type(names[i]);
    if (!type) {
      const auto near = nearest(names[i], known);
      return Error::invalid("simulated.instanceTypes[" + std::to_string(i) +
                            "]: there is no instance type " + in_quotes(names[i]) +
                            (near ? "; did you mean " + in_quotes(*near) + "?" : ""));
    }
    json::object machine{{"instanceType", type->name}};
    if (section->image) machine["image"] = *section->image;
    json::object document{{"simulated", std::move(machine)}};
    for (const char* key : {"workerManager", "workerConfig"})
      if (const json::value* given = request.document.if_contains(key)) document[key] = *given;
    expansion.launch_documents.push_back(
        {std::move(document), capacity->value_or(type->capacity), type->name});
  }
  return expansion;
}

Result<Cloud::Site> Cloud::site_of(const LaunchConfig& launch_config) const {
  const auto wrong = [&](const std::string& what) {
    return Error::config(what).of_launch_config(launch_config.launch_config_id.str());
  };
  const auto fact = [&](const char* name) {
    const auto found = launch_config.placement.facts.find(name);
    return found == launch_config.placement.facts.end() ? std::string() : found->second;
  };
  Site site{fact("region"), fact("availabilityZone"), {}};
  if (!settings_.has_zone(site.region, site.zone))
    return wrong("there is no zone " + in_quotes(site.zone) + " in a region " +
                 in_quotes(site.region));
  const json::value* section = launch_config.document.if_contains("simulated");
  const json::value* name =
      section && section->is_object() ? section->get_object().if_contains("instanceType") : nullptr;
  if (!name || !name->is_string())
    return wrong("the launch document has no simulated.instanceType");
  site.instance_type = std::string(name->get_string());
  if (!settings_.find_type(site.instance_type))
    return wrong("there is no instance type " + in_quotes(site.instance_type));
  return site;
}

// Lowered by every rule that may spoil a launch there or take its machine away within an hour.
double Cloud::reliability(const Site& site) const {
  double good = (1 - settings_.boot.never) * std::exp(-settings_.interruptions.per_hour);
  for (const FailureRule& rule : settings_.failures)
    if (rule.method == "allocate" && rule.probability < 1 &&
        (!rule.region || *rule.region == site.region) && (!rule.zone || *rule.zone == site.zone) &&
        (!rule.instance_type || *rule.instance_type == site.instance_type))
      good *= 1 - rule.probability;
  return std::clamp(good, 0.0, 1.0);
}

Result<Bid> Cloud::offer(const BidRequest::Candidate& candidate, std::int64_t capacity,
                         const Use& use, Time now) {
  const LaunchConfig& launch_config = candidate.launch_config;
  const auto site = site_of(launch_config);
  if (!site) return site.error();
  if (const auto failed = fails("bid", *site, now)) return *failed;
  const std::int64_t free = room(*site, use);
  if (free <= 0) return no_room(*site, use);
  const std::int64_t each = std::max<std::int64_t>(1, launch_config.capacity_per_instance);
  const std::int64_t needed = capacity <= 0 ? 0 : (capacity - 1) / each + 1;
  const double price =
      price_at(settings_, site->zone, *settings_.find_type(site->instance_type), now);
  return Bid{
      launch_config.launch_config_id,
      each,
      std::max<std::int64_t>(0, std::min({free, needed, candidate.max_instances.value_or(needed)})),
      price / static_cast<double>(each),
      reliability(*site),
      json::object{{"v", 1}, {"pricePerHour", price}},
      site->instance_type + " in " + site->zone + ": " + std::to_string(free) + " free at " +
          json::write(json::value(price)) + " an hour"};
}

Result<Bids> Cloud::bid(const BidRequest& request, const Context& context) {
  if (const auto begun = begin("bid", context); !begun) return begun.error();
  const Use use = use_at(context.now());
  Bids bids;
  for (const BidRequest::Candidate& candidate : request.candidates) {
    auto made = offer(candidate, request.capacity, use, context.now());
    if (!made)
      bids.problems.push_back(made.error());
    else if (made->instances > 0)
      bids.bids.push_back(std::move(*made));
  }
  return bids;
}

}  // namespace muster::simulated
