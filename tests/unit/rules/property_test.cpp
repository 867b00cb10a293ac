#include <algorithm>

#include <gtest/gtest.h>

#include <muster/rules/compiled.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/evaluator.hpp>

#include "random_rules.hpp"

namespace muster::rules {
namespace {

using testing::naive_evaluate;
using testing::Random;
using testing::random_document;
using testing::random_facts;
using testing::random_rule;

std::shared_ptr<const Document> parsed(const json::object& document,
                                       const std::string& file = "d.json") {
  const Parsed result = parse_json(json::write_pretty(document), file);
  EXPECT_TRUE(result.document) << (result.problems.empty() ? ""
                                                           : to_string(result.problems.front()));
  return result.document;
}

std::vector<std::size_t> matching(const Document& document, const Facts& facts) {
  std::vector<std::size_t> rules;
  for (std::size_t i = 0; i < document.rules.size(); ++i)
    if (matches(document.rules[i], facts)) rules.push_back(i);
  return rules;
}

const json::value* find(const json::object& document, const Path& path) {
  const json::object* table = &document;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const json::value* next = table->if_contains(path[i]);
    if (!next || !next->is_object()) return nullptr;
    table = &next->get_object();
  }
  return table->if_contains(path.back());
}

void collect_leaves(const json::object& table, Path& path, std::vector<Path>& leaves) {
  for (const auto& [key, value] : table) {
    path.emplace_back(key);
    if (value.is_object() && !value.get_object().empty())
      collect_leaves(value.get_object(), path, leaves);
    else
      leaves.push_back(path);
    path.pop_back();
  }
}

TEST(Evaluation, agrees_with_a_naive_evaluator_on_random_rule_sets) {
  Random random(1);
  std::size_t not_empty = 0;
  for (int i = 0; i < 1'500; ++i) {
    const json::object source = random_document(random, random() % 12 + 1);
    const auto document = parsed(source);
    ASSERT_TRUE(document);
    for (int f = 0; f < 8; ++f) {
      const Facts facts = random_facts(random);
      const json::object expected = naive_evaluate(source, facts);
      not_empty += !expected.empty();
      const Evaluation evaluation = evaluate(*document, facts);
      ASSERT_EQ(json::value(evaluation.document), json::value(expected))
          << json::write_pretty(source);
      ASSERT_EQ(evaluation.matched, matching(*document, facts));
      // Not only equal but the same text, order of keys included.
      ASSERT_EQ(json::write(evaluation.document),
                json::write(evaluate_rules(*document, evaluation.matched)));
    }
  }
  EXPECT_GT(not_empty, 5'000u);
}

TEST(Evaluation, the_index_finds_the_rules_that_trying_each_finds) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const auto document = parsed(random_document(random, random() % 300 + 1));
    const CompiledRules compiled(document);
    for (int f = 0; f < 10; ++f) {
      const Facts facts = random_facts(random);
      ASSERT_EQ(members(compiled.match(facts)), matching(*document, facts));
    }
  }
}

// What provenance means, said through evaluations of fewer rules.
void check_provenance(const Document& document, const Evaluation& evaluation) {
  std::vector<Path> paths, told;
  Path path;
  collect_leaves(evaluation.document, path, paths);
  for (const Leaf& leaf : evaluation.leaves) told.push_back(leaf.path);
  ASSERT_EQ(told, paths) << "every leaf is told, in the order of the document";
  const auto until = [&](std::size_t rule) {
    auto rules = evaluation.matched;
    rules.erase(std::upper_bound(rules.begin(), rules.end(), rule), rules.end());
    return evaluate_rules(document, rules);
  };
  for (const Leaf& leaf : evaluation.leaves) {
    const json::object then = until(leaf.rule);
    const json::value* value = find(then, leaf.path);
    ASSERT_TRUE(value && *value == leaf.value) << "the rule that is named left this value";
    for (const Change& change : leaf.earlier) {
      ASSERT_LE(change.rule, leaf.rule);
      if (!change.value) continue;
      const json::object when_set = until(change.rule);
      ASSERT_TRUE(find(when_set, change.path)) << "it was there";
    }
  }
  for (const Deletion& deletion : evaluation.deleted) {
    ASSERT_FALSE(find(evaluation.document, deletion.path));
    const json::object after = until(deletion.rule);
    ASSERT_FALSE(find(after, deletion.path));
    ASSERT_FALSE(deletion.earlier.empty());
    ASSERT_TRUE(std::any_of(deletion.earlier.begin(), deletion.earlier.end(),
                            [](const Change& change) { return change.value.has_value(); }));
  }
  // Whatever any prefix of the rules had and the result has not, is told as deleted or replaced.
  for (const std::size_t rule : evaluation.matched) {
    std::vector<Path> once;
    const json::object before = until(rule);
    collect_leaves(before, path, once);
    for (const Path& gone : once) {
      if (find(evaluation.document, gone)) continue;
      const auto about = [&](const Change& change) { return change.path == gone; };
      const bool deleted =
          std::any_of(evaluation.deleted.begin(), evaluation.deleted.end(), [&](const Deletion& d) {
            return d.path == gone || std::any_of(d.earlier.begin(), d.earlier.end(), about);
          });
      const bool replaced =
          std::any_of(evaluation.leaves.begin(), evaluation.leaves.end(), [&](const Leaf& leaf) {
            return std::any_of(leaf.earlier.begin(), leaf.earlier.end(), about);
          });
      if (find(before, gone)->is_object())
        continue;  // an empty table that later vanished with its parent
      ASSERT_TRUE(deleted || replaced) << format_path(gone);
    }
  }
}

TEST(Evaluation, provenance_is_complete_and_true) {
  Random random(3);
  for (int i = 0; i < 600; ++i) {
    const json::object source = random_document(random, random() % 10 + 1);
    const auto document = parsed(source);
    for (int f = 0; f < 4; ++f) {
      check_provenance(*document, evaluate(*document, random_facts(random)));
      if (HasFatalFailure()) FAIL() << json::write_pretty(source);
    }
  }
}

TEST(Evaluator, gives_the_same_with_its_memory_as_without_after_random_edits) {
  Random random(4);
  for (int round = 0; round < 40; ++round) {
    json::object source = random_document(random, random() % 15 + 2);
    Evaluator evaluator;
    std::vector<Facts> facts(25);
    for (Facts& each : facts) each = random_facts(random);
    for (int edit = 0; edit < 20; ++edit) {
      const auto document = parsed(source);
      evaluator.update(document);
      for (const Facts& each : facts)
        ASSERT_EQ(json::write(evaluator.evaluate("d", each)->document),
                  json::write(evaluate(*document, each).document));
      json::array& rules = source.at("rules").as_array();
      const std::size_t at = random() % rules.size();
      switch (random() % 4) {
        case 0:
          rules.insert(rules.begin() + static_cast<std::ptrdiff_t>(at),
                       random_rule(random, 1000 + edit));
          break;
        case 1:
          if (rules.size() > 1) rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 2:
          std::swap(rules[at], rules[random() % rules.size()]);
          break;
        default: {
          const json::value id = rules[at].at("ruleId");
          rules[at] = random_rule(random, 0);
          rules[at].as_object()["ruleId"] = id;
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::rules
