// What the instance configuration of an AWS account says, checked.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/price_table.hpp"
#include "plugins/provider/aws/connection.hpp"

namespace muster::aws {

// A certificate or public key that signs identity documents.
struct IdentityKey {
  std::vector<std::string> regions;  // "*": all
  std::string pem;
};

struct Settings {
  std::vector<std::string> regions;  // empty: all that are enabled for the account
  std::string home_region;           // where the account's regions are asked for
  ConnectionSettings connection = {};
  bool spot_history = true;  // false: the table has all prices
  PriceTable price_table = {};
  std::vector<IdentityKey> identity_keys = {};
  bool built_in_identity_keys = true;
  std::string account_id = {};  // empty: that of the credentials
  std::size_t launches_per_call = 100;
  std::map<std::string, std::string> interruption_queues = {};  // by region
  bool example = false;                                         // an EC2 in memory instead of AWS

  bool uses(const std::string& region) const;
};

// `invalid` names the key and says what to do. Reads the files of identity keys.
Result<Settings> read_settings(const json::object& config);

json::object config_schema();
json::object example_config();

}  // namespace muster::aws
