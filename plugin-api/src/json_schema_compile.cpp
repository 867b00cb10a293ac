#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <unordered_map>

#include "json_schema_program.hpp"
#include "json_schema_uri.hpp"
#include "json_schema_value.hpp"

namespace muster::json::schema_detail {
namespace {

struct Place {       // where a subschema stands
  std::string base;  // the URI that its references are relative to, without fragment
  int resource = 0;
  Draft draft = Draft::draft2020_12;
  std::string path;  // for people: "#/properties/name"
};

const value* string_member(const object& schema, std::string_view key) {
  const value* found = schema.if_contains(key);
  return found && found->is_string() ? found : nullptr;
}

std::string text_of(const value& text) {
  return std::string(text.get_string());
}

std::string without_fragment(const std::string& uri) {
  return uri.substr(0, uri.find('#'));
}

// Works with lists of what is still to do instead of recursion, so that no schema is too deep.
class Compiler final : public Linker {
 public:
  Compiler(const SchemaRegistry& others, const SchemaOptions& options)
      : others_(others), options_(options) {}

  Result<std::shared_ptr<const Program>> run(const value& root);

  const Node* subschema(const value& schema, const std::string& below) override;
  Result<const Node*> reference(const std::string& text) override;
  Result<DynamicRef> dynamic_reference(const std::string& text) override;

 private:
  Result<Draft> draft_named(const std::string& uri, Draft otherwise) const;
  void index(const value& top, Place place);
  void index_children(const object& schema, const Place& place,
                      std::vector<std::pair<const value*, Place>>& to_do);
  void identify(const object& schema, const value& self, Place& place);
  Result<const value*> locate(const std::string& uri);
  Result<const value*> follow_pointer(const value& root, std::string_view pointer);
  Node* node_of(const value& schema);
  Result<void> fill_pending();

  const SchemaRegistry& others_;
  const SchemaOptions& options_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
  std::unordered_map<const value*, Place> places_;
  std::unordered_map<const value*, Node*> nodes_;
  std::map<std::string, const value*> resources_;  // by URI without fragment
  std::map<std::string, const value*> anchors_;    // by URI with fragment
  std::map<std::pair<int, std::string>, const value*> dynamic_anchors_;
  std::deque<const value*> pending_;
  const Place* current_ = nullptr;  // of the node that is being filled
  int resource_count_ = 0;
  bool has_dynamic_refs_ = false;
  std::string problem_;  // found while indexing
};

Result<Draft> Compiler::draft_named(const std::string& uri, Draft otherwise) const {
  constexpr std::array<std::pair<std::string_view, Draft>, 4> known{
      {{"://json-schema.org/draft-06/schema", Draft::draft6},
       {"://json-schema.org/draft-07/schema", Draft::draft7},
       {"://json-schema.org/draft/2019-09/schema", Draft::draft2019_09},
       {"://json-schema.org/draft/2020-12/schema", Draft::draft2020_12}}};
  std::string name = without_fragment(uri);
  for (int hop = 0; hop < 8; ++hop) {  // a metaschema of one's own names the one it builds on
    for (const auto& [suffix, draft] : known)
      if (name.starts_with("http") && name.ends_with(suffix)) return draft;
    if (name.ends_with("json-schema.org/draft-04/schema") ||
        name.ends_with("json-schema.org/draft-03/schema"))
      return Error::invalid("\"$schema\" names " + name +
                            ", but drafts 6, 7, 2019-09 and 2020-12 are understood");
    const auto found = others_.find(name);
    if (found == others_.end() || !found->second.is_object()) return otherwise;
    const value* next = string_member(found->second.get_object(), "$schema");
    if (!next) return otherwise;
    name = without_fragment(text_of(*next));
  }
  return otherwise;
}

// Takes the identifiers of a subschema: $id opens a resource of its own, anchors name places.
void Compiler::identify(const object& schema, const value& self, Place& place) {
  const bool old = place.draft <= Draft::draft7;
  const value* id = string_member(schema, "$id");
  if (id && !(old && schema.contains("$ref"))) {
    const Uri uri = split_uri(text_of(*id));
    const std::string absolute = resolve_uri(place.base, without_fragment(text_of(*id)));
    if (!text_of(*id).starts_with('#')) {
      place.base = without_fragment(absolute);
      place.resource = resource_count_++;
      resources_.emplace(place.base, &self);
    }
    if (old && uri.fragment && !uri.fragment->empty())
      anchors_.emplace(place.base + "#" + *uri.fragment, &self);
  }
  if (place.draft >= Draft::draft2019_09)
    if (const value* anchor = string_member(schema, "$anchor"))
      anchors_.emplace(place.base + "#" + text_of(*anchor), &self);
  if (place.draft >= Draft::draft2020_12)
    if (const value* anchor = string_member(schema, "$dynamicAnchor")) {
      anchors_.emplace(place.base + "#" + text_of(*anchor), &self);
      dynamic_anchors_.emplace(std::pair(place.resource, text_of(*anchor)), &self);
    }
  if (place.draft == Draft::draft2019_09)
    if (const value* flag = schema.if_contains("$recursiveAnchor"); flag && *flag == value(true))
      dynamic_anchors_.emplace(std::pair(place.resource, std::string()), &self);
}

void Compiler::index_children(const object& schema, const Place& place,
                              std::vector<std::pair<const value*, Place>>& to_do) {
  constexpr std::array<std::string_view, 12> one{"items",
                                                 "additionalItems",
                                                 "contains",
                                                 "unevaluatedItems",
                                                 "additionalProperties",
                                                 "propertyNames",
                                                 "not",
                                                 "if",
                                                 "unevaluatedProperties",
                                                 "then",
                                                 "else",
                                                 "contentSchema"};
  constexpr std::array<std::string_view, 5> list{"allOf", "anyOf", "oneOf", "prefixItems", "items"};
  constexpr std::array<std::string_view, 6> map{"properties",  "patternProperties", "$defs",
                                                "definitions", "dependentSchemas",  "dependencies"};
  const auto below = [&](const value& child, const std::string& path) {
    if (!child.is_object() && !child.is_bool()) return;
    Place at = place;
    at.path += path;
    to_do.emplace_back(&child, std::move(at));
  };
  for (const auto& member : schema) {
    const std::string_view key(member.key().data(), member.key().size());
    const value& v = member.value();
    const auto is_in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), key) != names.end();
    };
    const std::string path = "/" + std::string(key);
    if (v.is_array() && is_in(list)) {
      std::size_t i = 0;
      for (const value& item : v.get_array()) below(item, path + "/" + std::to_string(i++));
    } else if (v.is_object() && is_in(map)) {
      for (const auto& child : v.get_object())
        below(child.value(), path + "/" + pointer_escaped(child.key()));
    } else if (is_in(one)) {
      below(v, path);
    }
  }
}

// Gives every subschema below `top` its place. What is below an unknown keyword gets one when
// a reference leads there.
void Compiler::index(const value& top, Place start) {
  std::vector<std::pair<const value*, Place>> to_do{{&top, std::move(start)}};
  while (!to_do.empty()) {
    auto [schema, place] = std::move(to_do.back());
    to_do.pop_back();
    if (places_.contains(schema)) continue;
    if (schema->is_object()) {
      const object& members = schema->get_object();
      const value* named = string_member(members, "$schema");
      if (named && (schema == &top || members.contains("$id"))) {
        const auto draft = draft_named(text_of(*named), place.draft);
        if (draft)
          place.draft = *draft;
        else
          problem_ = draft.error().message;
      }
      identify(members, *schema, place);
      index_children(members, place, to_do);
    }
    places_.emplace(schema, std::move(place));
  }
}

Node* Compiler::node_of(const value& schema) {
  Node*& node = nodes_[&schema];
  if (!node) {
    program_->nodes.push_back(std::make_unique<Node>());
    node = program_->nodes.back().get();
    const Place& place = places_.at(&schema);
    node->path = place.path;
    node->resource = place.resource;
    pending_.push_back(&schema);
  }
  return node;
}

const Node* Compiler::subschema(const value& schema, const std::string& below) {
  if (!places_.contains(&schema)) {
    Place place = *current_;
    place.path += below;
    index(schema, std::move(place));
  }
  return node_of(schema);
}

Result<const value*> Compiler::follow_pointer(const value& root, std::string_view pointer) {
  const value* at = &root;
  Place place = places_.at(at);
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    std::string key;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const bool escape = token[i] == '~' && i + 1 < token.size();
      key += !escape ? token[i] : token[++i] == '1' ? '/' : '~';
    }
    const value* next = nullptr;
    if (at->is_object()) {
      next = at->get_object().if_contains(key);
    } else if (at->is_array()) {
      std::size_t i = 0;
      const auto end = std::from_chars(key.data(), key.data() + key.size(), i);
      if (end.ptr == key.data() + key.size() && !key.empty()) next = at->get_array().if_contains(i);
    }
    if (!next) return Error::invalid("there is no " + excerpt(value(key)) + " at " + place.path);
    at = next;
    place.path += "/" + pointer_escaped(key);
    if (const auto known = places_.find(at); known != places_.end()) place = known->second;
  }
  if (!at->is_object() && !at->is_bool())
    return Error::invalid("the value is " + std::string(kind_name(*at)) + " and not a schema");
  index(*at, std::move(place));
  return at;
}

Result<const value*> Compiler::locate(const std::string& uri) {
  const auto hash = uri.find('#');
  const std::string document = uri.substr(0, hash);
  const std::string fragment =
      hash == std::string::npos ? "" : percent_decoded(std::string_view(uri).substr(hash + 1));
  if (!resources_.contains(document)) {
    auto found = others_.find(document);
    if (found == others_.end()) found = others_.find(document + "#");
    if (found == others_.end())
      return Error::invalid("no schema with the address \"" + document + "\" is known");
    resources_.emplace(document, &found->second);
    index(found->second, {document, resource_count_++, options_.draft, document + "#"});
    if (!problem_.empty()) return Error::invalid(problem_);
  }
  const value& root = *resources_.at(document);
  if (fragment.empty()) return &root;
  if (fragment.starts_with('/')) return follow_pointer(root, fragment);
  if (const auto found = anchors_.find(document + "#" + fragment); found != anchors_.end())
    return found->second;
  // An anchor may belong to the base that a document was given and not to the one it claims.
  if (const auto found = anchors_.find(places_.at(&root).base + "#" + fragment);
      found != anchors_.end())
    return found->second;
  return Error::invalid("no anchor \"" + fragment + "\" is known there");
}

Result<const Node*> Compiler::reference(const std::string& text) {
  const auto target = locate(resolve_uri(current_->base, text));
  if (!target) return Error::invalid("\"" + text + "\" leads nowhere: " + target.error().message);
  return node_of(**target);
}

Result<DynamicRef> Compiler::dynamic_reference(const std::string& text) {
  has_dynamic_refs_ = true;
  const auto target = locate(resolve_uri(current_->base, text));
  if (!target) return Error::invalid("\"" + text + "\" leads nowhere: " + target.error().message);
  DynamicRef result{node_of(**target), std::nullopt};
  const Place& place = places_.at(*target);
  std::string name;
  if (place.draft >= Draft::draft2020_12) name = split_uri(text).fragment.value_or("");
  if (const auto anchor = dynamic_anchors_.find({place.resource, name});
      anchor != dynamic_anchors_.end() && anchor->second == *target)
    result.anchor = name;
  return result;
}

Result<void> Compiler::fill_pending() {
  while (!pending_.empty()) {
    const value& schema = *pending_.front();
    pending_.pop_front();
    Node& node = *nodes_.at(&schema);
    if (schema.is_bool()) {
      node.never = !schema.get_bool();
      continue;
    }
    const Place place = places_.at(&schema);
    current_ = &place;
    const NodeContext context{place.draft, options_.check_formats};
    if (auto filled = fill_node(node, schema.get_object(), context, *this); !filled) return filled;
    if (!problem_.empty()) return Error::invalid(problem_);
  }
  return {};
}

Result<std::shared_ptr<const Program>> Compiler::run(const value& root) {
  if (!root.is_object() && !root.is_bool())
    return Error::invalid("a schema must be an object, true or false, but is " + excerpt(root));
  resources_.emplace("", &root);
  index(root, {"", resource_count_++, options_.draft, "#"});
  if (!problem_.empty()) return Error::invalid(problem_);
  node_of(root);
  std::size_t linked = 0;
  do {  // filling nodes may bring in further documents with further anchors
    if (auto filled = fill_pending(); !filled) return filled.error();
    if (!has_dynamic_refs_ || linked == dynamic_anchors_.size()) break;
    linked = dynamic_anchors_.size();
    for (const auto& [name, schema] : dynamic_anchors_)
      program_->dynamic_anchors[name] = node_of(*schema);
  } while (true);
  return std::shared_ptr<const Program>(program_);
}

}  // namespace
}  // namespace muster::json::schema_detail

namespace muster::json {

Schema::Schema(std::shared_ptr<const schema_detail::Program> program)
    : program_(std::move(program)) {}

Result<Schema> Schema::compile(const value& schema, const SchemaRegistry& others,
                               const SchemaOptions& options) {
  auto program = schema_detail::Compiler(others, options).run(schema);
  if (!program) return program.error();
  return Schema(std::move(*program));
}

}  // namespace muster::json
