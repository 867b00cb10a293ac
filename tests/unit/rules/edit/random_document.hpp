// Random worker configurations, written in as many layouts as TOML has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/edit.hpp>

namespace muster::rules {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::mt19937 engine_;
};

inline const std::vector<std::string> key_names = {"aws",  "ImageId",  "n",  "a b",
                                                   "disk", "\xC3\xA9", "x.y"};

inline json::value random_value(Dice& dice, int depth) {
  switch (dice.below(depth > 0 ? 8 : 5)) {
    case 0:
      return static_cast<std::int64_t>(dice.below(1000)) - 500;
    case 1:
      return dice.chance(50);
    case 2:
      return static_cast<double>(dice.below(1000)) / 8;
    case 3:
      return json::value(
          dice.pick<std::string>({"", "it's", "a\"b\\c", "ami-1", "# no", "\xE2\x82\xAC"}));
    case 4:
      return json::value("w" + std::to_string(dice.below(100)));
    case 5: {
      json::array array;
      if (dice.chance(30))
        return json::array{json::object{{"size", 1}, {"n", "x"}}, json::object{{"n", 2}}};
      for (auto i = dice.below(4); i-- > 0;) array.push_back(random_value(dice, depth - 1));
      return array;
    }
    default: {
      json::object table;
      for (auto i = dice.below(4); i-- > 0;)
        table[dice.pick(key_names)] = random_value(dice, depth - 1);
      return table;
    }
  }
}

// Writes a document in as many ways as TOML has.
class Printer {
 public:
  explicit Printer(Dice& dice) : dice_(dice) {}

  std::string print(const json::object& document) {
    out_ = dice_.chance(10) ? "\xEF\xBB\xBF" : "";
    filler();
    line("workerTypes = " + value(document.at("workerTypes"), true));
    const auto& rules = document.at("rules").as_array();
    if (dice_.chance(20)) {
      std::string items;
      const bool lines = dice_.chance(50);
      for (std::size_t i = 0; i < rules.size(); ++i) {
        const bool comma = i + 1 < rules.size() || dice_.chance(30);
        items += (lines ? "\n  " : " ") + value(rules[i], false) + (comma ? "," : "") +
                 (lines ? trail() : "");
      }
      line("rules = [" + items + (lines ? "\n]" : " ]"));
    } else {
      for (const auto& rule : rules) print_rule(rule.as_object());
    }
    filler();
    if (dice_.chance(30))
      while (out_.ends_with('\n')) out_.pop_back();
    return dice_.chance(30) ? with_crlf(out_) : out_;
  }

 private:
  static std::string with_crlf(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return out;
  }

  std::string comment() { return "# c" + std::to_string(++comments_) + " = [\"{'"; }
  std::string trail() { return dice_.chance(20) ? "  " + comment() : ""; }
  void line(const std::string& text) { out_ += text + trail() + "\n"; }
  void filler() {
    while (dice_.chance(25)) out_ += dice_.chance(50) ? "\n" : comment() + "\n";
  }

  std::string key(const std::string& name) {
    const bool bare = name.find_first_of(" .\xC3") == std::string::npos && !name.empty();
    if (bare && dice_.chance(80)) return name;
    return dice_.chance(50) ? "'" + name + "'" : "\"" + name + "\"";
  }
  std::string equals() { return dice_.pick<std::string>({"=", " = ", " = ", "   = "}); }

  std::string text(const std::string& content) {
    if (content.find('\'') == std::string::npos && dice_.chance(40))
      return dice_.chance(20) ? "'''" + content + "'''" : "'" + content + "'";
    const auto quoted = toml_string(content);
    return dice_.chance(10) ? "\"\"" + quoted + "\"\"" : quoted;
  }

  std::string value(const json::value& json, bool may_break) {
    if (const auto* string = json.if_string()) return text(std::string(*string));
    if (const auto* array = json.if_array()) {
      const bool lines = may_break && dice_.chance(50);
      std::string items;
      for (std::size_t i = 0; i < array->size(); ++i) {
        const bool last = i + 1 == array->size();
        items += lines && dice_.chance(80) ? trail() + "\n  " : (i == 0 ? "" : " ");
        items += value((*array)[i], lines) + (last && dice_.chance(70) ? "" : ",");
      }
      return "[" + items + (lines && dice_.chance(80) ? trail() + "\n]" : "]");
    }
    if (const auto* object = json.if_object()) {
      std::string items;
      for (const auto& member : *object) {
        items += items.empty() ? "" : ", ";
        items += entry({std::string(member.key())}, member.value());
      }
      return dice_.chance(50) ? "{" + items + "}" : "{ " + items + " }";
    }
    return *to_toml(json);
  }

  // Inside an inline table: maybe as dotted keys.
  std::string entry(std::vector<std::string> keys, const json::value& json) {
    const auto* object = json.if_object();
    if (object && object->size() == 1 && dice_.chance(40)) {
      keys.emplace_back(object->begin()->key());
      return entry(std::move(keys), object->begin()->value());
    }
    return dotted(keys) + equals() + value(json, false);
  }

  std::string dotted(const std::vector<std::string>& keys) {
    std::string out;
    for (const auto& name : keys)
      out += (out.empty() ? "" : dice_.chance(10) ? " . " : ".") + key(name);
    return out;
  }

  void print_dotted(std::vector<std::string> keys, const json::object& object) {
    for (const auto& member : object) {
      keys.emplace_back(member.key());
      const auto* child = member.value().if_object();
      if (child && !child->empty() && dice_.chance(60))
        print_dotted(keys, *child);
      else
        line(dotted(keys) + equals() + value(member.value(), true));
      keys.pop_back();
      filler();
    }
  }

  // [[headers]], one for each element.
  void print_elements(const std::vector<std::string>& keys, const json::array& array) {
    for (const auto& element : array) {
      filler();
      line("[[" + dotted(keys) + "]]");
      for (const auto& member : element.as_object())
        line(key(std::string(member.key())) + equals() + value(member.value(), true));
    }
  }

  static bool can_have_header(const json::value& json) {
    const auto* array = json.if_array();
    return json.is_object() ||
           (array && !array->empty() &&
            std::all_of(array->begin(), array->end(), [](auto& e) { return e.is_object(); }));
  }

  void print_under_headers(const std::vector<std::string>& keys, const json::value& json) {
    if (const auto* array = json.if_array())
      print_elements(keys, *array);
    else
      print_table(keys, json.as_object());
  }

  void print_table(const std::vector<std::string>& keys, const json::object& object) {
    std::vector<std::string> later;
    bool plain = object.empty();
    for (const auto& member : object) {
      if (can_have_header(member.value()) && dice_.chance(50))
        later.emplace_back(member.key());
      else
        plain = true;
    }
    if (plain || dice_.chance(50)) {
      filler();
      line("[" + dotted(keys) + "]");
      for (const auto& member : object) {
        if (std::find(later.begin(), later.end(), member.key()) != later.end()) continue;
        filler();
        const auto* child = member.value().if_object();
        if (child && !child->empty() && dice_.chance(50))
          print_dotted({std::string(member.key())}, *child);
        else
          line(key(std::string(member.key())) + equals() + value(member.value(), true));
      }
    }
    for (const auto& name : later) {
      auto deeper = keys;
      deeper.push_back(name);
      print_under_headers(deeper, object.at(name));
    }
  }

  void print_rule(const json::object& rule) {
    filler();
    line(dice_.chance(90) ? "[[rules]]" : "[[ 'rules' ]]");
    std::vector<std::string> tables;
    for (const auto& member : rule) {
      filler();
      const auto* child = member.value().if_object();
      const auto style = child                             ? dice_.below(4)
                         : can_have_header(member.value()) ? dice_.below(2) * 3
                                                           : 3;
      if (style < 2)
        tables.emplace_back(member.key());
      else if (style == 2 && !child->empty())
        print_dotted({std::string(member.key())}, *child);
      else
        line(key(std::string(member.key())) + equals() + value(member.value(), true));
    }
    for (const auto& name : tables) print_under_headers({"rules", name}, rule.at(name));
  }

  Dice& dice_;
  std::string out_;
  int comments_ = 0;
};

inline json::object random_document(Dice& dice) {
  json::object document;
  document["workerTypes"] = json::array{"w1", "w2"};
  json::array rules;
  for (std::size_t i = 0; i < 1 + dice.below(4); ++i) {
    json::object rule;
    rule["ruleId"] = "r" + std::to_string(i);
    if (dice.chance(70)) rule["description"] = "it's rule " + std::to_string(i);
    if (dice.chance(50))
      rule["conditions"] = json::object{{"region", "us-*"}, {"provider", json::array{"a", "b"}}};
    else if (dice.chance(30))
      rule["conditions"] = json::array{json::object{{"region", "eu"}}};
    if (dice.chance(30)) rule["unset"] = json::array{"aws.n"};
    if (dice.chance(80)) {
      json::object values;
      for (auto k = dice.below(5); k-- > 0;) values[dice.pick(key_names)] = random_value(dice, 3);
      rule["values"] = std::move(values);
    }
    rules.push_back(std::move(rule));
  }
  document["rules"] = std::move(rules);
  return document;
}

}  // namespace muster::rules
