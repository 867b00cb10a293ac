// Any bytes as a worker configuration, then edits of it: never a crash; a right configuration stays
// right, says what was asked for, and is never refused for its layout.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/rules/document.hpp>
#include <muster/rules/edit.hpp>

#include "require.hpp"

namespace {

using namespace muster::rules;

// What the document holds at a path of a rule; null if nothing.
const Node* find_value(const Document& document, const std::string& rule_id, const Path& path) {
  const auto rule = document.find_rule(rule_id);
  const Node* node = rule ? &document.rules[*rule].values : nullptr;
  for (const auto& key : path) node = node ? node->find(key) : nullptr;
  return node;
}

std::shared_ptr<const Document> edited(std::string_view text, const Edit& edit) {
  const auto result = edit_text(text, std::vector<Edit>{edit});
  if (!result) {
    REQUIRE(result.error().error_class != muster::ErrorClass::unsupported);
    REQUIRE(!result.error().message.empty());
    return nullptr;
  }
  const auto parsed = parse_toml(*result, "edited.toml");
  REQUIRE(parsed.document != nullptr);
  return parsed.document;
}

void set(std::string_view text, const std::string& rule_id, const Path& path) {
  if (const auto after = edited(text, SetValue{rule_id, path, "\"new\""})) {
    const auto* node = find_value(*after, rule_id, path);
    REQUIRE(node && node->scalar() && *node->scalar() == muster::json::value("new"));
  }
  edited(text, SetValue{rule_id, path, "{ a = [1, { b = 2 }], c.d = 3 }"});
  edited(text, SetValue{rule_id, path, "[]"});
}

void unset(std::string_view text, const std::string& rule_id, const Path& path) {
  if (const auto after = edited(text, RemoveValue{rule_id, path}))
    REQUIRE(find_value(*after, rule_id, path) == nullptr);
}

void edit_values(std::string_view text, const std::string& rule_id, const Node& node, Path& path,
                 int& budget) {
  for (const auto& member : *node.table()) {
    if (--budget < 0) return;
    path.push_back(member.name);
    set(text, rule_id, path);
    unset(text, rule_id, path);
    if (member.node.is_table()) edit_values(text, rule_id, member.node, path, budget);
    path.pop_back();
  }
}

void edit_rules(std::string_view text, const Document& document) {
  const auto& first = document.rules.front().rule_id;
  const auto& last = document.rules.back().rule_id;
  int budget = 6;
  Path path;
  edit_values(text, last, document.rules.back().values, path, budget);
  set(text, first, {"new key", "deep", "er"});
  set(text, last, {"aws", "new"});
  edited(text, SetCondition{last, "region", {"us-*", "eu-*"}});
  edited(text, SetConditions{first, ""});
  edited(text, AddUnset{last, {"aws", "x y"}});
  edited(text, SetDescription{first, "described"});
  if (const auto after =
          edited(text, AddRule{"added by a fuzzer", "new", {RulePlace::Where::first}}))
    REQUIRE(after->rules.front().rule_id == "added by a fuzzer");
  // These may be refused for their layout: other tables may stand between the parts of a rule.
  for (const Edit& edit : {Edit(MoveRule{last, {RulePlace::Where::first}}), Edit(RemoveRule{last})})
    if (const auto result = edit_text(text, std::vector<Edit>{edit}))
      REQUIRE(parse_toml(*result, "edited.toml").document != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_toml(text, "fuzz.toml");
  if (parsed.document) {
    edit_rules(text, *parsed.document);
  } else {
    // Not right, but maybe TOML: whatever comes out, it must not crash.
    (void)edit_text(text, std::vector<Edit>{SetValue{"a", {"b"}, "1"}});
    (void)edit_text(text, std::vector<Edit>{AddRule{"a", "b"}, SetValue{"a", {"b", "c"}, "1"}});
  }
  return 0;
}
