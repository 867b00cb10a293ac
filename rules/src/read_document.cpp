#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <muster/rules/document.hpp>

#include "reader.hpp"
#include "source_text.hpp"

namespace muster::rules {
namespace {

using std::string;

const std::vector<string> document_keys = {"workerTypes", "rules"};
const std::vector<string> rule_keys = {"ruleId", "description", "conditions", "unset", "values"};

class DocumentReader : private Reader {
 public:
  DocumentReader(const string& file, const Limits& limits) : Reader(file, limits) {
    document_->file = file;
    document_->id = std::filesystem::path(file).stem().string();
  }

  Parsed read(ParsedNode&& source) {
    add(std::move(source.problems));
    set_partial(source.partial);
    if (source.root && source.root->is_table())
      read_root(std::move(*source.root));
    else if (source.root)
      wrong_type(*source.root, "", "a table with workerTypes and rules");
    Parsed parsed;
    parsed.problems = take_problems();
    if (!has_errors(parsed.problems))
      parsed.document = std::move(document_);
    else if (!document_->worker_types.empty() || !document_->rules.empty())
      parsed.incomplete = std::move(document_);
    return parsed;
  }

 private:
  void read_root(Node&& root) {
    refuse_unknown_keys(root, "", document_keys);
    if (const Node* types = root.find("workerTypes"))
      read_worker_types(*types);
    else
      missing({1, 1}, "workerTypes", "is missing", "name at least one: workerTypes = [\"build\"]");
    if (Node* rules = root.find("rules"))
      read_rules(*rules);
    else
      missing({1, 1}, "rules", "is missing", "add at least one [[rules]]");
  }

  void read_worker_types(const Node& node) {
    const string key = "workerTypes";
    const auto* items = node.array();
    if (!items) return wrong_type(node, key, "a list of strings", "write [\"...\"]");
    if (items->empty())
      return error(node.value, key, "is empty", "name at least one worker type", "emptyList");
    if (items->size() > limits().max_worker_types)
      return error(node.value, key,
                   "has " + std::to_string(items->size()) + " entries, more than the " +
                       std::to_string(limits().max_worker_types) + " allowed",
                   "split the file", "tooManyWorkerTypes");
    std::map<string, Position, std::less<>> seen;
    for (std::size_t i = 0; i < items->size(); ++i)
      read_worker_type((*items)[i], join_index(key, i), seen);
  }

  void read_worker_type(const Node& node, const string& key,
                        std::map<string, Position, std::less<>>& seen) {
    const json::string* name = expect_string(node, key);
    if (!name) return;
    if (name->empty())
      return error(node.value, key, "is an empty string", "name the worker type", "emptyString");
    const auto allowed = [](char c) {
      return static_cast<unsigned char>(c) > ' ' && c != '/' && c != 0x7f;
    };
    if (!std::all_of(name->begin(), name->end(), allowed))
      return error(node.value, key,
                   in_quotes(*name) +
                       " holds a blank, a slash or a control character, which no workerPoolId may",
                   "use letters, digits and -", "badWorkerType");
    const auto [first, is_new] = seen.emplace(*name, node.value);
    if (!is_new)
      return error(node.value, key,
                   "the worker type " + in_quotes(*name) + " occurs twice, first in line " +
                       std::to_string(first->second.line),
                   "remove one", "duplicateWorkerType");
    document_->worker_types.push_back({string(*name), node.value});
  }

  void read_rules(Node& node) {
    auto* items = std::get_if<Node::Array>(&node.content);
    if (!items)
      return wrong_type(node, "rules", "a list of tables",
                        "each rule is a table that begins with [[rules]] (in JSON: an object)");
    if (items->empty())
      return error(node.value, "rules", "is empty", "add at least one rule", "emptyList");
    if (items->size() > limits().max_rules)
      return error(node.value, "rules",
                   "has " + std::to_string(items->size()) + " rules, more than the " +
                       std::to_string(limits().max_rules) + " allowed",
                   "split the file", "tooManyRules");
    for (std::size_t i = 0; i < items->size(); ++i) {
      const string path = join_index("rules", i);
      if ((*items)[i].is_table())
        read_rule((*items)[i], path);
      else
        wrong_type((*items)[i], path, "a table",
                   "each rule is a table that begins with [[rules]] (in JSON: an object)");
    }
  }

  void read_rule(Node& node, const string& path) {
    refuse_unknown_keys(node, path, rule_keys);
    Rule rule;
    rule.position = node.table()->empty() ? node.value : node.table()->front().node.key;
    read_rule_id(node, path, rule);
    if (const Node* description = node.find("description"))
      if (const auto* text = expect_string(*description, path + ".description"))
        rule.description = string(*text);
    if (const Node* conditions = node.find("conditions")) {
      rule.conditions_position = conditions->key;
      read_conditions(*conditions, path + ".conditions", rule);
    }
    if (const Node* unset = node.find("unset")) read_unset(*unset, path + ".unset", rule);
    rule.values.content = Node::Table{};
    rule.values.key = rule.values.value = rule.position;
    if (Node* values = node.find("values")) {
      if (values->is_table())
        rule.values = std::move(*values);
      else
        wrong_type(*values, path + ".values", "a table", "write [rules.values]");
    }
    document_->rules.push_back(std::move(rule));
  }

  void read_rule_id(const Node& node, const string& path, Rule& rule) {
    const string key = path + ".ruleId";
    const Node* id = node.find("ruleId");
    if (!id)
      return missing(node.value, key, "is missing",
                     "give the rule a name that tools can edit it by");
    const json::string* text = expect_string(*id, key);
    if (!text) return;
    if (text->empty())
      return error(id->value, key, "is an empty string", "name the rule", "emptyString");
    rule.rule_id = string(*text);
    const auto [first, is_new] = rule_ids_.emplace(rule.rule_id, id->value);
    if (!is_new)
      error(id->value, key,
            "the ruleId " + in_quotes(rule.rule_id) + " occurs twice, first in line " +
                std::to_string(first->second.line),
            "ruleIds are unique in their file: rename one", "duplicateRuleId");
  }

  void read_conditions(const Node& node, const string& path, Rule& rule) {
    if (node.is_null()) return;  // JSON's way to say "always"
    if (node.is_table()) {
      rule.any_of.push_back(read_clause(node, path));
      if (rule.any_of.back().all_of.empty()) rule.any_of.clear();
      return;
    }
    const auto* items = node.array();
    if (!items) return wrong_type(node, path, "a table or a list of tables");
    if (items->empty())
      return error(node.value, path, "is an empty list, which would match nothing",
                   "remove the key if the rule applies always", "emptyList");
    if (items->size() > limits().max_clauses)
      return error(node.value, path,
                   "has " + std::to_string(items->size()) + " alternatives, more than the " +
                       std::to_string(limits().max_clauses) + " allowed",
                   "use lists of globs, or several rules", "tooManyConditions");
    for (std::size_t i = 0; i < items->size(); ++i) {
      const string key = join_index(path, i);
      if ((*items)[i].is_table())
        rule.any_of.push_back(read_clause((*items)[i], key));
      else
        wrong_type((*items)[i], key, "a table");
    }
  }

  Clause read_clause(const Node& node, const string& path) {
    Clause clause;
    clause.position = node.value;
    for (const Member& member : *node.table()) {
      Condition condition;
      condition.fact = member.name;
      condition.position = member.node.key;
      const string key = join_key(path, member.name);
      if (member.name.empty())
        error(member.node.key, key, "a fact needs a name", "name the fact", "emptyString");
      if (const auto* items = member.node.array())
        read_patterns(member.node, *items, key, condition);
      else
        read_pattern(member.node, key, condition);
      clause.all_of.push_back(std::move(condition));
    }
    return clause;
  }

  void read_patterns(const Node& node, const Node::Array& items, const string& key,
                     Condition& condition) {
    if (items.empty())
      return error(node.value, key, "is an empty list, which would match nothing",
                   "write at least one glob, or remove the condition", "emptyList");
    if (items.size() > limits().max_patterns)
      return error(node.value, key,
                   "has " + std::to_string(items.size()) + " globs, more than the " +
                       std::to_string(limits().max_patterns) + " allowed",
                   "use a wider glob", "tooManyConditions");
    for (std::size_t i = 0; i < items.size(); ++i)
      read_pattern(items[i], join_index(key, i), condition);
  }

  void read_pattern(const Node& node, const string& key, Condition& condition) {
    if (!node.scalar() || !node.scalar()->is_string())
      return wrong_type(node, key,
                        key.ends_with(']') ? "a string" : "a string or a list of strings");
    const auto& text = node.scalar()->get_string();
    auto glob =
        Glob::parse(std::string_view(text.data(), text.size()), limits().max_pattern_length);
    if (!glob)
      return error(node.value, key, glob.error().message,
                   "* ? [a-z] are special, \\ makes them literal", "badGlob");
    condition.any_of.push_back(std::move(*glob));
    condition.pattern_positions.push_back(node.value);
  }

  void read_unset(const Node& node, const string& key, Rule& rule) {
    const auto* items = node.array();
    if (!items) return wrong_type(node, key, "a list of strings", "write [\"aws.KeyName\"]");
    for (std::size_t i = 0; i < items->size(); ++i) {
      const string item_key = join_index(key, i);
      const json::string* text = expect_string((*items)[i], item_key);
      if (!text) continue;
      auto path = parse_path(std::string_view(text->data(), text->size()));
      if (path)
        rule.unset.push_back({std::move(*path), (*items)[i].value});
      else
        error((*items)[i].value, item_key,
              in_quotes(*text) + " is not a dotted path: " + path.error().message,
              "write it as aws.KeyName or aws.\"key.with.dots\"", "badPath");
    }
  }

  std::shared_ptr<Document> document_ = std::make_shared<Document>();
  std::map<string, Position, std::less<>> rule_ids_;
};

}  // namespace

std::optional<std::size_t> Document::find_rule(std::string_view rule_id) const {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const Rule& rule) { return rule.rule_id == rule_id; });
  if (found == rules.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rules.begin());
}

Parsed parse_toml(std::string_view text, const string& file_name, const Limits& limits) {
  return DocumentReader(file_name, limits).read(toml_to_node(text, file_name, limits));
}

Parsed parse_json(std::string_view text, const string& file_name, const Limits& limits) {
  return DocumentReader(file_name, limits).read(json_to_node(text, file_name, limits));
}

Parsed parse_document(std::string_view text, const string& file_name, const Limits& limits) {
  return file_name.ends_with(".json") ? parse_json(text, file_name, limits)
                                      : parse_toml(text, file_name, limits);
}

}  // namespace muster::rules
