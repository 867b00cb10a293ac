#include "rules/src/parallel.hpp"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include <muster/rules/configuration_set.hpp>

namespace muster::rules {
namespace {

TEST(ForEachIndex, throws_what_a_piece_of_work_threw) {
  EXPECT_THROW(for_each_index(1'000,
                              [](std::size_t i) {
                                if (i == 500) throw std::runtime_error("500");
                              }),
               std::runtime_error);
}

TEST(ForEachIndex, does_each_piece_once) {
  for (const std::size_t count : {0u, 1u, 15u, 40u, 1'000u}) {
    std::vector<std::atomic<int>> done(count);
    for_each_index(count, [&](std::size_t i) { ++done[i]; });
    for (const auto& times : done) ASSERT_EQ(times, 1);
  }
}

TEST(ConfigurationSet, many_files_give_what_they_give_one_by_one_and_in_order) {
  std::vector<SourceFile> files = {
      {"facts.toml", "[providers.dc]\nplacements = [{ region = 'a' }, { region = 'b' }]\n"}};
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(1000 + i);
    files.push_back(
        {"file" + number + ".toml",
         "workerTypes = ['t" + number + "']\n[[rules]]\nruleId = 'r'\n" +
             (i % 10 == 0 ? "valeus.x = 1\n" : "conditions.region = 'c'\nvalues.x = 1\n")});
  }
  const auto set = ConfigurationSet::from_files(files);
  EXPECT_EQ(set.documents().size(), 180u);
  ASSERT_EQ(set.problems().size(), 20u);
  EXPECT_EQ(set.problems()[1].position.file, "file1010.toml");
  const Problems problems = check(set);
  Problems expected;
  for (const SourceFile& file : files) {
    const std::vector<SourceFile> alone = {files[0], file};
    if (&file == &files[0]) continue;
    for (Problem& problem : check(ConfigurationSet::from_files(alone))) expected.push_back(problem);
  }
  sort_problems(expected);
  EXPECT_EQ(problems, expected);
}

}  // namespace
}  // namespace muster::rules
