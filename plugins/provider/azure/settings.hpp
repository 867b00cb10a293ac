// What the instance configuration of an Azure subscription says, checked.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/price_table.hpp"
#include "plugins/provider/azure/connection.hpp"

namespace muster::azure {

// What attested documents are checked with.
struct IdentitySettings {
  std::string roots = {};  // PEM; in addition to the system's
  bool system_roots = true;
  std::string intermediates = {};  // PEM
  // Where missing intermediates may be fetched from: each is the beginning of a URL.
  std::vector<std::string> issuer_urls = {};
  std::vector<std::string> names = {};  // of the metadata service; subdomains, too
};

struct Settings {
  std::string subscription = {};
  std::string resource_group = {};
  std::map<std::string, std::string> resource_groups = {};  // by location, instead
  std::vector<std::string> locations = {};
  std::map<std::string, std::vector<std::string>> zones = {};  // by location: "1", "2"
  ConnectionSettings connection = {};
  bool retail_prices = true;  // false: the table has all prices
  cloud::PriceTable price_table = {};
  IdentitySettings identity = {};
  std::chrono::seconds leftover_grace{300};
  bool example = false;  // an Azure in memory instead of the real one

  bool uses(const std::string& location) const;
  const std::string& group_of(const std::string& location) const;
  std::vector<std::string> groups() const;  // each once
  // "/subscriptions/<id>/resourceGroups/<group>"
  std::string group_path(const std::string& group) const;
  std::string subscription_path() const { return "/subscriptions/" + subscription; }
};

// `invalid` names the key and says what to do. Reads the files of certificates.
Result<Settings> read_settings(const json::object& config);

json::object config_schema();
json::object example_config();

}  // namespace muster::azure
