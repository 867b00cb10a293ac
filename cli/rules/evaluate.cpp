// `muster evaluate`: the evaluated document as JSON and nothing else, for scripts.
#include <memory>

#include <muster/rules/evaluate.hpp>

#include "cli/command.hpp"
#include "cli/rules/commands.hpp"
#include "cli/rules/target.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

struct EvaluateOptions {
  std::string file;
  std::string dir;
  std::vector<std::string> facts, more_facts;
  bool compact = false;
  bool json = false;  // it is JSON anyhow; accepted because all commands take it
};

void run(const EvaluateOptions& options) {
  auto texts = options.facts;
  texts.insert(texts.end(), options.more_facts.begin(), options.more_facts.end());
  auto facts = parse_facts(texts, options.json);
  const auto target = find_target(options.file, options.dir, true, options.json);
  // A worker type named on the command line is a fact; the only one of a file is not, unless said.
  if (target.names_worker_type) facts.emplace("workerType", *target.worker_type);
  note_unknown_facts(facts, target);
  const auto evaluation = rules::evaluate(*target.document, facts);
  if (options.compact)
    print(json::write(evaluation.document) + "\n");
  else
    print_json(evaluation.document);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  auto* command = app.add_subcommand("evaluate", "Print an evaluated worker configuration as JSON");
  command->footer(
      "Example: muster evaluate build.toml --fact provider=ec2 --fact region=us-east-1");
  command->add_option("file", options->file, "File, id of a worker configuration, or worker type")
      ->required();
  command->add_option("--fact", options->facts, "name=value; may be given many times")
      ->allow_extra_args(false);
  command->add_option("facts", options->more_facts, "The same without --fact");
  command->add_option("--dir", options->dir, "Folder with worker configurations");
  command->add_flag("--compact", options->compact, "On one line");
  command->add_flag("--json", options->json, "Failures are JSON too");
  command->callback([options] { run(*options); });
}

}  // namespace muster::cli
