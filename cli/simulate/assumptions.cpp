#include "cli/simulate/assumptions.hpp"

#include <muster/json_schema.hpp>

#include "lib/toml/toml_document.hpp"
#include "plugins/provider/simulated/settings.hpp"

namespace muster::cli {
namespace {

constexpr const char* trouble_keys[] = {"failures", "interruptions", "preset",
                                        "prices",   "quotas",        "slow"};

json::object number(double least, double most) {
  return {{"type", "number"}, {"minimum", least}, {"maximum", most}};
}

json::object table(json::object properties) {
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

json::object provider_schema() {
  const json::object price = number(0, 1e6);
  const json::object per_zone{{"type", "integer"}, {"minimum", 0}, {"maximum", 1000000}};
  const json::object seconds = number(0, 1e6);
  json::object properties{
      {"pricePerHour", price},
      {"perZone", per_zone},
      {"bootSeconds", json::object{{"type", json::array{"number", "array"}},
                                   {"minimum", 0},
                                   {"maximum", 1e6},
                                   {"items", seconds},
                                   {"minItems", 2},
                                   {"maxItems", 2}}},
      {"neverBoots", number(0, 1)},
      {"instanceTypes", json::object{{"type", "object"},
                                     {"additionalProperties",
                                      table({{"pricePerHour", price}, {"perZone", per_zone}})}}}};
  json::object cloud = simulated::config_schema();
  for (const char* key : trouble_keys) properties[key] = cloud.at("properties").at(key);
  properties["config"] = std::move(cloud);
  return table(std::move(properties));
}

json::object schema() {
  return table({{"currency", json::object{{"type", "string"}, {"pattern", "^[A-Z]{3}$"}}},
                {"providers",
                 json::object{{"type", "object"}, {"additionalProperties", provider_schema()}}}});
}

CloudAssumptions read_cloud(const json::object& from, const std::string& file) {
  CloudAssumptions cloud;
  const auto number_of = [](const json::object& in, const char* key) {
    const json::value* value = in.if_contains(key);
    return value ? std::optional(value->to_number<double>()) : std::nullopt;
  };
  if (const auto price = number_of(from, "pricePerHour")) {
    cloud.price_per_hour = *price;
    cloud.price_source = file;
  }
  cloud.never_boots = number_of(from, "neverBoots").value_or(cloud.never_boots);
  if (const json::value* count = from.if_contains("perZone")) cloud.per_zone = count->as_int64();
  if (const json::value* boot = from.if_contains("bootSeconds")) {
    if (boot->is_array())
      cloud.boot_seconds = {boot->get_array()[0].to_number<double>(),
                            boot->get_array()[1].to_number<double>()};
    else
      cloud.boot_seconds = {boot->to_number<double>(), boot->to_number<double>()};
  }
  if (const json::value* types = from.if_contains("instanceTypes"))
    for (const auto& [name, type] : types->as_object()) {
      CloudAssumptions::Type& made = cloud.instance_types[std::string(name)];
      made.price_per_hour = number_of(type.as_object(), "pricePerHour");
      if (made.price_per_hour) made.price_source = file;
      if (const json::value* count = type.as_object().if_contains("perZone"))
        made.per_zone = count->as_int64();
    }
  for (const char* key : trouble_keys)
    if (const json::value* value = from.if_contains(key)) cloud.trouble[key] = *value;
  if (const json::value* config = from.if_contains("config")) cloud.config = config->as_object();
  return cloud;
}

}  // namespace

std::string price_that_stays(const Assumptions& base, const Assumptions& prices) {
  for (const auto& [id, has] : base.providers) {
    const auto listed = prices.providers.find(id);
    const bool known = listed != prices.providers.end();
    if (!has.price_source.empty() && !(known && !listed->second.price_source.empty())) return id;
    for (const auto& [name, type] : has.instance_types) {
      if (!type.price_per_hour) continue;
      const auto& types = known ? listed->second.instance_types : has.instance_types;
      const auto replaced = types.find(name);
      if (!known || replaced == types.end() || !replaced->second.price_per_hour)
        return id + " " + name;
    }
  }
  return {};
}

void take_prices(const Assumptions& prices, Assumptions& into) {
  if (!prices.currency.empty()) into.currency = prices.currency;
  for (const auto& [id, from] : prices.providers) {
    CloudAssumptions& to = into.providers.try_emplace(id, CloudAssumptions{}).first->second;
    if (to.position == config::Position{}) to.position = from.position;
    if (!from.price_source.empty()) {
      to.price_per_hour = from.price_per_hour;
      to.price_source = from.price_source;
    }
    for (const auto& [name, type] : from.instance_types) {
      if (!type.price_per_hour) continue;
      to.instance_types[name].price_per_hour = type.price_per_hour;
      to.instance_types[name].price_source = type.price_source;
    }
  }
}

AssumptionsReading read_assumptions(std::string_view toml, const std::string& file) {
  AssumptionsReading reading;
  const auto parsed = config::parse_toml(toml);
  if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed)) {
    reading.mistakes.push_back(*mistake);
    return reading;
  }
  const auto& document = *boost::variant2::get_if<config::TomlDocument>(&parsed);
  const auto compiled = json::Schema::compile(schema()).value();
  for (const json::Violation& violation : compiled.validate(document.root))
    reading.mistakes.push_back({config::Severity::error, document.value_position(violation.path),
                                config::key_path(document.root, violation.path), violation.message,
                                ""});
  config::sort_mistakes(reading.mistakes);
  const json::value* providers = document.root.if_contains("providers");
  if (!reading.mistakes.empty()) return reading;
  if (const json::value* currency = document.root.if_contains("currency"))
    reading.assumptions.currency = std::string(currency->as_string());
  if (!providers) return reading;
  for (const auto& [id, table] : providers->as_object()) {
    const std::string pointer = "/providers/" + config::pointer_part(id);
    CloudAssumptions cloud = read_cloud(table.as_object(), file);
    cloud.position = document.key_position(pointer);
    if (cloud.boot_seconds.first > cloud.boot_seconds.second)
      reading.mistakes.push_back(
          {config::Severity::error, document.value_position(pointer + "/bootSeconds"),
           config::key_path(document.root, pointer + "/bootSeconds"),
           "the quickest boot is slower than the slowest", "write the smaller number first"});
    reading.assumptions.providers.emplace(id, std::move(cloud));
  }
  return reading;
}

}  // namespace muster::cli
