// `muster rule`: edits that keep every other byte of the file.
#include "cli/rules/rule.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/rules/commands.hpp"
#include "cli/rules/target.hpp"

namespace muster::cli {
namespace {

using rules::Edit;
using rules::RulePlace;

struct RuleEditOptions : RuleOptions {
  std::vector<std::string> words;  // KEY=VALUE, or KEY
  std::vector<std::string> conditions;
  std::vector<std::string> no_conditions;
  std::string all_conditions;
  bool always = false;
  bool string = false;
  bool inherited = false;
  bool restore = false;
  std::optional<std::string> description;
  std::string rename;
  std::string before, after;
  bool first = false, last = false;
};

rules::Path path_of(const std::string& text, bool as_json) {
  const auto path = rules::parse_path(text);
  if (!path)
    fail(exit_usage, "`" + text + "` is not a key: " + path.error().message + ".", as_json);
  return *path;
}

// The `=` that ends the key, which may be quoted.
std::size_t find_equals(const std::string& text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (quote)
      quote = text[i] == quote ? '\0' : quote;
    else if (text[i] == '"' || text[i] == '\'')
      quote = text[i];
    else if (text[i] == '=')
      return i;
  }
  return std::string::npos;
}

void add_values(const RuleEditOptions& options, std::vector<Edit>& edits) {
  for (const auto& word : options.words) {
    const auto at = find_equals(word);
    if (at == std::string::npos)
      fail(exit_usage,
           "A value is set as KEY=VALUE, such as aws.launch.ImageId=ami-9; not `" + word + "`.",
           options.json);
    const auto text = word.substr(at + 1);
    edits.push_back(rules::SetValue{
        options.rule, path_of(word.substr(0, at), options.json),
        options.string ? rules::toml_string(text) : rules::toml_value_or_string(text)});
  }
}

// Globs that one --condition names: `us-*`, `us-*,eu-*`, or a TOML array for those with a comma.
std::vector<std::string> globs_of(const std::string& text) {
  std::vector<std::string> globs;
  if (text.starts_with('[') && text.ends_with(']') && text.find('"') != std::string::npos) {
    if (const auto list = json::parse(text); list && list->is_array()) {
      for (const auto& element : list->get_array())
        if (element.is_string()) globs.emplace_back(element.get_string());
      return globs;
    }
  }
  std::size_t begin = 0;
  for (;;) {
    const auto comma = text.find(',', begin);
    globs.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return globs;
    begin = comma + 1;
  }
}

void add_conditions(const RuleEditOptions& options, std::vector<Edit>& edits) {
  if (options.always) edits.push_back(rules::SetConditions{options.rule, ""});
  if (!options.all_conditions.empty())
    edits.push_back(rules::SetConditions{options.rule, options.all_conditions});
  for (const auto& fact : options.no_conditions)
    edits.push_back(rules::SetCondition{options.rule, fact, {}});
  std::vector<rules::SetCondition> set;
  for (const auto& text : options.conditions) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      fail(exit_usage, "A condition is written fact=glob, such as region=us-*; not `" + text + "`.",
           options.json);
    const auto fact = text.substr(0, at);
    auto same = std::find_if(set.begin(), set.end(), [&](const auto& s) { return s.fact == fact; });
    if (same == set.end()) same = set.insert(set.end(), {options.rule, fact, {}});
    for (auto& glob : globs_of(text.substr(at + 1))) same->globs.push_back(std::move(glob));
  }
  for (auto& condition : set) edits.push_back(std::move(condition));
}

RulePlace place_of(const RuleEditOptions& options) {
  const int given = !options.before.empty() + !options.after.empty() + options.first + options.last;
  if (given > 1)
    fail(exit_usage, "Only one of --before, --after, --first and --last can be given.",
         options.json);
  if (!options.before.empty()) return {RulePlace::Where::before, options.before};
  if (!options.after.empty()) return {RulePlace::Where::after, options.after};
  if (options.first) return {RulePlace::Where::first, ""};
  return {RulePlace::Where::last, ""};
}

void add_place_options(CLI::App& command, RuleEditOptions& options) {
  command.add_option("--before", options.before, "Right before this rule");
  command.add_option("--after", options.after, "Right after this rule");
  command.add_flag("--first", options.first, "Before all others");
  command.add_flag("--last", options.last, "After all others");
}

void add_content_options(CLI::App& command, RuleEditOptions& options) {
  command.add_option("values", options.words, "KEY=VALUE: a TOML value, or else a string");
  command
      .add_option("--condition", options.conditions,
                  "fact=glob or fact=glob,glob; may be given many times")
      ->allow_extra_args(false);
  command.add_option(
      "--conditions", options.all_conditions,
      "All conditions at once, as TOML: \"[{region = 'us-*'}, {provider = 'dc1'}]\"");
  command.add_option("--description", options.description, "Description of the rule");
  command.add_flag("--string", options.string, "Values are strings, whatever they look like");
}

void add_set(CLI::App& rule) {
  auto options = std::make_shared<RuleEditOptions>();
  auto* command = rule.add_subcommand("set", "Set values, conditions or the description of a rule");
  command->footer(
      "Examples: muster rule set build ec2-ami aws.launch.ImageId=ami-9\n"
      "          muster rule set build ec2-ami --condition 'region=us-*,eu-west-1' --dry-run");
  add_common(*command, *options, true);
  add_content_options(*command, *options);
  command->add_option("--no-condition", options->no_conditions, "Remove the condition on this fact")
      ->allow_extra_args(false);
  command->add_flag("--always", options->always, "Remove all conditions");
  command->add_option("--rename", options->rename, "New name of the rule");
  command->callback([options] {
    std::vector<Edit> edits;
    add_values(*options, edits);
    add_conditions(*options, edits);
    if (options->description)
      edits.push_back(rules::SetDescription{options->rule, *options->description});
    if (!options->rename.empty())
      edits.push_back(rules::RenameRule{options->rule, options->rename});
    if (edits.empty())
      fail(exit_usage, "Give something to set: KEY=VALUE, --condition or --description.",
           options->json);
    apply_edits(*options, edits);
  });
}

void add_unset(CLI::App& rule) {
  auto options = std::make_shared<RuleEditOptions>();
  auto* command = rule.add_subcommand("unset", "Remove values from a rule");
  command->footer("Example: muster rule unset build ec2-ami aws.KeyName");
  add_common(*command, *options, true);
  command->add_option("keys", options->words, "KEY, such as aws.KeyName")->required();
  auto* inherited = command->add_flag(
      "--inherited", options->inherited,
      "Make the rule delete what earlier rules set, by its `unset` list, and its own value");
  command
      ->add_flag("--restore", options->restore,
                 "The reverse of --inherited: take the key off the `unset` list")
      ->excludes(inherited);
  command->callback([options] {
    std::vector<Edit> edits;
    const auto file = find_file(options->configuration, options->dir, options->json);
    for (const auto& word : options->words) {
      const auto path = path_of(word, options->json);
      if (options->restore) {
        edits.push_back(rules::RemoveUnset{options->rule, path});
      } else if (options->inherited) {
        edits.push_back(rules::AddUnset{options->rule, path});
        // Its own value would come right back; there may be none.
        const std::vector<Edit> own = {rules::RemoveValue{options->rule, path}};
        if (rules::edit_file(file, own, {.dry_run = true})) edits.push_back(own.front());
      } else {
        edits.push_back(rules::RemoveValue{options->rule, path});
      }
    }
    apply_edits(*options, edits);
  });
}

void add_add(CLI::App& rule) {
  auto options = std::make_shared<RuleEditOptions>();
  auto* command = rule.add_subcommand("add", "Add a rule");
  command->footer(
      "Example: muster rule add build eu-ami aws.ImageId=ami-7 --condition region=eu-* \\\n"
      "           --description 'Images for Europe' --after ec2-ami");
  add_common(*command, *options, true);
  add_content_options(*command, *options);
  add_place_options(*command, *options);
  command->callback([options] {
    std::vector<Edit> edits = {
        rules::AddRule{options->rule, options->description.value_or(""), place_of(*options)}};
    add_conditions(*options, edits);
    add_values(*options, edits);
    apply_edits(*options, edits);
  });
}

void add_remove(CLI::App& rule) {
  auto options = std::make_shared<RuleEditOptions>();
  auto* command =
      rule.add_subcommand("remove", "Remove a rule with the comments in it and right above it");
  command->footer("Example: muster rule remove build ec2-ami --dry-run");
  add_common(*command, *options, true);
  command->callback([options] { apply_edits(*options, {rules::RemoveRule{options->rule}}); });
}

void add_move(CLI::App& rule) {
  auto options = std::make_shared<RuleEditOptions>();
  auto* command = rule.add_subcommand("move", "Move a rule: later rules win");
  command->footer("Example: muster rule move build ec2-ami --after basic-options");
  add_common(*command, *options, true);
  add_place_options(*command, *options);
  command->callback([options] {
    if (options->before.empty() && options->after.empty() && !options->first && !options->last)
      fail(exit_usage, "Say where to: --before RULE, --after RULE, --first or --last.",
           options->json);
    apply_edits(*options, {rules::MoveRule{options->rule, place_of(*options)}});
  });
}

}  // namespace

void add_common(CLI::App& command, RuleOptions& options, bool edits) {
  command.add_option("config", options.configuration, "Worker configuration: its id or its file")
      ->required();
  auto* rule = command.add_option("rule", options.rule, "Rule");
  if (edits) rule->required();
  command.add_option("--dir", options.dir, "Folder with worker configurations");
  command.add_flag("--json", options.json, "Print JSON");
  if (edits) command.add_flag("--dry-run,-n", options.dry_run, "Show the change without making it");
}

void add_rule(CLI::App& app) {
  auto* rule =
      app.add_subcommand("rule", "Show and edit rules; the rest of the file stays as it is");
  rule->require_subcommand(1);
  add_rule_get(*rule);
  add_set(*rule);
  add_unset(*rule);
  add_add(*rule);
  add_remove(*rule);
  add_move(*rule);
}

}  // namespace muster::cli
