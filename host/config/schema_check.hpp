// The configuration against its schema, told in the words of the file.
#pragma once

#include <string_view>
#include <vector>

#include "host/config/mistake.hpp"
#include "host/config/toml_document.hpp"

namespace muster::config {

struct SchemaCheck {
  std::vector<Mistake> mistakes;
  // The document without the values that are wrong, so that the rest can be checked further and
  // every mistake is told in one go.
  TomlDocument sound;
};

// The configuration of the host.
SchemaCheck check_against_schema(const TomlDocument& document);
// That of another program of ours, whose schema uses the same keywords.
SchemaCheck check_against_schema(const TomlDocument& document, std::string_view schema_text);

}  // namespace muster::config
