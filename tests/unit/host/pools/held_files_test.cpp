#include "host/pools/held_files.hpp"

#include <gmock/gmock.h>

#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Files = std::vector<rules::SourceFile>;

const std::string syntax_error = "workerTypes = [\n";

std::string of(const std::string& type, const std::string& more = "") {
  return configuration(more, "[\"" + type + "\"]");
}

// A configuration of these worker types whose maxCapacity is no number.
std::string bad_of(const std::string& types) {
  std::string text = configuration("", types);
  text.replace(text.find("maxCapacity = 10"), 16, "maxCapacity = \"many\"");
  return text;
}

// As it was good while there was a provider that is gone now.
std::string of_gone_provider(const std::string& type, const std::string& more = "") {
  std::string text = of(type, more);
  text.replace(text.find("\"sim\""), 5, "\"gone\"");
  return text;
}

class HeldFiles : public ::testing::Test {
 protected:
  Selection select(const Files& newest, const Files& last_good = {}) {
    return select_files(fixture_.builder, {"new", newest}, last_good, fixture_.provider_context,
                        fixture_.expand());
  }
  static std::vector<std::string> pools(const Selection& selection) {
    std::vector<std::string> names;
    if (selection.outcome.configuration)
      for (const auto& [id, pool] : selection.outcome.configuration->pools)
        names.push_back(id.str().substr(id.str().find('/') + 1) + " of " + pool->origin);
    return names;
  }
  static std::vector<std::string> held(const Selection& selection) {
    std::vector<std::string> names;
    for (const HeldFile& file : selection.held)
      names.push_back(file.file + (file.serves ? " serves" : " does not"));
    return names;
  }
  static const std::string& text_in(const Selection& selection, const std::string& name) {
    return std::ranges::find(selection.serving, name, &rules::SourceFile::name)->text;
  }

  Fixture fixture_;
};

TEST_F(HeldFiles, a_bad_file_is_held_back_at_its_last_good_version_and_the_others_go_on) {
  const auto selection =
      select({{"a.toml", bad_of("[\"a\"]")}, {"b.toml", of("b", "minCapacity = 1")}},
             {{"a.toml", of("a")}, {"b.toml", of("b")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves"));
  EXPECT_THAT(selection.held[0].reason, HasSubstr("a.toml:7:1: maxCapacity"));
  EXPECT_EQ(text_in(selection, "a.toml"), of("a"));
  EXPECT_EQ(text_in(selection, "b.toml"), of("b", "minCapacity = 1"));
  EXPECT_THAT(texts_of(selection.outcome.problems), HasSubstr("a.toml:7:1: maxCapacity"));
}

TEST_F(HeldFiles, at_a_first_start_a_bad_file_alone_is_missing) {
  const auto selection = select({{"a.toml", syntax_error}, {"b.toml", of("b")}});
  EXPECT_THAT(pools(selection), ElementsAre("b of b.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml does not"));
  // A fleet that has pools of it from before keeps them.
  EXPECT_THAT(selection.outcome.configuration->untouched_origins, ElementsAre("a.toml"));
}

TEST_F(HeldFiles, if_nothing_can_serve_nothing_is_decided) {
  const auto selection = select({{"a.toml", syntax_error}});
  EXPECT_FALSE(selection.outcome.configuration);
  EXPECT_THAT(held(selection), ElementsAre("a.toml does not"));
}

TEST_F(HeldFiles, a_worker_type_that_moves_into_a_bad_file_stays_where_it_was) {
  const auto selection =
      select({{"a.toml", of("a")}, {"b.toml", bad_of(R"(["b", "moving"])")}},
             {{"a.toml", configuration("", R"(["a", "moving"])")}, {"b.toml", of("b")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml", "moving of a.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves", "b.toml serves"));
  EXPECT_THAT(selection.held[0].reason,
              AllOf(HasSubstr("\"moving\""), HasSubstr("b.toml, which is held back")));
}

TEST_F(HeldFiles, a_worker_type_that_leaves_a_bad_file_is_not_taken_by_two) {
  const auto selection =
      select({{"a.toml", bad_of("[\"a\"]")}, {"b.toml", configuration("", R"(["b", "moving"])")}},
             {{"a.toml", configuration("", R"(["a", "moving"])")}, {"b.toml", of("b")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml", "moving of a.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves", "b.toml serves"));
  EXPECT_THAT(selection.held[1].reason, HasSubstr("(a.toml is held back)"));
}

TEST_F(HeldFiles, a_file_that_is_renamed_and_broken_at_once_is_not_gone) {
  const auto selection = select({{"new.toml", syntax_error}, {"other.toml", of("other")}},
                                {{"old.toml", of("a")}, {"other.toml", of("other")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of old.toml", "other of other.toml"));
  EXPECT_THAT(held(selection), ElementsAre("new.toml does not", "old.toml serves"));
}

TEST_F(HeldFiles, a_file_that_is_removed_is_gone_though_another_is_bad) {
  const auto selection =
      select({{"a.toml", bad_of("[\"a\"]")}}, {{"a.toml", of("a")}, {"gone.toml", of("gone")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves"));
}

TEST_F(HeldFiles, who_claims_the_worker_type_of_another_is_at_fault_whatever_its_name) {
  const auto selection = select(
      {{"a.toml", configuration("", R"(["a", "b"])")}, {"b.toml", of("b", "minCapacity = 1")}},
      {{"a.toml", of("a")}, {"b.toml", of("b")}});
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves"));
  EXPECT_EQ(text_in(selection, "b.toml"), of("b", "minCapacity = 1"));
}

TEST_F(HeldFiles, a_worker_type_that_moves_between_good_files_moves) {
  const auto selection =
      select({{"a.toml", configuration("", R"(["a", "moving"])")}, {"b.toml", of("b")}},
             {{"a.toml", of("a")}, {"b.toml", configuration("", R"(["b", "moving"])")}});
  EXPECT_THAT(held(selection), IsEmpty());
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml", "moving of a.toml"));
}

TEST_F(HeldFiles, if_the_last_good_version_became_bad_too_its_pools_are_left_as_they_are) {
  const std::string unknown = of("a", "strategy = \"gone\"\n");
  const auto selection = select({{"a.toml", unknown}, {"b.toml", of("b")}},
                                {{"a.toml", unknown}, {"b.toml", of("b")}});
  EXPECT_THAT(pools(selection), ElementsAre("b of b.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml does not"));
  EXPECT_THAT(selection.outcome.configuration->untouched_origins, ElementsAre("a.toml"));
}

TEST_F(HeldFiles, a_file_of_which_nothing_can_serve_keeps_its_worker_types) {
  // A fact that nobody knows any more keeps the file out of the search for duplicates.
  const std::string rack =
      "[[rules]]\nruleId = \"r\"\ndescription = \"d\"\nconditions = { rack = \"1\" }\n"
      "values.workerConfig.x = 1\n";
  const Files others = {{"aaa.toml", of("alpha")}, {"b.toml", of("b")}};
  for (const std::string& good : {of_gone_provider("alpha"), of("alpha", rack)})
    for (const std::string& newest : {good, syntax_error}) {
      Files files = others;
      files.push_back({"team.toml", newest});
      Files last_good = {{"b.toml", of("b")}, {"team.toml", good}};
      for (int round = 0; round < 3; ++round) {
        const auto selection = select(files, last_good);
        EXPECT_THAT(pools(selection), ElementsAre("b of b.toml"));
        EXPECT_THAT(held(selection), ElementsAre("aaa.toml does not", "team.toml does not"));
        EXPECT_THAT(selection.held[0].reason, HasSubstr("team.toml"));
        EXPECT_EQ(selection.serving.size(), 1u);
        ASSERT_EQ(selection.last_good.size(), 2u);
        EXPECT_EQ(selection.last_good[1].text, good);
        last_good = selection.last_good;
      }
      // Its owner gives the worker type up: then it is free.
      const auto freed = select(others, last_good);
      EXPECT_THAT(pools(freed), ElementsAre("alpha of aaa.toml", "b of b.toml"));
      EXPECT_THAT(held(freed), IsEmpty());
    }
}

TEST_F(HeldFiles, a_file_that_is_renamed_after_nothing_of_it_could_serve_has_its_worker_types) {
  const auto selection = select({{"b.toml", of("b")}, {"new.toml", of("alpha")}},
                                {{"b.toml", of("b")}, {"old.toml", of_gone_provider("alpha")}});
  EXPECT_THAT(pools(selection), ElementsAre("alpha of new.toml", "b of b.toml"));
  EXPECT_THAT(held(selection), IsEmpty());
}

TEST_F(HeldFiles, a_file_that_cannot_be_judged_yet_waits_alone) {
  fixture_.provider_context.providers[ProviderId("dark")].unavailable =
      Error::transient("no plugin");
  const auto selection =
      select({{"a.toml", of("a",
                            "[[rules]]\nruleId = \"r\"\ndescription = \"d\"\nconditions = { rack = "
                            "\"1\" }\nvalues.workerConfig.x = 1\n")},
              {"b.toml", of("b")}},
             {{"a.toml", of("a")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml"));
  EXPECT_THAT(held(selection), ElementsAre("a.toml serves"));
  EXPECT_THAT(selection.held[0].reason, HasSubstr("waits for the provider dark"));
}

TEST_F(HeldFiles, files_that_cannot_be_read_are_held_back_each_for_itself) {
  Files newest = {{"a.toml", ""}, {"b.toml", of("b")}};
  newest[0].unreadable = "cannot be opened: Permission denied";
  const auto selection = select(newest, {{"a.toml", of("a")}});
  EXPECT_THAT(pools(selection), ElementsAre("a of a.toml", "b of b.toml"));
  EXPECT_THAT(selection.held[0].reason, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace muster::pools
