// `muster rule get`: what rules there are, and what one says.
#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/rules/rule.hpp"
#include "cli/rules/target.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

struct RuleGetOptions : RuleOptions {
  std::string key;
};

json::value conditions_json(const rules::Rule& rule) {
  json::array any;
  for (const auto& clause : rule.any_of) {
    json::object all;
    for (const auto& condition : clause.all_of) {
      json::array globs;
      for (const auto& glob : condition.any_of) globs.push_back(json::value(glob.pattern()));
      if (globs.size() == 1)
        all[condition.fact] = globs.front();
      else
        all[condition.fact] = std::move(globs);
    }
    any.push_back(std::move(all));
  }
  if (any.empty()) return nullptr;
  return any.size() == 1 ? any.front() : any;
}

std::string conditions_text(const rules::Rule& rule) {
  std::string text;
  for (const auto& clause : rule.any_of) {
    text += text.empty() ? "" : " or ";
    bool first = true;
    for (const auto& condition : clause.all_of) {
      text += (first ? "" : " ") + condition.fact + "=";
      first = false;
      for (std::size_t i = 0; i < condition.any_of.size(); ++i)
        text += (i ? "," : "") + condition.any_of[i].pattern();
    }
  }
  return text.empty() ? "always" : text;
}

json::object rule_json(const rules::Document& document, const rules::Rule& rule) {
  json::array unset;
  for (const auto& path : rule.unset) unset.push_back(json::value(rules::format_path(path.path)));
  return {{"ruleId", rule.rule_id},
          {"description", rule.description},
          {"file", document.file},
          {"line", rule.position.line},
          {"conditions", conditions_json(rule)},
          {"unset", std::move(unset)},
          {"values", rules::to_json(rule.values)}};
}

void list_rules(const rules::Document& document, bool as_json) {
  if (as_json) {
    json::array rules;
    for (const auto& rule : document.rules) rules.push_back(rule_json(document, rule));
    print_json({{"configuration", document.id}, {"file", document.file}, {"rules", rules}});
    return;
  }
  Table table;
  for (const auto& rule : document.rules)
    table.add({{rule.rule_id, Look::green},
               {conditions_text(rule), Look::cyan},
               {rule.description, Look::plain},
               {document.file + ":" + std::to_string(rule.position.line), Look::dim}});
  print(table.text(Style::of_stdout()));
}

void add_values(Table& table, const rules::Document& document, const rules::Node& node,
                rules::Path& path) {
  for (const auto& member : *node.table()) {
    path.push_back(member.name);
    if (member.node.is_table() && !member.node.table()->empty())
      add_values(table, document, member.node, path);
    else
      table.add({{rules::format_path(path), Look::bold},
                 {show(rules::to_json(member.node)), Look::plain},
                 {document.file + ":" + std::to_string(member.node.key.line), Look::dim}});
    path.pop_back();
  }
}

void print_rule(const rules::Document& document, const rules::Rule& rule, bool as_json) {
  if (as_json) return print_json(rule_json(document, rule));
  const auto style = Style::of_stdout();
  print(style(Look::green, rule.rule_id) + "  " + style(Look::cyan, conditions_text(rule)) + "\n" +
        (rule.description.empty() ? "" : style(Look::dim, rule.description) + "\n"));
  Table table;
  for (const auto& path : rule.unset)
    table.add({{rules::format_path(path.path), Look::bold},
               {"(unset)", Look::yellow},
               {document.file + ":" + std::to_string(path.position.line), Look::dim}});
  rules::Path path;
  if (rule.values.table()) add_values(table, document, rule.values, path);
  print(table.text(style, "  "));
}

void collect_keys(const rules::Node& node, rules::Path& path, std::vector<std::string>& keys) {
  if (!node.table()) return;
  for (const auto& member : *node.table()) {
    path.push_back(member.name);
    keys.push_back(rules::format_path(path));
    collect_keys(member.node, path, keys);
    path.pop_back();
  }
}

// The bare text of a string, for scripts; anything else as JSON.
void print_value(const rules::Rule& rule, const RuleGetOptions& options) {
  const auto path = rules::parse_path(options.key);
  if (!path) fail(exit_usage, "That is not a key: " + path.error().message + ".", options.json);
  const auto* node = &rule.values;
  for (const auto& key : *path) node = node ? node->find(key) : nullptr;
  if (!node) {
    std::vector<std::string> keys;
    rules::Path at;
    collect_keys(rule.values, at, keys);
    const auto near = rules::nearest_name(options.key, keys);
    fail(exit_failed,
         "Rule `" + rule.rule_id + "` does not set `" + options.key + "`" +
             (near.empty() ? "." : "; did you mean `" + near + "`?"),
         options.json);
  }
  const auto value = rules::to_json(*node);
  if (value.is_string() && !options.json)
    print(std::string(value.get_string()) + "\n");
  else if (value.is_structured())
    print_json(value);
  else
    print(show(value) + "\n");
}

void run(const RuleGetOptions& options) {
  const auto target = find_target(options.configuration, options.dir, false, options.json);
  const auto& document = *target.document;
  if (options.rule.empty()) return list_rules(document, options.json);
  const auto index = document.find_rule(options.rule);
  if (!index) {
    std::vector<std::string> ids;
    for (const auto& rule : document.rules) ids.push_back(rule.rule_id);
    const auto near = rules::nearest_name(options.rule, ids);
    fail(exit_usage,
         document.file + ": There is no rule `" + options.rule + "`" +
             (near.empty() ? "." : "; did you mean `" + near + "`?"),
         options.json);
  }
  const auto& rule = document.rules[*index];
  if (options.key.empty())
    print_rule(document, rule, options.json);
  else
    print_value(rule, options);
}

}  // namespace

void add_rule_get(CLI::App& rule) {
  auto options = std::make_shared<RuleGetOptions>();
  auto* command = rule.add_subcommand("get", "Show all rules, one rule, or one value of a rule");
  command->footer("Example: muster rule get build ec2-ami aws.ImageId");
  add_common(*command, *options, false);
  command->add_option("key", options->key, "Only this value: aws.ImageId");
  command->callback([options] { run(*options); });
}

}  // namespace muster::cli
