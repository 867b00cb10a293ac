// The section `aws` of a worker configuration: what a team may write, and the launch documents that
// are made of it.
#pragma once

#include <string>

#include "plugins/cloud/machines/section.hpp"
#include "plugins/provider/aws/model.hpp"
#include "plugins/provider/aws/words.hpp"

namespace muster::aws {

inline constexpr const char* linux_product = "Linux/UNIX";

// Made from AWS's own model of RunInstances.
json::object section_schema(const Model& model);
json::object example_section();
FieldClasses field_classes();

// Nothing is launched where the section has no image for the region, or `zones` lacks the zone.
SectionRules section_rules();

// As the price history calls it.
std::string product_of(const Machine& machine);

}  // namespace muster::aws
