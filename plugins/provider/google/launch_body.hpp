// The documents that machines are launched with.
#pragma once

#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/provider/google/labels.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// Of instances.insert, without the name. Of bulkInsert it is the instanceProperties. `config` if
// the registration is larger than Google takes.
Result<json::object> launch_body(const cloud::Machine& machine, const AllocateRequest& request,
                                 const Settings& settings);

// All labels of the machine: the team's, the host's, and muster's own.
Labels launch_labels(const cloud::Machine& machine, const AllocateRequest& request,
                     const Settings& settings);

// Whether bulkInsert takes all that the body says.
bool fits_bulk(const json::object& body);

json::object insert_body(json::object body, const cloud::Machine& machine, const std::string& name,
                         const IdempotencyKey* key_in_label);
json::object bulk_body(json::object body, const cloud::Machine& machine,
                       const std::vector<std::string>& names);

}  // namespace muster::google
