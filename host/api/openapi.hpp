// The OpenAPI 3.1 document of muster's own API. Its paths come from the table of endpoints, its
// schemas from the files of schemas/.
#pragma once

#include <map>
#include <span>
#include <string_view>

#include <muster/json.hpp>
#include <muster/json_schema.hpp>

#include "host/endpoints/endpoint.hpp"

namespace muster::api {

json::object openapi_document(std::span<const endpoints::Endpoint> rows);

// The schemas of the rows' inputs, by their names. Throws if a row names one that is not there.
std::map<std::string_view, json::Schema> compile_inputs(std::span<const endpoints::Endpoint> rows);

// [{"method", "path", "scope"}]: the same rows in short.
json::array list_operations(std::span<const endpoints::Endpoint> rows);

}  // namespace muster::api
