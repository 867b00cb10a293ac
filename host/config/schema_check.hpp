// The configuration against its schema, told in the words of the file.
#pragma once

#include <vector>

#include "host/config/mistake.hpp"
#include "host/config/toml_document.hpp"

namespace muster::config {

std::vector<Mistake> check_against_schema(const TomlDocument& document);

}  // namespace muster::config
