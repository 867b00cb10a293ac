// The data of this folder (*.json), which the plugin carries inside.
#pragma once

#include <string_view>

#include <muster/json.hpp>

namespace muster::aws {

// By the file's name without its end: "errors". A name that is not there is a bug and throws.
std::string_view document_text(std::string_view name);
json::value read_document(std::string_view name);

}  // namespace muster::aws
