// A YAML text as a JSON document in which every key and value knows where it stands.
#pragma once

#include <string_view>

#include <boost/variant2/variant.hpp>

#include "lib/toml/toml_document.hpp"

namespace muster::agent {

// YAML as people write configurations in it: mappings with text keys, sequences, and scalars that
// become null, truth, number or text as in YAML's core schema. Aliases, merges, tags and several
// documents are mistakes. The form of the result is that of a TOML document.
boost::variant2::variant<config::TomlDocument, config::Mistake> parse_yaml(std::string_view text);

}  // namespace muster::agent
