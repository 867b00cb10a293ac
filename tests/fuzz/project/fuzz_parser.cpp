// Any bytes, as TOML and as JSON: never a crash, a document or problems with their place, and a
// document that evaluates to the same with and without memory.
#include <cstdint>
#include <string_view>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/evaluator.hpp>

#include "require.hpp"

namespace {

using namespace muster::rules;

void try_document(const Parsed& parsed) {
  REQUIRE((parsed.document == nullptr) == has_errors(parsed.problems));
  for (const Problem& problem : parsed.problems) {
    REQUIRE(!problem.reason.empty() && !problem.code.empty());
    REQUIRE(to_string(problem).find('\n') == std::string::npos);
  }
  if (!parsed.document) return;
  const Document& document = *parsed.document;
  REQUIRE(!document.worker_types.empty() && !document.rules.empty());
  Evaluator evaluator;
  evaluator.update(parsed.document);
  for (const Facts& facts : {Facts{}, Facts{{"workerType", document.worker_types[0].name},
                                            {"provider", "ec2"},
                                            {"region", "us-east-1"},
                                            {"availabilityZone", "us-east-1a"}}}) {
    const Evaluation evaluation = evaluate(document, facts);
    const std::string text = muster::json::write(evaluation.document);
    REQUIRE(text == muster::json::write(evaluate_rules(document, evaluation.matched)));
    REQUIRE(text == muster::json::write(evaluator.evaluate(document.id, facts)->document));
    for (const Leaf& leaf : evaluation.leaves) {
      REQUIRE(leaf.position.line > 0);
      const auto path = parse_path(format_path(leaf.path));
      REQUIRE(path && *path == leaf.path);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try_document(parse_toml(text, "c.toml"));
  try_document(parse_json(text, "c.json"));
  const std::vector<SourceFile> files = {{"facts.toml", text}, {"c.toml", text}};
  const Problems problems = check(ConfigurationSet::from_files(files));
  REQUIRE(!problems.empty());  // no text is both
  return 0;
}
