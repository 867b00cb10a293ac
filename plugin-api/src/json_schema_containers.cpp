#include <unordered_map>

#include <muster/nearest.hpp>
#include <muster/plural.hpp>

#include "json_schema_validation.hpp"

namespace muster::json::schema_detail {

void Validation::check_array(Frame& frame) {
  const Node& node = frame.node;
  const std::size_t size = frame.instance.get_array().size();
  if (node.min_items && size < *node.min_items)
    frame.fail("minItems", "has " + count_of(size, "item") + ", but at least " +
                               std::to_string(*node.min_items) + " are needed");
  if (node.max_items && size > *node.max_items)
    frame.fail("maxItems", "has " + count_of(size, "item") + ", but at most " +
                               std::to_string(*node.max_items) + " are allowed");
  if (!frame.done() && node.unique_items) check_unique(frame);
  if (!frame.done()) check_items(frame);
  if (!frame.done() && node.contains) check_contains(frame);
}

void Validation::check_items(Frame& frame) {
  const Node& node = frame.node;
  const array& items = frame.instance.get_array();
  for (std::size_t i = 0; i < items.size() && !frame.done() && gave_up_.empty(); ++i) {
    const Node* schema = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
    if (!schema) break;
    const Where where{&frame.where, {}, i, true};
    if (schema->never && i >= node.prefix_items.size())
      frame.fail_at(where, node.items_keyword,
                    "at most " + count_of(node.prefix_items.size(), "item") + " may stand here");
    else
      frame.require(check(*schema, items[i], where, nullptr, frame.sink));
    frame.mark(i);
  }
}

void Validation::check_contains(Frame& frame) {
  const Node& node = frame.node;
  const array& items = frame.instance.get_array();
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Where where{&frame.where, {}, i, true};
    if (!check(*node.contains, items[i], where, nullptr, nullptr)) continue;
    ++found;
    if (node.contains_evaluates) frame.mark(i);
  }
  if (found < node.min_contains)
    frame.fail("contains", "has " + count_of(found, "item") +
                               " of the required form, but at least " +
                               std::to_string(node.min_contains) + " must be");
  if (node.max_contains && found > *node.max_contains)
    frame.fail("maxContains", "has " + count_of(found, "item") + " of a form of which at most " +
                                  std::to_string(*node.max_contains) + " may be");
}

void Validation::check_unique(Frame& frame) {
  const array& items = frame.instance.get_array();
  std::unordered_multimap<std::size_t, std::size_t> by_hash;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t key = hash(items[i]);
    const auto [first, last] = by_hash.equal_range(key);
    for (auto other = first; other != last; ++other) {
      if (++steps_ > max_steps) {
        gave_up_ = "it takes too many steps to check this";
        return;
      }
      if (equal(items[i], items[other->second]))
        return frame.fail_at(Where{&frame.where, {}, i, true}, "uniqueItems",
                             excerpt(items[i]) + " is already at index " +
                                 std::to_string(other->second) + ", but no item may occur twice");
    }
    by_hash.emplace(key, i);
  }
}

void Validation::check_object(Frame& frame) {
  const Node& node = frame.node;
  const object& members = frame.instance.get_object();
  if (node.min_properties && members.size() < *node.min_properties)
    frame.fail("minProperties", "has " + count_of(members.size(), "key") + ", but at least " +
                                    std::to_string(*node.min_properties) + " are needed");
  if (node.max_properties && members.size() > *node.max_properties)
    frame.fail("maxProperties", "has " + count_of(members.size(), "key") + ", but at most " +
                                    std::to_string(*node.max_properties) + " are allowed");
  check_required(frame);
  if (!node.properties.empty() || !node.pattern_properties.empty() || node.additional_properties ||
      node.property_names) {
    std::size_t index = 0;
    for (const auto& member : members) {
      if (frame.done() || !gave_up_.empty()) return;
      check_member(frame, index++, {member.key().data(), member.key().size()}, member.value());
    }
  }
  if (!frame.done()) check_dependents(frame);
}

void Validation::check_required(Frame& frame) {
  for (const std::string& key : frame.node.required) {
    if (frame.done()) return;
    if (!frame.instance.get_object().contains(key))
      frame.fail("required", "lacks the key " + in_quotes(key));
  }
}

void Validation::check_member(Frame& frame, std::size_t index, std::string_view key,
                              const value& member) {
  const Node& node = frame.node;
  const Where where{&frame.where, key, 0, false};
  if (node.property_names) {
    std::vector<Violation> inner;
    if (!check(*node.property_names, value(key), where, nullptr, frame.sink ? &inner : nullptr))
      frame.fail_at(
          where, "propertyNames",
          "the key itself is not allowed: " + (inner.empty() ? in_quotes(key) : inner[0].message));
  }
  bool known = false;
  if (const auto found = node.properties.find(key); found != node.properties.end()) {
    known = true;
    frame.require(check(*found->second, member, where, nullptr, frame.sink));
  }
  for (const auto& [pattern, schema] : node.pattern_properties) {
    if (!pattern.matches_part_of(key)) continue;
    known = true;
    frame.require(check(*schema, member, where, nullptr, frame.sink));
  }
  if (!known && node.additional_properties) {
    known = true;
    if (node.additional_properties->never)
      unknown_key(frame, where, key);
    else
      frame.require(check(*node.additional_properties, member, where, nullptr, frame.sink));
  }
  if (known) frame.mark(index);
}

void Validation::unknown_key(Frame& frame, const Where& where, std::string_view key) {
  std::string message = "the key " + in_quotes(key) + " is not known";
  if (frame.sink) {
    std::vector<std::string_view> known;
    for (const auto& property : frame.node.properties) known.emplace_back(property.first);
    if (const auto near = nearest(key, known)) {
      message += "; did you mean " + in_quotes(*near) + "?";
    } else if (!known.empty()) {
      std::string list;
      for (const std::string_view one : known)
        if (list.size() < 200) list += (list.empty() ? "" : ", ") + std::string(one);
      message += "; known are " + list;
    }
  }
  frame.fail_at(where, "additionalProperties", message);
}

void Validation::check_dependents(Frame& frame) {
  const object& members = frame.instance.get_object();
  for (const auto& [key, needed] : frame.node.dependent_required) {
    if (!members.contains(key)) continue;
    for (const std::string& other : needed)
      if (!members.contains(other))
        frame.fail("dependentRequired",
                   "lacks the key " + in_quotes(other) + ", which " + in_quotes(key) + " needs");
  }
  for (const auto& [key, schema] : frame.node.dependent_schemas)
    if (!frame.done() && members.contains(key)) frame.require(in_place(frame, *schema, frame.sink));
}

void Validation::check_unevaluated(Frame& frame) {
  const Node& node = frame.node;
  const auto judge = [&](const Node& schema, const value& child, const Where& where,
                         std::string_view keyword, const std::string& message) {
    if (schema.never)
      frame.fail_at(where, keyword, message);
    else
      frame.require(check(schema, child, where, nullptr, frame.sink));
  };
  std::size_t i = 0;
  if (frame.instance.is_array() && node.unevaluated_items)
    for (const value& item : frame.instance.get_array()) {
      if (const std::size_t index = i++; !(*frame.seen)[index]) {
        judge(*node.unevaluated_items, item, Where{&frame.where, {}, index, true},
              "unevaluatedItems", "no item may stand here");
        frame.mark(index);
      }
    }
  if (frame.instance.is_object() && node.unevaluated_properties)
    for (const auto& member : frame.instance.get_object()) {
      if (const std::size_t index = i++; !(*frame.seen)[index]) {
        const std::string_view key(member.key().data(), member.key().size());
        judge(*node.unevaluated_properties, member.value(), Where{&frame.where, key, 0, false},
              "unevaluatedProperties", "the key " + in_quotes(key) + " is not known");
        frame.mark(index);
      }
    }
}

}  // namespace muster::json::schema_detail
