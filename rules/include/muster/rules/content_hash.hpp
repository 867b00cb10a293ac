// The name of a launch configuration is its content.
#pragma once

#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::rules {

// Lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

// `lc-` and the first 20 hexadecimal digits of SHA-256 over RFC 8785's canonical form of
// {document, placement, pool, provider}. `workerManager` and `workerConfig` of the document do not
// count: changing only them cycles no worker.
std::string launch_config_id(std::string_view worker_pool_id, std::string_view provider_id,
                             const json::value& placement, const json::object& document);

}  // namespace muster::rules
