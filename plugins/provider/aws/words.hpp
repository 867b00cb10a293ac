// AWS's words for what all clouds have.
#pragma once

#include "plugins/cloud/documents.hpp"
#include "plugins/cloud/machines/machine.hpp"

namespace muster::aws {

// What plugins/cloud has is used as if it were here.
using namespace cloud;

inline constexpr const char* section_name = "aws";
inline constexpr const char* spot = "spot";
inline constexpr const char* on_demand = "onDemand";

inline constexpr Words words{.cloud = "EC2",
                             .section = section_name,
                             .zone_fact = "availabilityZone",
                             .types_key = "instanceTypes",
                             .type_key = "instanceType",
                             .spot = spot,
                             .on_demand = on_demand,
                             .example_type = "m5.large"};

// The data of this folder (*.json).
extern const Documents documents;

}  // namespace muster::aws
