#include "lib/toml/schema_check.hpp"

#include <stdexcept>

#include <muster/json_schema.hpp>

namespace muster::config {
namespace {

// Walks the schema along an instance's pointer to find what it says about that place. Knows the few
// keywords that host_configuration.schema.json uses.
class SchemaPlaces {
 public:
  explicit SchemaPlaces(const json::object& schema) : schema_(schema) {}

  // What to write there: the innermost "remedy", else an example.
  std::string remedy_at(const std::string& pointer, std::string_view key) const {
    const std::vector<const json::object*> here = at(pointer);
    for (const json::object* part : here)
      if (const auto* remedy = part->if_contains("remedy")) return std::string(remedy->as_string());
    for (const json::object* part : here)
      if (const auto* examples = part->if_contains("examples"))
        return "write for example " + std::string(key) + " = " +
               json::write(examples->as_array().at(0));
    return {};
  }

  // What a key itself may look like.
  std::string remedy_for_key(const std::string& pointer) const {
    for (const json::object* parent : at(pointer.substr(0, pointer.rfind('/'))))
      if (const auto* names = parent->if_contains("propertyNames"))
        for (const json::object* part : with_references(names->as_object()))
          if (const auto* remedy = part->if_contains("remedy"))
            return std::string(remedy->as_string());
    return {};
  }

 private:
  using Parts = std::vector<const json::object*>;

  // A place is described by several objects: the one that stands there, and what it refers to.
  Parts at(const std::string& pointer) const {
    Parts here = with_references(schema_);
    for (const std::string& part : pointer_parts(pointer)) here = below(here, part);
    return here;
  }

  Parts with_references(const json::object& place) const {
    Parts parts{&place};
    const auto* reference = place.if_contains("$ref");
    if (!reference) return parts;
    const std::string_view target = reference->as_string();  // "#/$defs/path"
    const std::string name(target.substr(target.rfind('/') + 1));
    parts.push_back(&schema_.at("$defs").at(name).as_object());
    return parts;
  }

  Parts below(const Parts& parents, const std::string& key) const {
    Parts found;
    for (const json::object* parent : parents) {
      const auto* properties = parent->if_contains("properties");
      const auto* next = properties ? properties->as_object().if_contains(key) : nullptr;
      if (!next) next = parent->if_contains("items");
      if (!next && !properties) next = parent->if_contains("additionalProperties");
      if (!next || !next->is_object()) continue;
      for (const json::object* part : with_references(next->get_object())) found.push_back(part);
    }
    return found;
  }

  const json::object& schema_;
};

json::value parse_own_schema(std::string_view text) {
  auto parsed = json::parse(text);
  if (!parsed) throw std::logic_error("the embedded schema: " + parsed.error().message);
  return std::move(*parsed);
}

// Of an array, all goes: otherwise the others would move and be told at wrong places.
void remove(json::object& root, const std::string& pointer) {
  const std::vector<std::string> parts = pointer_parts(pointer);
  if (parts.empty()) return root.clear();
  json::object* here = &root;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    json::value* next = here->if_contains(parts[i]);
    if (!next) return;
    if (i + 1 < parts.size() && next->is_object())
      here = &next->get_object();
    else
      return static_cast<void>(here->erase(parts[i]));
  }
}

// "#/properties/log/additionalProperties" → "additionalProperties".
std::string_view keyword_of(const json::Violation& violation) {
  const std::string_view path = violation.schema_path;
  return path.substr(path.rfind('/') + 1);
}

Mistake to_mistake(const json::Violation& violation, const TomlDocument& document,
                   const SchemaPlaces& places) {
  Mistake mistake{Severity::error, document.value_position(violation.path),
                  key_path(document.root, violation.path), violation.message, ""};
  const bool about_the_name = violation.schema_path.find("/propertyNames") != std::string::npos;
  const bool unknown_key = keyword_of(violation) == "additionalProperties";
  if (about_the_name || unknown_key) mistake.position = document.key_position(violation.path);
  if (about_the_name) {
    mistake.remedy = places.remedy_for_key(violation.path);
  } else if (!unknown_key && violation.message.find("did you mean") == std::string::npos) {
    const std::vector<std::string> parts = pointer_parts(violation.path);
    mistake.remedy = places.remedy_at(violation.path, parts.empty() ? "" : parts.back());
  }
  return mistake;
}

}  // namespace

SchemaCheck check_against_schema(const TomlDocument& document, std::string_view text) {
  const json::value own = parse_own_schema(text);
  const auto schema = json::Schema::compile(own);
  if (!schema) throw std::logic_error("the embedded schema: " + schema.error().message);
  const SchemaPlaces places(own.as_object());
  SchemaCheck checked{{}, document};
  for (const json::Violation& violation : schema->validate(document.root)) {
    checked.mistakes.push_back(to_mistake(violation, document, places));
    remove(checked.sound.root, violation.path);
  }
  return checked;
}

}  // namespace muster::config
