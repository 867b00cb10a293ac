// Random documents in random layouts, random edits: the edited text says what was asked for, and
// lines that have nothing to do with it stay.
#include <algorithm>

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <muster/json.hpp>
#include <muster/rules/edit.hpp>

#include "random_document.hpp"

namespace muster::rules {
namespace {

json::value to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    json::object out;
    for (const auto& [key, value] : *table) out[std::string(key.str())] = to_json(value);
    return out;
  }
  if (const auto* array = node.as_array()) {
    json::array out;
    for (const auto& value : *array) out.push_back(to_json(value));
    return out;
  }
  if (const auto* text = node.as_string()) return json::value(text->get());
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_integer()) return number->get();
  return node.as_floating_point()->get();
}

json::object* find_rule(json::object& document, const std::string& id) {
  for (auto& rule : document["rules"].as_array())
    if (rule.as_object()["ruleId"] == json::value(id)) return &rule.as_object();
  return nullptr;
}

// The edits once more, on JSON, as plainly as can be. False: it must be refused.
struct Intended {
  json::object& document;

  bool operator()(const SetValue& edit) {
    auto& rule = *find_rule(document, edit.rule_id);
    if (!rule.contains("values")) rule["values"] = json::object{};
    json::value* at = &rule["values"];
    for (const auto& key : edit.path) {
      if (!at->is_object()) return false;
      auto& table = at->as_object();
      if (!table.contains(key))
        table[key] = &key == &edit.path.back() ? json::value() : json::object{};
      at = &table[key];
    }
    *at = to_json(*toml::parse("v = " + edit.value).get("v"));
    return true;
  }
  bool operator()(const RemoveValue& edit) {
    auto& rule = *find_rule(document, edit.rule_id);
    if (!rule.contains("values")) return false;
    json::value* at = &rule["values"];
    for (const auto& key : edit.path) {
      if (!at->is_object() || !at->as_object().contains(key)) return false;
      if (&key == &edit.path.back())
        at->as_object().erase(key);
      else
        at = &at->as_object()[key];
    }
    return true;
  }
  bool operator()(const SetCondition& edit) {
    auto& rule = *find_rule(document, edit.rule_id);
    auto& conditions = rule["conditions"];
    if (conditions.is_null()) conditions = json::object{};
    auto& clause =
        conditions.is_array() ? conditions.as_array()[0].as_object() : conditions.as_object();
    if (edit.globs.size() == 1)
      clause[edit.fact] = edit.globs[0];
    else
      clause[edit.fact] = json::array(edit.globs.begin(), edit.globs.end());
    return true;
  }
  bool operator()(const AddUnset& edit) {
    auto& rule = *find_rule(document, edit.rule_id);
    if (!rule.contains("unset")) rule["unset"] = json::array{};
    auto& list = rule["unset"].as_array();
    const json::value path(format_path(edit.path));
    if (std::find(list.begin(), list.end(), path) == list.end()) list.push_back(path);
    return true;
  }
  bool operator()(const SetDescription& edit) {
    (*find_rule(document, edit.rule_id))["description"] = edit.description;
    return true;
  }
  bool operator()(const AddRule& edit) {
    json::array& rules = document["rules"].as_array();
    rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(index_for(edit.place)),
                 json::object{{"ruleId", edit.rule_id}, {"description", edit.description}});
    return true;
  }
  bool operator()(const RemoveRule& edit) {
    auto& rules = document["rules"].as_array();
    rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(index_of(edit.rule_id)));
    return true;
  }
  bool operator()(const MoveRule& edit) {
    if (edit.place.rule_id == edit.rule_id) return false;
    auto& rules = document["rules"].as_array();
    const auto from = index_of(edit.rule_id);
    const json::value rule = rules[from];
    rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(from));
    rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(index_for(edit.place)), rule);
    return true;
  }
  template <class Other>
  bool operator()(const Other&) {
    ADD_FAILURE() << "this edit is not generated";
    return false;
  }

 private:
  std::size_t index_of(const std::string& id) {
    auto& rules = document["rules"].as_array();
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules[i].as_object()["ruleId"] == json::value(id)) return i;
    return rules.size();
  }
  std::size_t index_for(const RulePlace& place) {
    switch (place.where) {
      case RulePlace::Where::first:
        return 0;
      case RulePlace::Where::last:
        return document["rules"].as_array().size();
      case RulePlace::Where::before:
        return index_of(place.rule_id);
      default:
        return index_of(place.rule_id) + 1;
    }
  }
};

// Tables that a removal left empty may stay or go (they stay where comments stand in them).
json::value without_empty(const json::value& value) {
  if (!value.is_object()) return value;
  json::object out;
  for (const auto& member : value.get_object()) {
    auto child = without_empty(member.value());
    if (!(child.is_object() && child.get_object().empty())) out[member.key()] = std::move(child);
  }
  return out;
}
json::value comparable(const json::object& document, bool removal) {
  json::object out = document;
  if (removal)
    for (auto& rule : out["rules"].as_array()) rule = without_empty(rule);
  if (out["rules"].as_array().empty()) out.erase("rules");
  return out;
}

Path random_path(Dice& dice, const json::object& rule) {
  Path path;
  const json::value* at = rule.if_contains("values");
  while (path.empty() || dice.chance(60)) {
    const auto* table = at ? at->if_object() : nullptr;
    if (table && !table->empty() && dice.chance(70)) {
      const auto& member =
          *(table->begin() + static_cast<std::ptrdiff_t>(dice.below(table->size())));
      path.emplace_back(member.key());
      at = &member.value();
    } else {
      path.push_back(dice.pick(key_names));
      at = table ? table->if_contains(path.back()) : nullptr;
    }
    if (path.size() > 5) break;
  }
  return path;
}

Edit random_edit(Dice& dice, json::object& document) {
  const auto& rules = document["rules"].as_array();
  const auto id_of = [&] {
    return std::string(rules[dice.below(rules.size())].at("ruleId").as_string());
  };
  const auto place = [&]() -> RulePlace {
    const auto where = static_cast<RulePlace::Where>(dice.below(4));
    const bool beside = where == RulePlace::Where::before || where == RulePlace::Where::after;
    return {where, beside ? id_of() : ""};
  };
  const auto id = id_of();
  auto& rule = *find_rule(document, id);
  switch (dice.below(10)) {
    case 0:
      return RemoveValue{id, random_path(dice, rule)};
    case 1:
      return RemoveValue{id, random_path(dice, rule)};
    case 2:
      return SetCondition{id, dice.pick<std::string>({"region", "zone"}),
                          dice.chance(50) ? std::vector<std::string>{"x*"}
                                          : std::vector<std::string>{"us-*", "it's"}};
    case 3:
      return AddUnset{id, random_path(dice, rule)};
    case 4:
      return AddRule{"new" + std::to_string(dice.below(1'000'000)), "N", place()};
    case 5:
      if (rules.size() == 1) return SetDescription{id, "the last one"};
      return RemoveRule{id};
    case 6:
      return MoveRule{id, place()};
    case 7:
      return SetDescription{id, "a \"new\" one"};
    default:
      return SetValue{id, random_path(dice, rule), *to_toml(random_value(dice, 2))};
  }
}

std::size_t comment_count(const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find("# c"); at != std::string::npos; at = text.find("# c", at + 1)) ++count;
  return count;
}

template <class RuleEdit>
const json::value* find_value(json::object& document, const RuleEdit& edit) {
  const json::value* at = find_rule(document, edit.rule_id)->if_contains("values");
  for (const auto& key : edit.path)
    at = at && at->is_object() ? at->get_object().if_contains(key) : nullptr;
  return at;
}

bool all_crlf(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) return false;
  return true;
}

// Edits that only add or move must keep every comment.
bool keeps_comments(const Edit& edit, json::object& document) {
  if (const auto* set = std::get_if<SetValue>(&edit)) {
    const auto* before = find_value(document, *set);
    return !before || !before->is_structured();
  }
  return !std::holds_alternative<RemoveValue>(edit) && !std::holds_alternative<RemoveRule>(edit) &&
         !std::holds_alternative<SetCondition>(edit);
}

TEST(edit_property, an_edited_text_says_what_was_asked_for_and_keeps_the_rest) {
  int applied = 0, refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Dice dice(seed);
    auto document = random_document(dice);
    auto text = Printer(dice).print(document);
    ASSERT_EQ(json::canonical(to_json(toml::parse(text))), json::canonical(document)) << text;
    for (int step = 0; step < 4 && !document["rules"].as_array().empty(); ++step) {
      const auto edit = random_edit(dice, document);
      const bool all_comments = keeps_comments(edit, document);
      auto expected = document;
      const bool possible = std::visit(Intended{expected}, edit);
      const auto result = edit_text(text, std::vector<Edit>{edit});
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step) + " edit " +
                   std::to_string(edit.index()) + "\n" + text);
      if (!possible) {
        ASSERT_FALSE(result) << *result;
        ++refused;
        continue;
      }
      ASSERT_TRUE(result) << result.error().message;
      ++applied;
      const bool removal = std::holds_alternative<RemoveValue>(edit);
      auto now = to_json(toml::parse(*result)).as_object();
      if (!now.contains("rules")) now["rules"] = json::array{};
      ASSERT_EQ(json::canonical(comparable(now, removal)),
                json::canonical(comparable(expected, removal)))
          << *result;
      if (all_comments) {
        ASSERT_EQ(comment_count(*result), comment_count(text)) << *result;
      }
      if (removal && !find_value(document, std::get<RemoveValue>(edit))->is_structured()) {
        ASSERT_GE(comment_count(*result) + 1, comment_count(text)) << *result;
      }
      ASSERT_EQ(result->ends_with('\n'), text.ends_with('\n') || text.empty()) << *result;
      ASSERT_TRUE(text.find("\r\n") == std::string::npos || all_crlf(*result)) << *result;
      document = std::move(now);
      text = *result;
    }
  }
  EXPECT_GT(applied, 7000);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace muster::rules
