// One launch configuration of Taskcluster in muster's terms: where, what kind of machine, how it is
// bought, and the cloud's own document.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "cli/import/report.hpp"

namespace muster::importing {

struct LaunchChoice {
  std::string name = {};  // "launch configuration 3 (lc-1)"
  std::string region = {}, zone = {};
  std::string type = {};
  std::string market = {};
  std::int64_t capacity = 1;
  std::optional<double> max_price = {};
  json::object launch = {};   // without what muster sets
  json::object section = {};  // what stands beside `launch` in the section
  // The rest of the launch document: workerConfig, workerManager.
  json::object worker_config = {}, worker_manager = {};
};

// What a person told on the command line.
struct Knowledge {
  std::map<std::string, std::string> zone_of_subnet = {};
};

struct Place;

// What the clouds differ in. Its `name` is that of the plugin and of its section.
struct Cloud {
  const char* name;
  const char* zone_fact;  // "": it has no zones
  const char* types_key;  // the list of types in the section
  const char* type_key;   // the name of a type in it
  // What is left of a launch configuration when `workerConfig` and `workerManager` are taken.
  // Fails with the reason why it cannot be carried over; losses are parts of it.
  Result<LaunchChoice> (*read)(json::object document, const Knowledge& knowledge,
                               std::vector<Loss>& losses);
  // Says the places of a pool in the cloud's own short form, and what a person must decide about
  // them. May be null.
  void (*shorten)(std::vector<Place>& places, PoolReport& report);
};

extern const Cloud aws_cloud, google_cloud, azure_cloud;

// By the form of the document, for the names of providers are the deployment's own. Null if it is
// of no cloud that is known.
const Cloud* cloud_of(const json::object& launch_config);

// All of it; `name` is set.
Result<LaunchChoice> read_choice(const Cloud& cloud, const json::object& launch_config,
                                 const std::string& name, const Knowledge& knowledge,
                                 PoolReport& report);

}  // namespace muster::importing
