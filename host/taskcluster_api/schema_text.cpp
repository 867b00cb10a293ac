#include "host/taskcluster_api/schema_text.hpp"

#include <algorithm>
#include <vector>

namespace muster::taskcluster_api {
namespace {

std::vector<std::string> split_pointer(std::string_view pointer) {
  std::vector<std::string> parts;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const auto end = std::min(pointer.find('/'), pointer.size());
    std::string part(pointer.substr(0, end));
    for (std::size_t at = 0; (at = part.find('~', at)) != std::string::npos; ++at)
      part.replace(at, 2, part.compare(at, 2, "~1") == 0 ? "/" : "~");
    parts.push_back(std::move(part));
    pointer.remove_prefix(end);
  }
  return parts;
}

// Finds the part of our schemas that speaks of a place in a document. Knows of the keywords what
// our own schemas use.
class Finder {
 public:
  Finder(const std::map<std::string, json::value>& schemas, std::string path)
      : schemas_(schemas), path_(std::move(path)) {
    at_ = object_at(path_, {});
  }

  const json::object* find(const std::vector<std::string>& place, std::size_t depth) {
    follow_references();
    for (std::size_t i = 0; i < depth && at_; ++i) {
      const json::value* properties = at_->if_contains("properties");
      const json::value* next = properties && properties->is_object()
                                    ? properties->get_object().if_contains(place[i])
                                    : at_->if_contains("items");
      at_ = next && next->is_object() ? &next->get_object() : nullptr;
      follow_references();
    }
    return at_;
  }

 private:
  const json::object* object_at(const std::string& path, const std::vector<std::string>& pointer) {
    const auto document = schemas_.find(path);
    const json::value* value = document == schemas_.end() ? nullptr : &document->second;
    for (const std::string& key : pointer)
      value = value && value->is_object() ? value->get_object().if_contains(key) : nullptr;
    return value && value->is_object() ? &value->get_object() : nullptr;
  }

  void follow_references() {
    for (int i = 0; i < 8 && at_; ++i) {
      const json::value* reference = at_->if_contains("$ref");
      if (!reference || !reference->is_string()) return;
      const std::string_view text = reference->get_string();
      const auto hash = std::min(text.find('#'), text.size());
      if (hash > 0)
        path_ = path_.substr(0, path_.rfind('/') + 1) + std::string(text.substr(0, hash));
      const std::string_view rest = text.substr(hash);
      at_ = object_at(path_, split_pointer(rest.size() > 1 ? rest.substr(1) : ""));
    }
  }

  const std::map<std::string, json::value>& schemas_;
  std::string path_;
  const json::object* at_ = nullptr;
};

std::string quoted_part(const std::string& message) {
  const auto open = message.find('"'), close = message.rfind('"');
  return open == close ? "" : message.substr(open + 1, close - open - 1);
}

std::string type_words(const json::value& type) {
  if (type.is_string()) return std::string(type.get_string());
  std::string words;
  if (type.is_array())
    for (const json::value& one : type.get_array())
      words += (words.empty() ? "" : ",") + std::string(one.as_string());
  return words;
}

// Empty: there are no known words for it.
std::string words_for(const std::string& keyword, const json::value& wanted) {
  const auto number = [&] { return json::write(wanted); };
  if (keyword == "type") return "must be " + type_words(wanted);
  if (keyword == "pattern") return "must match pattern " + json::write(wanted);
  if (keyword == "format") return "must match format " + json::write(wanted);
  if (keyword == "minLength") return "must NOT have fewer than " + number() + " characters";
  if (keyword == "maxLength") return "must NOT have more than " + number() + " characters";
  if (keyword == "minProperties") return "must NOT have fewer than " + number() + " properties";
  if (keyword == "minimum") return "must be >= " + number();
  if (keyword == "maximum") return "must be <= " + number();
  if (keyword == "enum") return "must be equal to one of the allowed values";
  if (keyword == "oneOf") return "must match exactly one schema in oneOf";
  return {};
}

}  // namespace

std::string in_known_words(const json::Violation& violation,
                           const std::map<std::string, json::value>& schemas,
                           const std::string& path) {
  const std::string keyword = violation.schema_path.substr(violation.schema_path.rfind('/') + 1);
  if (keyword == "required")
    return violation.path + " must have required property '" + quoted_part(violation.message) + "'";
  const std::vector<std::string> place = split_pointer(violation.path);
  if (keyword == "additionalProperties" && !place.empty())
    return violation.path.substr(0, violation.path.rfind('/')) +
           " must NOT have additional properties: " + json::write(json::value(place.back()));
  const json::object* schema = Finder(schemas, path).find(place, place.size());
  const json::value* wanted = schema ? schema->if_contains(keyword) : nullptr;
  const std::string known = wanted ? words_for(keyword, *wanted) : "";
  return violation.path + " " + (known.empty() ? violation.message : known);
}

}  // namespace muster::taskcluster_api
