#include "case.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/evaluator.hpp>

namespace muster::rules::cases {
namespace {

// With MUSTER_UPDATE_CASES set, what comes out is written into the case, to be reviewed as a diff.
void expect_text(const fs::path& file, const std::string& actual) {
  if (std::getenv("MUSTER_UPDATE_CASES")) return write_text(file, actual);
  EXPECT_EQ(actual, read_text(file)) << file;
}

void expect_evaluation(const Document& document, const fs::path& facts_file) {
  const std::string name = facts_file.filename().string();
  const std::string stem = name.substr(0, name.size() - std::string_view(".facts.json").size());
  const fs::path folder = facts_file.parent_path();
  const Facts facts = read_facts(facts_file);
  const Evaluation evaluation = evaluate(document, facts);
  expect_text(folder / (stem + ".expected.json"), json::write_pretty(evaluation.document) + "\n");
  expect_text(folder / (stem + ".provenance.txt"), describe(document, evaluation));
  Evaluator evaluator;
  evaluator.update(std::make_shared<Document>(document));
  EXPECT_EQ(json::write(evaluator.evaluate(document.id, facts)->document),
            json::write(evaluation.document));
}

void expect_check(const fs::path& folder) {
  std::vector<SourceFile> files;
  for (const auto& file : *read_folder(folder)) {
    const std::string name = fs::path(file.name).filename().string();
    if (!name.ends_with(".facts.json") && !name.ends_with(".expected.json"))
      files.push_back({name, file.text});
  }
  expect_text(folder / "check.txt", describe(check(ConfigurationSet::from_files(files))));
}

class Case : public testing::TestWithParam<fs::path> {};

TEST_P(Case, gives_what_its_folder_says) {
  const fs::path folder = GetParam();
  std::size_t compared = 0;
  if (fs::exists(folder / "check.txt")) expect_check(folder), ++compared;
  if (fs::exists(folder / "problems.txt") || !compared) {
    const fs::path file = configuration_of(folder);
    const Parsed parsed = parse_document(read_text(file), file.filename().string());
    if (fs::exists(folder / "problems.txt")) {
      expect_text(folder / "problems.txt", describe(parsed.problems)), ++compared;
      EXPECT_EQ(parsed.document == nullptr, has_errors(parsed.problems));
    } else {
      ASSERT_TRUE(parsed.document) << describe(parsed.problems);
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().ends_with(".facts.json"))
          expect_evaluation(*parsed.document, entry.path()), ++compared;
    }
  }
  EXPECT_GT(compared, 0u) << folder << " expects nothing";
}

INSTANTIATE_TEST_SUITE_P(Folders, Case, testing::ValuesIn(case_folders(MUSTER_RULES_CASES)),
                         [](const auto& each) {
                           std::string name = each.param.filename().string();
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace muster::rules::cases
