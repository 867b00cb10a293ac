// A TOML text as a JSON document in which every key and value knows where it stands.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <boost/variant2/variant.hpp>

#include <muster/json.hpp>

#include "lib/toml/mistake.hpp"

namespace muster::config {

struct TomlDocument {
  json::object root;
  std::map<std::string, Position, std::less<>> keys;    // by JSON pointer: where the key stands
  std::map<std::string, Position, std::less<>> values;  // and where its value begins

  // Where something with this pointer, or the nearest thing around it, stands.
  Position key_position(std::string_view pointer) const;
  Position value_position(std::string_view pointer) const;
};

// Dates and times become strings, as JSON has none; nan and inf are mistakes for the same reason.
// Stops at the first mistake, as nothing after a syntax error can be trusted.
boost::variant2::variant<TomlDocument, Mistake> parse_toml(std::string_view text);

// "/providers/ec2-us/config/a.b" → `providers.ec2-us.config."a.b"`; "/pluginFolders/1" →
// "pluginFolders[1]", where the document has an array.
std::string key_path(const json::object& root, std::string_view pointer);

// The pointer's parts, unescaped; and one part, escaped.
std::vector<std::string> pointer_parts(std::string_view pointer);
std::string pointer_part(std::string_view key);

}  // namespace muster::config
