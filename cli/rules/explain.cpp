// `muster explain`: why is this value what it is?
#include "cli/rules/explain.hpp"

#include <memory>

#include <muster/plural.hpp>
#include <muster/rules/explanation.hpp>

#include "cli/command.hpp"
#include "cli/rules/commands.hpp"
#include "cli/rules/target.hpp"

namespace muster::cli {
namespace {

struct ExplainOptions {
  std::string target;
  std::string dir;
  std::vector<std::string> facts;
  std::vector<std::string> rest;  // facts without --fact, and the key
  bool json = false;
  bool all = false;
};

std::string where(const rules::Document& document, rules::Position position) {
  return document.file + ":" + std::to_string(position.line);
}

// "aws" for a change that stood above the leaf, else nothing.
std::string other_path(const rules::Path& path, const rules::Path& leaf) {
  return path == leaf ? "" : " at " + rules::format_path(path);
}

void add_earlier(Table& table, const rules::Document& document,
                 const std::vector<rules::Change>& earlier, const rules::Path& leaf) {
  // Newest first: what a reader asks is "and before that?".
  for (auto change = earlier.rbegin(); change != earlier.rend(); ++change) {
    const auto words = (change->value ? "was " + show(*change->value) : std::string("was unset")) +
                       other_path(change->path, leaf);
    table.add({{"", Look::plain},
               {words, Look::dim},
               {document.rules[change->rule].rule_id, Look::dim},
               {where(document, change->position), Look::dim}});
  }
}

std::string rule_names(const rules::Document& document, const std::vector<std::size_t>& matched) {
  std::string text;
  for (const auto rule : matched) text += (text.empty() ? "" : ", ") + document.rules[rule].rule_id;
  return text.empty() ? "none" : text;
}

bool explain_one(const rules::Document& document, const rules::Facts& facts,
                 const rules::Evaluation& evaluation, const rules::Path& key, bool as_json) {
  Table table;
  bool found = key.empty();
  for (const auto& leaf : evaluation.leaves) {
    if (!rules::is_below(leaf.path, key)) continue;
    add_leaf(table, document, leaf);
    found = true;
  }
  for (const auto& deletion : evaluation.deleted) {
    if (!rules::is_below(deletion.path, key)) continue;
    add_deletion(table, document, deletion);
    found = true;
  }
  if (!found) return false;
  if (as_json) {
    print_json(rules::explanation(document, facts, evaluation, key));
    return true;
  }
  const auto style = Style::of_stdout();
  print(style(Look::bold, document.id) + "  " + style(Look::cyan, to_string(facts)) + "\n");
  if (key.empty())
    print(style(Look::dim, std::to_string(evaluation.matched.size()) + " of " +
                               count_of(document.rules.size(), "rule") +
                               " apply: " + rule_names(document, evaluation.matched)) +
          "\n");
  print("\n" + table.text(style, "  "));
  return true;
}

[[noreturn]] void fail_unknown_key(const rules::Path& key, const std::vector<std::string>& known,
                                   bool as_json) {
  const auto text = rules::format_path(key);
  const auto near = rules::nearest_name(text, known);
  fail(exit_failed,
       "No rule that applies sets `" + text + "`" +
           (near.empty() ? "." : "; did you mean `" + near + "`?"),
       as_json);
}

void run(const ExplainOptions& options) {
  auto texts = options.facts;
  std::optional<rules::Path> key;
  for (const auto& word : options.rest) {
    if (word.find('=') != std::string::npos) {
      texts.push_back(word);
      continue;
    }
    if (key)
      fail(exit_usage, "Only one key can be explained, not `" + word + "` too.", options.json);
    const auto path = rules::parse_path(word);
    if (!path) fail(exit_usage, "That is not a key: " + path.error().message + ".", options.json);
    key = *path;
  }
  auto facts = parse_facts(texts, options.json);
  const auto target = find_target(options.target, options.dir, true, options.json);
  const auto& document = *target.document;
  note_unknown_facts(facts, target);
  const bool one = !facts.empty() && !options.all;
  if (target.names_worker_type || (one && target.worker_type))
    facts.emplace("workerType", *target.worker_type);

  if (one) {
    const auto evaluation = rules::evaluate(document, facts);
    if (!explain_one(document, facts, evaluation, key.value_or(rules::Path{}), options.json))
      fail_unknown_key(*key, rules::keys_of(evaluation), options.json);
    return;
  }
  auto cases = fact_sets_of(target.folder.set, document);
  keep_matching(cases, facts);
  if (cases.facts.empty()) {  // no provider opted in: only what the worker type itself says
    for (const auto& type : document.worker_types)
      cases.facts.push_back({{"workerType", type.name}});
    cases.known = false;
    keep_matching(cases, facts);
  }
  if (cases.facts.empty())
    fail(
        exit_usage,
        "No launch configuration of " + document.id + " has these facts: " + to_string(facts) + ".",
        options.json);
  if (explain_table(document, cases, key.value_or(rules::Path{}), options.json)) return;
  std::vector<std::string> known;
  Evaluations evaluations(document);
  for (const auto& one_case : cases.facts)
    for (auto& name : rules::keys_of(evaluations(one_case))) known.push_back(std::move(name));
  fail_unknown_key(*key, known, options.json);
}

}  // namespace

void add_leaf(Table& table, const rules::Document& document, const rules::Leaf& leaf) {
  table.add({{rules::format_path(leaf.path), Look::bold},
             {show(leaf.value), Look::plain},
             {document.rules[leaf.rule].rule_id, Look::green},
             {where(document, leaf.position), Look::cyan}});
  add_earlier(table, document, leaf.earlier, leaf.path);
}

void add_deletion(Table& table, const rules::Document& document, const rules::Deletion& deletion) {
  table.add({{rules::format_path(deletion.path), Look::bold},
             {"(unset)", Look::yellow},
             {document.rules[deletion.rule].rule_id, Look::green},
             {where(document, deletion.position), Look::cyan}});
  add_earlier(table, document, deletion.earlier, deletion.path);
}

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command = app.add_subcommand(
      "explain", "Show each value with the rule and line that set it, and what it replaced");
  command->footer(
      "Without facts: a table of all launch configurations that differ.\n"
      "Examples: muster explain build\n"
      "          muster explain build-opt aws.ImageId\n"
      "          muster explain build-opt --fact provider=ec2 --fact region=us-east-1");
  command->add_option("target", options->target, "Worker configuration or worker type")->required();
  command->add_option("key", options->rest, "Only this key and those below it: aws.ImageId");
  command->add_option("--fact", options->facts, "name=value; may be given many times")
      ->allow_extra_args(false);
  command->add_flag("--all", options->all,
                    "Show the table even with facts, for the launch configurations that have them");
  command->add_option("--dir", options->dir, "Folder with worker configurations");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { run(*options); });
}

}  // namespace muster::cli
