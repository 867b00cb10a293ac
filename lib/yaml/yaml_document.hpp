// A YAML text as a JSON document in which every key and value knows where it stands.
#pragma once

#include <string_view>

#include <boost/variant2/variant.hpp>

#include "lib/toml/toml_document.hpp"

namespace muster::config {

// YAML as people write configurations in it: mappings with text keys, sequences, and scalars that
// become null, truth, number or text as in YAML's core schema. Aliases, merges, tags and several
// documents are mistakes. The form of the result is that of a TOML document.
boost::variant2::variant<TomlDocument, Mistake> parse_yaml(std::string_view text);

// The same without positions, for a text whose whole may be a sequence.
boost::variant2::variant<json::value, Mistake> parse_yaml_value(std::string_view text);

}  // namespace muster::config
