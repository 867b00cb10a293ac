// What the instance configuration of a Google project says, checked.
#pragma once

#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/price_table.hpp"
#include "plugins/provider/google/connection.hpp"

namespace muster::google {

struct LaunchLimits {
  std::size_t per_call = 100;  // machines of one bulkInsert
  std::size_t bulk_from = 5;   // fewer are inserted one by one; 0: always
};

struct Settings {
  std::string project;
  std::vector<std::string> regions;  // those of the zones if zones are listed
  std::vector<std::string> zones;    // empty: all zones of the regions
  ConnectionSettings connection = {};
  bool catalogue = false;  // prices come from the billing catalogue, too
  cloud::PriceTable price_table = {};
  std::string worker_service_account = {};  // of machines whose launch names none
  std::string audience = {};                // of identity tokens; empty: the host's own address
  std::string identity_keys_file = {};      // an offline set
  bool published_identity_keys = true;      // those that Google publishes
  LaunchLimits launch_limits = {};
  bool example = false;  // a Compute Engine in memory instead of Google

  bool uses_zone(const std::string& zone) const;
};

// `invalid` names the key and says what to do.
Result<Settings> read_settings(const json::object& config);

// "us-central1", "us-central1-a"
bool is_region(std::string_view name);
bool is_zone(std::string_view name);

json::object config_schema();
json::object example_config();

}  // namespace muster::google
