// What is wrong with a document, in the words that clients of Taskcluster know (those of Ajv), as
// far as there are such; else in ours.
#pragma once

#include <map>
#include <string>

#include <muster/json_schema.hpp>

namespace muster::taskcluster_api {

// "/config must be object", " must have required property 'owner'". `schemas` has all documents by
// path, `path` is that of the schema that was violated.
std::string in_known_words(const json::Violation& violation,
                           const std::map<std::string, json::value>& schemas,
                           const std::string& path);

}  // namespace muster::taskcluster_api
