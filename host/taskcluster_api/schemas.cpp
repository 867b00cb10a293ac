#include "host/taskcluster_api/schemas.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "host/endpoints/embedded.hpp"
#include "host/taskcluster_api/schema_text.hpp"

namespace muster::taskcluster_api {

std::span<const endpoints::EmbeddedFile> embedded_schemas();  // made by CMake

namespace {

constexpr std::string_view service_folder = "v1/";
constexpr std::string_view metaschema = "/schemas/common/metaschema.json#";

// "v1/worker-full" → "/schemas/worker-manager/v1/worker-full.json"
std::string path_of(std::string_view name) {
  const bool common = !name.starts_with(service_folder);
  return (common ? "/schemas/" : "/schemas/worker-manager/") + std::string(name) + ".json";
}

// First its id and the schema that it is of, as readers expect it.
json::value placed(const json::object& schema, const std::string& root, const std::string& path) {
  json::object document;
  document["$id"] = root + path + "#";
  const json::value* of = schema.if_contains("$schema");
  std::string meta(of ? std::string_view(of->as_string()) : metaschema);
  document["$schema"] = meta.starts_with('/') ? root + meta : meta;
  for (const auto& [key, value] : schema)
    if (key != "$schema") document[key] = value;
  return document;
}

}  // namespace

Schemas::Schemas(std::string root_url) : root_url_(std::move(root_url)) {
  json::SchemaRegistry registry;
  for (const endpoints::EmbeddedFile& embedded : embedded_schemas()) {
    const auto schema = json::parse_object(embedded.text);
    if (!schema) throw std::logic_error(std::string(embedded.name) + schema.error().message);
    const std::string path = path_of(embedded.name);
    json::value& document = documents_[path] = placed(*schema, root_url_, path);
    registry[root_url_ + path] = document;
  }
  for (const endpoints::EmbeddedFile& embedded : embedded_schemas()) {
    std::string_view name = embedded.name;
    if (!name.starts_with(service_folder)) continue;
    auto compiled = json::Schema::compile(documents_.at(path_of(name)), registry,
                                          {.draft = json::Draft::draft6});
    if (!compiled) throw std::logic_error(std::string(name) + ": " + compiled.error().message);
    name.remove_prefix(service_folder.size());
    compiled_.emplace(name, std::move(*compiled));
  }
}

std::optional<std::string> Schemas::refuse(std::string_view name,
                                           const json::value& document) const {
  const auto compiled = compiled_.find(name);
  if (compiled == compiled_.end()) throw std::logic_error("no schema " + std::string(name));
  const auto violations = compiled->second.validate(document);
  if (violations.empty()) return std::nullopt;
  const std::string path = path_of(std::string(service_folder) + std::string(name));
  std::string text =
      "\nSchema Validation Failed!\nRejecting Schema: " + root_url_ + path + "#\nErrors:";
  for (const json::Violation& violation : violations)
    text += "\n  * data" + in_known_words(violation, documents_, path);
  return text;
}

}  // namespace muster::taskcluster_api
