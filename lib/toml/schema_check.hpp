// A file of settings against its JSON Schema. Mistakes have the place in the file.
#pragma once

#include <string_view>
#include <vector>

#include "lib/toml/mistake.hpp"
#include "lib/toml/toml_document.hpp"

namespace muster::config {

struct SchemaCheck {
  std::vector<Mistake> mistakes;
  // The document without the values that are wrong, so that the rest can be checked further and
  // every mistake is told in one go.
  TomlDocument sound;
};

SchemaCheck check_against_schema(const TomlDocument& document, std::string_view schema_text);

}  // namespace muster::config
