// The section `google` of a worker configuration: what a team may write.
#pragma once

#include "plugins/cloud/machines/section.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// Made from Google's own description of instances.insert.
json::object section_schema();
json::object example_section();
FieldClasses field_classes();

// How sections become launch documents. `settings` is borrowed.
cloud::SectionRules section_rules(const Settings& settings);

// The service account of the machine: the launch's own, or the provider's. Empty: it has none.
std::string service_account_of(const json::object& launch, const Settings& settings);

}  // namespace muster::google
