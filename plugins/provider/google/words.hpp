// How Google spells what all clouds have.
#pragma once

#include "plugins/cloud/documents.hpp"
#include "plugins/cloud/machines/machine.hpp"

namespace muster::google {

inline constexpr cloud::Words words{.cloud = "Compute Engine",
                                    .section = "google",
                                    .zone_fact = "availabilityZone",
                                    .types_key = "machineTypes",
                                    .type_key = "machineType",
                                    .spot = "SPOT",
                                    .on_demand = "STANDARD",
                                    .example_type = "n2-standard-4"};

// The JSON files of this folder, which the plugin carries inside.
extern const cloud::Documents documents;

// "us-central1-a" → "us-central1"
inline std::string region_of_zone(const std::string& zone) {
  return zone.substr(0, zone.rfind('-'));
}

// Scopes of errors.
inline ErrorScope scope_of_region(std::string region) {
  ErrorScope scope;
  scope.region = std::move(region);
  return scope;
}
inline ErrorScope scope_of_zone(const std::string& zone) {
  ErrorScope scope = scope_of_region(region_of_zone(zone));
  scope.zone = zone;
  return scope;
}

// What follows the last slash of a URL or a partial one: ".../zones/us-central1-a" →
// "us-central1-a"
inline std::string last_part(std::string_view url) {
  return std::string(url.substr(url.rfind('/') + 1));
}

}  // namespace muster::google
