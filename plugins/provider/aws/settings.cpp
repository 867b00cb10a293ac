#include "plugins/provider/aws/settings.hpp"

#include <algorithm>
#include <set>

#include <muster/codec.hpp>
#include <muster/json_schema.hpp>

#include "plugins/base/files.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

constexpr std::size_t most_launches_per_call = 1000;

bool is_region(std::string_view name) {
  // Two dashes at least: a zone ("us-east-1a") ends in a letter, a region in a digit.
  return std::count(name.begin(), name.end(), '-') >= 2 && name.back() >= '0' &&
         name.back() <= '9' && std::ranges::all_of(name, [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                  letter == '-';
         });
}

Error not_a_region(const std::string& path, const std::string& name) {
  return Error::invalid(path + ": \"" + name +
                        "\" is not the name of a region; write it like us-east-1" +
                        (!name.empty() && name.back() >= 'a' && name.back() <= 'z'
                             ? " (availability zones are not named here: worker configurations "
                               "choose them by the fact availabilityZone)"
                             : ""));
}

Result<void> check_against_schema(const json::object& config) {
  const auto schema = json::Schema::compile(config_schema());
  if (!schema) return schema.error();
  const auto violations = schema->validate(config);
  if (violations.empty()) return {};
  return Error::invalid(json::to_string(violations.front()));
}

Result<void> read_regions(const json::object& config, Settings& settings) {
  settings.home_region = text_of(config, "homeRegion");
  const json::value& regions = config.at("regions");
  if (regions.is_array()) {
    std::set<std::string> seen;
    for (const json::value& region : regions.get_array()) {
      const std::string name(region.get_string());
      if (!is_region(name)) return not_a_region("regions", name);
      if (!seen.insert(name).second)
        return Error::invalid("regions: \"" + name + "\" is there twice; remove one");
      settings.regions.push_back(name);
    }
  } else if (regions.get_string() != "all") {
    return Error::invalid(
        "regions: must be a list of regions, like [\"us-east-1\"], or \"all\" for every region "
        "that is enabled for the account");
  }
  if (settings.home_region.empty())
    settings.home_region = settings.regions.empty() ? "us-east-1" : settings.regions.front();
  if (!is_region(settings.home_region)) return not_a_region("homeRegion", settings.home_region);
  return {};
}

Result<void> read_prices(const json::object& config, Settings& settings) {
  settings.spot_history = text_of(config, "priceSource") != "table";
  auto table = read_price_table(
      config, [](std::string_view type) { return type.find('.') != std::string_view::npos; },
      "\"m5.large\", \"us-east-1/m5.large\" or \"us-east-1a/spot/m5.large\"");
  if (!table) return table.error();
  settings.price_table = std::move(*table);
  return {};
}

Result<IdentityKey> read_identity_key(const json::object& entry, const std::string& path) {
  IdentityKey key;
  for (const json::value& region : entry.at("regions").get_array())
    key.regions.emplace_back(region.get_string());
  const std::string file = text_of(entry, "certificateFile");
  key.pem = text_of(entry, "certificate");
  if (file.empty() == key.pem.empty())
    return Error::invalid(path + ": needs one of certificateFile and certificate");
  if (!file.empty()) {
    auto text = read_if_there(file, 1 << 16);
    if (!text) return Error::invalid(path + ".certificateFile: " + text.error().message);
    if (!*text) return Error::invalid(path + ".certificateFile: there is no file " + file);
    key.pem = std::move(**text);
  }
  if (key.pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos &&
      key.pem.find("-----BEGIN PUBLIC KEY-----") == std::string::npos)
    return Error::invalid(path + ": is not a certificate or public key in PEM");
  return key;
}

Result<void> read_identity_keys(const json::object& config, Settings& settings) {
  if (const json::value* only = config.if_contains("identityKeysOnly"))
    settings.built_in_identity_keys = !only->get_bool();
  std::size_t index = 0;
  Result<void> outcome;
  for_each_of(config, "identityKeys", [&](const json::object& entry) {
    auto key = read_identity_key(entry, "identityKeys[" + std::to_string(index++) + "]");
    if (key)
      settings.identity_keys.push_back(std::move(*key));
    else if (outcome)
      outcome = key.error();
  });
  if (outcome && !settings.built_in_identity_keys && settings.identity_keys.empty())
    return Error::invalid(
        "identityKeysOnly: without any identityKeys no worker could register; add one, or remove "
        "identityKeysOnly");
  return outcome;
}

Result<void> read_queues(const json::object& config, Settings& settings) {
  const json::object* queues = table_of(config, "interruptionQueues");
  if (!queues) return {};
  for (const auto& [region, url] : *queues) {
    const std::string name(region), address(url.get_string());
    if (!is_region(name)) return not_a_region("interruptionQueues", name);
    if (!settings.uses(name))
      return Error::invalid("interruptionQueues: region \"" + name + "\" is not in regions");
    if (!address.starts_with("https://") && !address.starts_with("http://"))
      return Error::invalid("interruptionQueues." + name + ": \"" + address +
                            "\" is not the URL of an SQS queue, which begins with https://");
    settings.interruption_queues.emplace(name, address);
  }
  return {};
}

}  // namespace

bool Settings::uses(const std::string& region) const {
  return regions.empty() || std::ranges::find(regions, region) != regions.end();
}

Result<Settings> read_settings(const json::object& config) {
  if (const auto good = check_against_schema(config); !good) return good.error();
  Settings settings;
  for (const auto read : {read_regions, read_prices, read_identity_keys, read_queues})
    if (const auto good = read(config, settings); !good) return good.error();
  auto connection = read_connection(config);
  if (!connection) return connection.error();
  settings.connection = std::move(*connection);
  settings.account_id = text_of(config, "accountId");
  if (const json::value* example = config.if_contains("example"))
    settings.example = example->get_bool();
  if (const json::object* limits = table_of(config, "launchLimits"))
    if (const auto per_call = number_of(*limits, "perCall"); per_call > 0)
      settings.launches_per_call =
          std::min(static_cast<std::size_t>(per_call), most_launches_per_call);
  return settings;
}

}  // namespace muster::aws
