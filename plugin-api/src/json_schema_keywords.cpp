#include <algorithm>
#include <array>

#include "json_schema_program.hpp"
#include "json_schema_value.hpp"

namespace muster::json::schema_detail {
namespace {

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

class NodeFiller {
 public:
  NodeFiller(Node& node, const object& schema, NodeContext context, Linker& linker)
      : node_(node), schema_(schema), context_(context), linker_(linker) {}

  Result<void> run();

 private:
  using Handler = void (NodeFiller::*)(const value&);
  struct Keyword {
    std::string_view name;
    Draft since;
    Draft until;
    Handler handler;
  };
  static const Keyword* find(std::string_view name);

  void fail(std::string clause) {
    if (problem_.empty()) problem_ = std::move(clause);
  }
  void expected(std::string_view what, const value& found) {
    fail("must be " + std::string(what) + ", but is " + excerpt(found));
  }

  const Node* schema(const value& v, const std::string& below = "");
  Nodes schemas(const value& v);
  std::map<std::string, const Node*, std::less<>> schema_map(const value& v);
  std::vector<std::string> strings(const value& v);
  std::optional<std::uint64_t> count(const value& v);
  std::optional<value> number(const value& v);
  std::optional<Pattern> pattern(std::string_view text);

  // One for each keyword whose meaning is more than one line.
  void on_ref(const value& v);
  void on_dynamic_ref(const value& v);
  void on_type(const value& v);
  void on_enum(const value& v);
  void on_multiple_of(const value& v);
  void on_format(const value& v);
  void on_prefix_items(const value& v);
  void on_items(const value& v);
  void on_additional_items(const value& v);
  void on_pattern_properties(const value& v);
  void on_dependencies(const value& v);
  void on_dependent_required(const value& v);

  void on_const(const value& v) { node_.constant = v; }
  void on_minimum(const value& v) { node_.minimum = number(v); }
  void on_maximum(const value& v) { node_.maximum = number(v); }
  void on_exclusive_minimum(const value& v) { node_.exclusive_minimum = number(v); }
  void on_exclusive_maximum(const value& v) { node_.exclusive_maximum = number(v); }
  void on_min_length(const value& v) { node_.min_length = count(v); }
  void on_max_length(const value& v) { node_.max_length = count(v); }
  void on_pattern(const value& v) {
    if (!v.is_string()) return expected("a regular expression", v);
    node_.pattern = pattern(view(v.get_string()));
  }
  void on_min_items(const value& v) { node_.min_items = count(v); }
  void on_max_items(const value& v) { node_.max_items = count(v); }
  void on_unique_items(const value& v) {
    if (!v.is_bool()) return expected("true or false", v);
    node_.unique_items = v.get_bool();
  }
  void on_contains(const value& v) {
    node_.contains = schema(v);
    node_.contains_evaluates = context_.draft >= Draft::draft2020_12;
  }
  void on_min_contains(const value& v) { node_.min_contains = count(v).value_or(1); }
  void on_max_contains(const value& v) { node_.max_contains = count(v); }
  void on_unevaluated_items(const value& v) { node_.unevaluated_items = schema(v); }
  void on_min_properties(const value& v) { node_.min_properties = count(v); }
  void on_max_properties(const value& v) { node_.max_properties = count(v); }
  void on_required(const value& v) { node_.required = strings(v); }
  void on_properties(const value& v) { node_.properties = schema_map(v); }
  void on_additional_properties(const value& v) { node_.additional_properties = schema(v); }
  void on_property_names(const value& v) { node_.property_names = schema(v); }
  void on_unevaluated_properties(const value& v) { node_.unevaluated_properties = schema(v); }
  void on_dependent_schemas(const value& v) { node_.dependent_schemas.merge(schema_map(v)); }
  void on_all_of(const value& v) { node_.all_of = schemas(v); }
  void on_any_of(const value& v) { node_.any_of = schemas(v); }
  void on_one_of(const value& v) { node_.one_of = schemas(v); }
  void on_not(const value& v) { node_.negated = schema(v); }
  void on_if(const value& v) { node_.condition = schema(v); }
  void on_then(const value& v) { node_.consequence = schema(v); }
  void on_else(const value& v) { node_.alternative = schema(v); }

  Node& node_;
  const object& schema_;
  NodeContext context_;
  Linker& linker_;
  std::string_view keyword_;
  std::string problem_;
};

const NodeFiller::Keyword* NodeFiller::find(std::string_view name) {
  using F = NodeFiller;
  constexpr auto first = Draft::draft6;
  constexpr auto d7 = Draft::draft7;
  constexpr auto d2019 = Draft::draft2019_09;
  constexpr auto last = Draft::draft2020_12;
  static constexpr std::array keywords{
      Keyword{"$ref", first, last, &F::on_ref},
      Keyword{"$recursiveRef", d2019, d2019, &F::on_dynamic_ref},
      Keyword{"$dynamicRef", last, last, &F::on_dynamic_ref},
      Keyword{"type", first, last, &F::on_type},
      Keyword{"enum", first, last, &F::on_enum},
      Keyword{"const", first, last, &F::on_const},
      Keyword{"minimum", first, last, &F::on_minimum},
      Keyword{"maximum", first, last, &F::on_maximum},
      Keyword{"exclusiveMinimum", first, last, &F::on_exclusive_minimum},
      Keyword{"exclusiveMaximum", first, last, &F::on_exclusive_maximum},
      Keyword{"multipleOf", first, last, &F::on_multiple_of},
      Keyword{"minLength", first, last, &F::on_min_length},
      Keyword{"maxLength", first, last, &F::on_max_length},
      Keyword{"pattern", first, last, &F::on_pattern},
      Keyword{"format", first, last, &F::on_format},
      Keyword{"minItems", first, last, &F::on_min_items},
      Keyword{"maxItems", first, last, &F::on_max_items},
      Keyword{"uniqueItems", first, last, &F::on_unique_items},
      Keyword{"prefixItems", last, last, &F::on_prefix_items},
      Keyword{"items", first, last, &F::on_items},
      Keyword{"additionalItems", first, d2019, &F::on_additional_items},
      Keyword{"contains", first, last, &F::on_contains},
      Keyword{"minContains", d2019, last, &F::on_min_contains},
      Keyword{"maxContains", d2019, last, &F::on_max_contains},
      Keyword{"unevaluatedItems", d2019, last, &F::on_unevaluated_items},
      Keyword{"minProperties", first, last, &F::on_min_properties},
      Keyword{"maxProperties", first, last, &F::on_max_properties},
      Keyword{"required", first, last, &F::on_required},
      Keyword{"properties", first, last, &F::on_properties},
      Keyword{"patternProperties", first, last, &F::on_pattern_properties},
      Keyword{"additionalProperties", first, last, &F::on_additional_properties},
      Keyword{"propertyNames", first, last, &F::on_property_names},
      Keyword{"unevaluatedProperties", d2019, last, &F::on_unevaluated_properties},
      Keyword{"dependencies", first, last, &F::on_dependencies},
      Keyword{"dependentRequired", d2019, last, &F::on_dependent_required},
      Keyword{"dependentSchemas", d2019, last, &F::on_dependent_schemas},
      Keyword{"allOf", first, last, &F::on_all_of},
      Keyword{"anyOf", first, last, &F::on_any_of},
      Keyword{"oneOf", first, last, &F::on_one_of},
      Keyword{"not", first, last, &F::on_not},
      Keyword{"if", d7, last, &F::on_if},
      Keyword{"then", d7, last, &F::on_then},
      Keyword{"else", d7, last, &F::on_else},
  };
  const auto found = std::find_if(keywords.begin(), keywords.end(),
                                  [&](const Keyword& keyword) { return keyword.name == name; });
  return found == keywords.end() ? nullptr : &*found;
}

Result<void> NodeFiller::run() {
  // Up to draft 7 a reference stands for the whole subschema, whatever else is written beside it.
  const bool only_ref = context_.draft <= Draft::draft7 && schema_.contains("$ref");
  for (const auto& member : schema_) {
    const std::string_view name(member.key().data(), member.key().size());
    const Keyword* keyword = find(name);
    if (!keyword || context_.draft < keyword->since || context_.draft > keyword->until) continue;
    if (only_ref && name != "$ref") continue;
    keyword_ = keyword->name;
    (this->*keyword->handler)(member.value());
    if (!problem_.empty()) {
      const std::string place = node_.path + "/" + std::string(name);
      return Error::invalid("the schema is wrong at " + place + ": " + problem_).with_code(place);
    }
  }
  return {};
}

const Node* NodeFiller::schema(const value& v, const std::string& below) {
  if (!v.is_object() && !v.is_bool()) {
    expected("a schema (an object, true or false)", v);
    return nullptr;
  }
  return linker_.subschema(v, "/" + std::string(keyword_) + below);
}

Nodes NodeFiller::schemas(const value& v) {
  Nodes nodes;
  if (!v.is_array() || v.get_array().empty()) {
    expected("a list of at least one schema", v);
    return nodes;
  }
  for (const value& item : v.get_array())
    nodes.push_back(schema(item, "/" + std::to_string(nodes.size())));
  return nodes;
}

std::map<std::string, const Node*, std::less<>> NodeFiller::schema_map(const value& v) {
  std::map<std::string, const Node*, std::less<>> nodes;
  if (!v.is_object()) {
    expected("an object of schemas", v);
    return nodes;
  }
  for (const auto& member : v.get_object())
    nodes.emplace(member.key(), schema(member.value(), "/" + pointer_escaped(member.key())));
  return nodes;
}

std::vector<std::string> NodeFiller::strings(const value& v) {
  std::vector<std::string> texts;
  if (!v.is_array()) {
    expected("a list of strings", v);
    return texts;
  }
  for (const value& item : v.get_array()) {
    if (!item.is_string()) {
      expected("a list of strings", v);
      return texts;
    }
    texts.emplace_back(item.get_string());
  }
  return texts;
}

std::optional<std::uint64_t> NodeFiller::count(const value& v) {
  if (v.is_number() && is_integer(v) && compare_numbers(v, value(0)) >= 0) {
    if (v.is_uint64()) return v.get_uint64();
    if (v.is_int64()) return static_cast<std::uint64_t>(v.get_int64());
    if (v.get_double() < 1e15) return static_cast<std::uint64_t>(v.get_double());
  }
  expected("a whole number of at least 0", v);
  return std::nullopt;
}

std::optional<value> NodeFiller::number(const value& v) {
  if (v.is_number()) return v;
  expected("a number", v);
  return std::nullopt;
}

std::optional<Pattern> NodeFiller::pattern(std::string_view text) {
  auto compiled = Pattern::compile(text);
  if (compiled) return std::move(*compiled);
  fail("the pattern " + excerpt(value(text)) + " cannot be used: " + compiled.error().message);
  return std::nullopt;
}

void NodeFiller::on_ref(const value& v) {
  if (!v.is_string()) return expected("a string", v);
  const auto target = linker_.reference(std::string(v.get_string()));
  if (!target) return fail(target.error().message);
  node_.ref = *target;
}

void NodeFiller::on_dynamic_ref(const value& v) {
  if (!v.is_string()) return expected("a string", v);
  const auto target = linker_.dynamic_reference(std::string(v.get_string()));
  if (!target) return fail(target.error().message);
  node_.dynamic_ref = *target;
}

void NodeFiller::on_type(const value& v) {
  constexpr std::array<std::pair<std::string_view, TypeBit>, 7> names{{{"null", type_null},
                                                                       {"boolean", type_boolean},
                                                                       {"integer", type_integer},
                                                                       {"number", type_number},
                                                                       {"string", type_string},
                                                                       {"array", type_array},
                                                                       {"object", type_object}}};
  const auto add = [&](const value& item) {
    for (const auto& [name, bit] : names)
      if (item.is_string() && view(item.get_string()) == name) {
        node_.types |= bit;
        return;
      }
    expected("one of null, boolean, integer, number, string, array, object", item);
  };
  if (!v.is_array()) return add(v);
  for (const value& item : v.get_array()) add(item);
}

void NodeFiller::on_enum(const value& v) {
  if (!v.is_array()) return expected("a list of values", v);
  node_.allowed.emplace(v.get_array().begin(), v.get_array().end());
}

void NodeFiller::on_multiple_of(const value& v) {
  if (!v.is_number() || compare_numbers(v, value(0)) <= 0)
    return expected("a number greater than 0", v);
  node_.multiple_of = v;
}

void NodeFiller::on_format(const value& v) {
  if (!v.is_string()) return expected("a string", v);
  if (context_.check_formats) node_.format = find_format(view(v.get_string()));
}

void NodeFiller::on_prefix_items(const value& v) {
  node_.prefix_items = schemas(v);
}

void NodeFiller::on_items(const value& v) {
  node_.items_keyword = "items";
  if (!v.is_array()) {
    node_.items = schema(v);
  } else if (context_.draft >= Draft::draft2020_12) {
    fail("must be one schema; a list of schemas is spelled \"prefixItems\" in draft 2020-12");
  } else if (!v.get_array().empty()) {
    node_.prefix_items = schemas(v);
  }
}

void NodeFiller::on_additional_items(const value& v) {
  const value* items = schema_.if_contains("items");
  if (!items || !items->is_array()) return;  // one schema for all: nothing is additional
  node_.items = schema(v);
  node_.items_keyword = "additionalItems";
}

void NodeFiller::on_pattern_properties(const value& v) {
  if (!v.is_object()) return expected("an object of schemas", v);
  for (const auto& member : v.get_object()) {
    auto compiled = pattern({member.key().data(), member.key().size()});
    const Node* node = schema(member.value(), "/" + pointer_escaped(member.key()));
    if (!compiled || !node) return;
    node_.pattern_properties.emplace_back(std::move(*compiled), node);
  }
}

void NodeFiller::on_dependencies(const value& v) {
  if (!v.is_object()) return expected("an object", v);
  for (const auto& member : v.get_object()) {
    if (member.value().is_array())
      node_.dependent_required.emplace(member.key(), strings(member.value()));
    else
      node_.dependent_schemas.emplace(member.key(),
                                      schema(member.value(), "/" + pointer_escaped(member.key())));
  }
}

void NodeFiller::on_dependent_required(const value& v) {
  if (!v.is_object()) return expected("an object", v);
  for (const auto& member : v.get_object())
    node_.dependent_required.emplace(member.key(), strings(member.value()));
}

}  // namespace

Result<void> fill_node(Node& node, const object& schema, NodeContext context, Linker& linker) {
  return NodeFiller(node, schema, context, linker).run();
}

std::string pointer_escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace muster::json::schema_detail
