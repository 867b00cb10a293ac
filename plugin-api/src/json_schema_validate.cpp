#include <algorithm>
#include <array>

#include <muster/nearest.hpp>
#include <muster/plural.hpp>

#include "json_schema_validation.hpp"

namespace muster::json {
namespace schema_detail {
namespace {

unsigned type_of(const value& item) {
  switch (item.kind()) {
    case boost::json::kind::null:
      return type_null;
    case boost::json::kind::bool_:
      return type_boolean;
    case boost::json::kind::string:
      return type_string;
    case boost::json::kind::array:
      return type_array;
    case boost::json::kind::object:
      return type_object;
    default:
      return is_integer(item) ? type_integer | type_number : type_number;
  }
}

std::string names_of(unsigned types) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 7> names{{
      {type_null, "null"},
      {type_boolean, "a boolean"},
      {type_integer, "an integer"},
      {type_number, "a number"},
      {type_string, "a string"},
      {type_array, "an array"},
      {type_object, "an object"},
  }};
  std::string out;
  for (const auto& [bit, name] : names)
    if (types & bit) out += (out.empty() ? "" : " or ") + std::string(name);
  return out;
}

// "3.5 is a number"; what needs no explanation is only named.
std::string described(const value& item) {
  if (item.is_structured() || item.is_null()) return "is " + std::string(kind_name(item));
  return excerpt(item) + " is " + std::string(kind_name(item));
}

// The instance's size for Evaluated; scalars have nothing to evaluate.
std::size_t size_of(const value& instance) {
  if (instance.is_object()) return instance.get_object().size();
  return instance.is_array() ? instance.get_array().size() : 0;
}

}  // namespace

bool Validation::check(const Node& node, const value& instance, const Where& where, Evaluated* seen,
                       Sink sink) {
  if (!gave_up_.empty()) return false;
  if (++steps_ > max_steps) gave_up_ = "it takes too many steps to check this";
  if (depth_ >= max_depth)
    gave_up_ = "it is nested too deeply to be checked, or the schema refers to itself without end";
  if (!gave_up_.empty()) return false;
  const bool enters = scope_.empty() || scope_.back() != node.resource;
  if (enters) scope_.push_back(node.resource);
  ++depth_;
  // What a failed subschema looked at does not count, so it gets a list of its own.
  Evaluated own;
  const bool tracks = seen || node.unevaluated_items || node.unevaluated_properties;
  if (tracks) own.resize(size_of(instance));
  Frame frame{node, instance, where, tracks ? &own : nullptr, sink};
  check_all(frame);
  if (frame.valid && seen)
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i]) (*seen)[i] = true;
  --depth_;
  if (enters) scope_.pop_back();
  return frame.valid;
}

void Validation::check_all(Frame& frame) {
  if (frame.node.never) return frame.fail("", "nothing is allowed here");
  check_refs(frame);
  if (!frame.done()) check_value(frame);
  if (!frame.done() && frame.instance.is_number()) check_number(frame);
  if (!frame.done() && frame.instance.is_string()) check_string(frame);
  if (!frame.done() && frame.instance.is_array()) check_array(frame);
  if (!frame.done() && frame.instance.is_object()) check_object(frame);
  if (!frame.done()) check_combinations(frame);
  if (!frame.done()) check_unevaluated(frame);
}

// Another node against the same instance.
bool Validation::in_place(Frame& frame, const Node& node, Sink sink) {
  return check(node, frame.instance, frame.where, frame.seen, sink);
}

void Validation::check_refs(Frame& frame) {
  if (frame.node.ref) frame.require(in_place(frame, *frame.node.ref, frame.sink));
  if (!frame.node.dynamic_ref) return;
  const DynamicRef& ref = *frame.node.dynamic_ref;
  const Node* target = ref.otherwise;
  if (ref.anchor)
    for (const int resource : scope_)
      if (const auto found = program_.dynamic_anchors.find({resource, *ref.anchor});
          found != program_.dynamic_anchors.end()) {
        target = found->second;
        break;
      }
  frame.require(in_place(frame, *target, frame.sink));
}

void Validation::check_value(Frame& frame) {
  const Node& node = frame.node;
  if (node.types && !(node.types & type_of(frame.instance)))
    frame.fail("type",
               described(frame.instance) + ", but " + names_of(node.types) + " is expected");
  if (node.constant && !equal(*node.constant, frame.instance))
    frame.fail("const",
               "must be " + excerpt(*node.constant) + ", but is " + excerpt(frame.instance));
  if (!node.allowed) return;
  const auto is_it = [&](const value& one) { return equal(one, frame.instance); };
  if (std::any_of(node.allowed->begin(), node.allowed->end(), is_it)) return;
  std::string known;
  std::vector<std::string_view> words;
  for (const value& one : *node.allowed) {
    if (known.size() < 200) known += (known.empty() ? "" : ", ") + excerpt(one);
    if (one.is_string()) words.push_back(view(one.get_string()));
  }
  std::string message = excerpt(frame.instance) + " is not one of " + known;
  if (frame.instance.is_string())
    if (const auto near = nearest(view(frame.instance.get_string()), words))
      message += "; did you mean " + in_quotes(*near) + "?";
  frame.fail("enum", message);
}

void Validation::check_number(Frame& frame) {
  const Node& node = frame.node;
  const auto bound = [&](const std::optional<value>& limit, std::string_view keyword,
                         auto is_outside, std::string_view relation) {
    if (limit && is_outside(compare_numbers(frame.instance, *limit)))
      frame.fail(keyword, excerpt(frame.instance) + " must be " + std::string(relation) + " " +
                              excerpt(*limit));
  };
  bound(
      node.minimum, "minimum", [](int order) { return order < 0; }, "at least");
  bound(
      node.maximum, "maximum", [](int order) { return order > 0; }, "at most");
  bound(
      node.exclusive_minimum, "exclusiveMinimum", [](int order) { return order <= 0; },
      "greater than");
  bound(
      node.exclusive_maximum, "exclusiveMaximum", [](int order) { return order >= 0; },
      "less than");
  if (node.multiple_of && !is_multiple(frame.instance, *node.multiple_of))
    frame.fail("multipleOf",
               excerpt(frame.instance) + " must be a multiple of " + excerpt(*node.multiple_of));
}

void Validation::check_string(Frame& frame) {
  const Node& node = frame.node;
  const std::string_view text = view(frame.instance.get_string());
  if (node.min_length || node.max_length) {
    const std::size_t length = code_points(text);
    if (node.min_length && length < *node.min_length)
      frame.fail("minLength", in_quotes(text) + " has " + count_of(length, "character") +
                                  ", but at least " + std::to_string(*node.min_length) +
                                  " are needed");
    if (node.max_length && length > *node.max_length)
      frame.fail("maxLength", in_quotes(text) + " has " + count_of(length, "character") +
                                  ", but at most " + std::to_string(*node.max_length) +
                                  " are allowed");
  }
  if (node.pattern && !node.pattern->matches_part_of(text))
    frame.fail("pattern", in_quotes(text) + " does not match the pattern " + node.pattern->text());
  if (node.format && !node.format->matches(text))
    frame.fail("format", in_quotes(text) + " is not " + std::string(node.format->description));
}

void Validation::check_combinations(Frame& frame) {
  const Node& node = frame.node;
  for (const Node* part : node.all_of) {
    if (frame.done()) return;
    frame.require(in_place(frame, *part, frame.sink));
  }
  if (!node.any_of.empty() && !frame.done()) check_any_of(frame);
  if (!node.one_of.empty() && !frame.done()) check_one_of(frame);
  if (node.negated && !frame.done() &&
      check(*node.negated, frame.instance, frame.where, nullptr, nullptr))
    frame.fail("not", excerpt(frame.instance) + " has a form that is ruled out here");
  if (node.condition && !frame.done()) check_condition(frame);
}

void Validation::check_any_of(Frame& frame) {
  bool any = false;
  for (const Node* branch : frame.node.any_of) {
    any = in_place(frame, *branch, nullptr) || any;
    if (any && !frame.seen) return;  // with someone asking, every branch's answer counts
  }
  if (!any) frame.fail("anyOf", frame.sink ? closest_failure(frame, frame.node.any_of) : "");
}

void Validation::check_one_of(Frame& frame) {
  std::string fits;
  int count = 0;
  for (std::size_t i = 0; i < frame.node.one_of.size(); ++i) {
    if (!in_place(frame, *frame.node.one_of[i], nullptr)) continue;
    fits += (count++ ? ", " : "") + std::to_string(i + 1);
  }
  if (count == 0) frame.fail("oneOf", frame.sink ? closest_failure(frame, frame.node.one_of) : "");
  if (count > 1)
    frame.fail("oneOf", "must have exactly one of the " +
                            count_of(frame.node.one_of.size(), "allowed form") +
                            ", but has those with the numbers " + fits);
}

// Of several alternatives that all failed, people want to hear about the one they meant: the one
// that got furthest into the instance.
std::string Validation::closest_failure(Frame& frame, const Nodes& branches) {
  const auto depth = [](const Violation& one) {
    return std::count(one.path.begin(), one.path.end(), '/');
  };
  const std::string here = frame.where.pointer();
  std::vector<Violation> best;
  for (const Node* branch : branches) {
    std::vector<Violation> found;
    check(*branch, frame.instance, frame.where, nullptr, &found);
    if (found.empty()) continue;
    if (best.empty() || depth(found[0]) > depth(best[0]) ||
        (depth(found[0]) == depth(best[0]) && found.size() < best.size()))
      best = std::move(found);
  }
  std::string message =
      "has none of the " + count_of(branches.size(), "allowed form") + "; closest: ";
  if (best.empty()) return message + "none";
  const std::string below = best[0].path.substr(std::min(here.size(), best[0].path.size()));
  return message + (below.empty() ? "" : below + ": ") + best[0].message;
}

void Validation::check_condition(Frame& frame) {
  const Node* next = in_place(frame, *frame.node.condition, nullptr) ? frame.node.consequence
                                                                     : frame.node.alternative;
  if (next) frame.require(in_place(frame, *next, frame.sink));
}

}  // namespace schema_detail

std::string to_string(const Violation& violation) {
  return violation.path.empty() ? violation.message : violation.path + ": " + violation.message;
}

std::vector<Violation> Schema::validate(const value& instance) const {
  return schema_detail::Validation(*program_).run(instance);
}

}  // namespace muster::json
