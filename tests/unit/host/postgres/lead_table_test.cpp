#include "host/postgres/lead_table.hpp"

#include "host/postgres/errors.hpp"
#include "host/postgres/store_copy.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/host/postgres/fixture.hpp"

namespace muster::postgres::testing {
namespace {

using namespace std::chrono_literals;
using leadership::HostEntry;
using muster::testing::TemporaryFolder;

const HostEntry first{.name = "one", .address = "http://one", .version = "1"};
const HostEntry second{.name = "two", .address = "http://two", .version = "1"};

class LeadTableTest : public ::testing::Test {
 protected:
  Postgres& server = shared_postgres();
  const std::string name = server.new_database();
  std::unique_ptr<leadership::LeaseTable> a = lead_table({.address = server.url(name)});
  std::unique_ptr<leadership::LeaseTable> b = lead_table({.address = server.url(name)});

  static std::optional<std::int64_t> taken(Result<std::optional<std::int64_t>> answer) {
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : std::nullopt;
  }
};

TEST_F(LeadTableTest, one_has_the_lead_until_it_is_over_by_the_clock_of_the_database) {
  const auto epoch = taken(a->acquire(first, 1h));
  ASSERT_TRUE(epoch);
  EXPECT_EQ(taken(b->acquire(second, 1h)), std::nullopt);
  EXPECT_TRUE(*a->renew(*epoch, 1h));
  const auto seen = b->look(second);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->holder, "one");
  EXPECT_GT(seen->left, 59min);
  server.sql("UPDATE muster_lead SET expires = clock_timestamp()", name);
  const auto next = taken(b->acquire(second, 1h));
  ASSERT_TRUE(next);
  EXPECT_GT(*next, *epoch);
  EXPECT_FALSE(*a->renew(*epoch, 1h)) << "a superseded leader gets no renewal";
  EXPECT_TRUE(a->release(*epoch));
  EXPECT_GT(b->look(second)->left, 59min) << "nor can it end another's lease";
  EXPECT_EQ(a->hosts()->size(), 1u);
}

// It would hold the row for as long as its connection lives, and the lead with it.
TEST_F(LeadTableTest, sessions_of_the_old_leader_are_ended_by_the_next) {
  ASSERT_TRUE(taken(a->acquire(first, 1ms)));
  ConnectionSettings old{.address = server.url(name)};
  old.application_name = application_name("one");
  const auto stuck = Connection::open(old);
  ASSERT_TRUE(stuck);
  ASSERT_TRUE((*stuck)->run("BEGIN; UPDATE muster_lead SET number = number + 1"));
  server.sql("SELECT pg_sleep(0.005)", name);
  EXPECT_TRUE(taken(b->acquire(second, 1h)));
  EXPECT_FALSE((*stuck)->run("COMMIT"));
  EXPECT_EQ(b->look(second)->number, 0);
}

TEST_F(LeadTableTest, two_hosts_of_one_name_are_noticed) {
  HostEntry here = first, elsewhere = first;
  here.place = "here";
  elsewhere.place = "elsewhere";
  ASSERT_TRUE(a->look(here));
  EXPECT_TRUE(a->look(here)) << "one that looks again, or starts again, is the same";
  const auto refused = b->look(elsewhere);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another host is called one"), std::string::npos);
  server.sql("UPDATE muster_hosts SET seen = seen - interval '1 minute'", name);
  EXPECT_TRUE(b->look(elsewhere)) << "the name is free when its host has gone";
  EXPECT_FALSE(a->look(here));
  EXPECT_EQ(a->hosts()->size(), 1u);
}

TEST_F(LeadTableTest, after_a_restart_of_the_server_it_is_reached_again) {
  Postgres own;
  const auto table = lead_table({.address = own.url()});
  ASSERT_TRUE(table->look(first));
  own.restart();
  EXPECT_TRUE(muster::testing::eventually([&] { return table->look(first).has_value(); }));
}

TEST_F(LeadTableTest, a_store_is_copied_there_and_back_and_compared) {
  const TemporaryFolder folder;
  const std::string original = "sqlite:" + (folder / "a.db").string();
  EXPECT_FALSE(copy_store(original, "postgres:" + server.url(name))) << "there is no such file";
  {
    auto opened = store::SqliteStore::open(folder / "a.db");
    ASSERT_TRUE(opened);
    static constexpr std::array columns{store::Column{"name", store::ColumnType::text},
                                        store::Column{"value", store::ColumnType::text}};
    static constexpr store::Table host{"host", columns, 1};
    store::Batch rows;
    for (int i = 0; i < 12'000; ++i)
      rows.emplace_back(store::Put{&host, {"n" + std::to_string(i), std::string("\0\xff v", 4)}});
    ASSERT_TRUE((*opened)->commit(rows));
    EXPECT_FALSE(copy_store(original, "postgres:" + server.url(name))) << "a host uses it";
  }
  const auto there = copy_store(original, "postgres:" + server.url(name));
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->rows, 12'000);
  EXPECT_GT(there->tables, 10u);
  const auto again = copy_store(original, server.url(name));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("not empty"), std::string::npos);
  const auto back = copy_store(server.url(name), "sqlite:" + (folder / "b.db").string());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->rows, 12'000);
  ASSERT_TRUE(taken(a->acquire(first, 1h)));
  const auto refused = copy_store(server.url(name), "sqlite:" + (folder / "c.db").string());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the host one uses this database"), std::string::npos);
}

}  // namespace
}  // namespace muster::postgres::testing
