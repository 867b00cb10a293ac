#include "host/postgres/replica.hpp"

#include <random>

#include "tests/unit/host/postgres/fixture.hpp"

namespace muster::postgres::testing {
namespace {

using store::Batch;
using store::testing::part;
using store::testing::parts;
using store::testing::thing;
using store::testing::things;

const std::array<const store::Table*, 2> both{&things, &parts};

class ReplicaTest : public ::testing::Test {
 protected:
  std::unique_ptr<PostgresStore> leader(FollowedTables tables) const {
    StoreSettings settings = settings_of(address);
    settings.followed = tables;
    return open_store(std::move(settings));
  }
  // The copy is what a fresh reading of the database is.
  void expect_same(const Replica& copy) const {
    Replica fresh({.address = address}, both);
    const auto loaded = fresh.load();
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(copy.store().digest(), fresh.store().digest());
    EXPECT_EQ(copy.number(), fresh.number());
  }
  static void catch_up(Replica& copy) {
    for (;;) {
      const auto followed = copy.follow();
      ASSERT_TRUE(followed) << followed.error().message;
      if (*followed != Replica::Followed::more) return;
    }
  }
  static bool has_gap(Replica& copy) {
    const auto followed = copy.follow();
    return !followed && followed.error().code == Replica::gap;
  }

  Postgres& server = shared_postgres();
  const std::string name = server.new_database();
  const std::string address = server.url(name);
};

TEST_F(ReplicaTest, follows_every_kind_of_change_in_order) {
  const auto store = leader(both);
  Replica copy({.address = address}, both);
  EXPECT_TRUE(has_gap(copy)) << "nothing is loaded yet";
  ASSERT_TRUE(copy.load());
  EXPECT_EQ(*copy.follow(), Replica::Followed::nothing_new);
  std::mt19937 random(1);
  const auto number = [&](int most) { return std::int64_t(random() % unsigned(most)); };
  for (int commit = 0; commit < 200; ++commit) {  // more than are read at once
    Batch batch;
    for (int change = 0; change < 5; ++change) {
      const std::int64_t key = number(40);
      if (number(3) == 0)
        batch.emplace_back(part(key % 2 == 0 ? "a" : "b", key, "n"));
      else if (number(20) == 0)
        batch.emplace_back(store::Erase{&parts, {std::string("a")}});
      else if (number(4) == 0)
        batch.emplace_back(store::Erase{&things, {key}});
      else if (number(20) == 0)
        batch.emplace_back(store::EraseBelow{&things, "number", number(10)});
      else
        batch.emplace_back(thing(key, std::string("\0\xff\x01 \"ü", 7)));
    }
    ASSERT_TRUE(store->commit(batch));
    if (number(10) == 0) catch_up(copy);
  }
  catch_up(copy);
  expect_same(copy);
}

TEST_F(ReplicaTest, reads_everything_again_after_a_gap) {
  auto store = leader(both);
  Replica copy({.address = address}, both);
  ASSERT_TRUE(copy.load());
  ASSERT_TRUE(store->commit({thing(1, std::string("a"))}));
  ASSERT_TRUE(store->commit({thing(2, std::string("b"))}));
  server.sql("DELETE FROM muster_changes WHERE number = 1", name);
  EXPECT_TRUE(has_gap(copy));
  ASSERT_TRUE(copy.load());
  expect_same(copy);
  store.reset();
  ASSERT_TRUE(leader({})->commit({thing(3, std::string("c"))})) << "a program that logs nothing";
  EXPECT_TRUE(has_gap(copy));
  ASSERT_TRUE(copy.load());
  expect_same(copy);
}

// The numbers fit and the past is another: a backup was put back.
TEST_F(ReplicaTest, a_database_with_another_past_is_read_again) {
  const auto store = leader(both);
  Replica copy({.address = address}, both);
  ASSERT_TRUE(store->commit({thing(1, std::string("a"))}));
  ASSERT_TRUE(copy.load());
  server.sql("UPDATE muster_lead SET token = 'x'; UPDATE muster_changes SET token = 'x'", name);
  EXPECT_TRUE(has_gap(copy));
  server.sql("UPDATE muster_lead SET number = 0", name);
  EXPECT_TRUE(has_gap(copy));
}

TEST_F(ReplicaTest, the_log_is_pruned_and_keeps_what_is_new) {
  const auto store = leader(both);
  for (int i = 0; i < 70; ++i) ASSERT_TRUE(store->commit({thing(i, std::string("a"))}));
  EXPECT_EQ(server.sql("SELECT count(*) FROM muster_changes", name), "70");
  server.sql("UPDATE muster_changes SET at = at - interval '1 minute'", name);
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(store->commit({thing(i, std::string("b"))}));
  EXPECT_EQ(server.sql("SELECT min(number) FROM muster_changes", name), "64");
}

TEST_F(ReplicaTest, a_text_that_is_no_list_of_changes_is_refused) {
  for (const char* text : {"", "{}", "[1]", "[[]]", R"([["put"]])", R"([["put","things",[]]])",
                           R"([["drop","things",1]])", R"([["put","things",1,2,3,4,5,6,7,8,9,10]])",
                           R"([["erase","things",null]])", R"([["eraseBelow","things","no",1]])"})
    EXPECT_FALSE(from_text(text, both)) << text;
  EXPECT_TRUE(from_text("[]", both)->empty());
  EXPECT_TRUE(from_text(R"([["put","elsewhere",1]])", both)->empty());
}

}  // namespace
}  // namespace muster::postgres::testing
