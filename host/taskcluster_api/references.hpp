// What describes the API to programs: references, schemas and the manifest that lists them, at the
// places where clients of Taskcluster look for them.
#pragma once

#include <map>
#include <string>

#include "host/taskcluster_api/schemas.hpp"

namespace muster::taskcluster_api {

// By path: "/references/manifest.json". All of it is fixed once the root URL is known.
std::map<std::string, std::string> served_documents(const Schemas& schemas);

// "/references/worker-manager/v1/api.json", made from the table of endpoints.
json::object api_reference(const Schemas& schemas);

}  // namespace muster::taskcluster_api
