#include "host/postgres/postgres_store.hpp"

#include "host/postgres/errors.hpp"
#include "tests/support/tcp_proxy.hpp"
#include "tests/unit/host/postgres/fixture.hpp"

namespace muster::postgres::testing {
namespace {

using muster::testing::TcpProxy;
using muster::testing::TemporaryFolder;
using store::testing::numbers_of;
using store::testing::part;
using store::testing::parts;
using store::testing::thing;
using store::testing::things;
using Numbers = std::vector<std::int64_t>;

class PostgresStoreTest : public ::testing::Test {
 protected:
  void reject_puts(const std::string& state) {
    server.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
        "EXCEPTION 'refused' USING ERRCODE = '" +
            state +
            "'; END $$; CREATE TRIGGER refuse BEFORE INSERT ON things EXECUTE "
            "FUNCTION refuse()",
        name);
  }

  Postgres& server = shared_postgres();
  const std::string name = server.new_database();
  const std::string address = server.url(name);
};

TEST_F(PostgresStoreTest, failures_of_the_server_are_told_apart_and_leave_nothing) {
  struct Case {
    const char* state;
    ErrorClass error_class;
    std::string_view code;
  };
  for (const Case& one :
       {Case{"53100", ErrorClass::capacity, disk_full}, Case{"XX001", ErrorClass::internal, damage},
        Case{"40001", ErrorClass::transient, serialization},
        Case{"25006", ErrorClass::transient, read_only_server},
        Case{"42501", ErrorClass::config, ""}}) {
    const auto store = open_store(address);
    reject_puts(one.state);
    const auto refused = store->commit({part("a", 1), thing(1)});
    ASSERT_FALSE(refused) << one.state;
    EXPECT_EQ(refused.error().error_class, one.error_class) << refused.error().message;
    EXPECT_EQ(refused.error().code, one.code);
    EXPECT_EQ(numbers_of(*store, {&parts}), Numbers{});
    server.sql("DROP FUNCTION refuse CASCADE", name);
    EXPECT_TRUE(store->commit({part("a", 1)})) << "the same store goes on";
    EXPECT_TRUE(store->commit({store::Erase{&parts, {}}}));
  }
}

TEST_F(PostgresStoreTest, a_statement_that_waits_too_long_is_given_up) {
  const auto made = open_store(address);
  StoreSettings settings = settings_of(address);
  settings.connection.statement_timeout = std::chrono::milliseconds(100);
  const auto store = open_store(settings);
  const auto other = connect(address);
  ASSERT_TRUE(other->run("BEGIN; LOCK TABLE things"));
  const auto refused = store->commit({thing(1)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, timed_out) << refused.error().message;
  ASSERT_TRUE(other->run("ROLLBACK"));
  EXPECT_TRUE(store->commit({thing(1)}));
}

TEST_F(PostgresStoreTest, a_superseded_leader_commits_nothing_whatever_it_believes) {
  StoreSettings settings = settings_of(address);
  settings.epoch = 0;
  const auto store = open_store(settings);
  ASSERT_TRUE(store->commit({thing(1)}));
  server.sql("UPDATE muster_lead SET epoch = 1, holder = 'other'", name);
  for (int i = 0; i < 2; ++i) {
    const auto refused = store->commit({thing(2)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, superseded);
    EXPECT_NE(refused.error().message.find("other"), std::string::npos);
  }
  EXPECT_EQ(numbers_of(*store, {&things}), Numbers{1});
}

TEST_F(PostgresStoreTest, a_change_of_the_leader_waits_for_the_commit_before_it) {
  StoreSettings settings = settings_of(address);
  settings.epoch = 0;
  const auto store = open_store(settings);
  const auto other = connect(address);
  ASSERT_TRUE(other->run("BEGIN; UPDATE muster_lead SET epoch = 1"));
  std::thread leader([&] {
    const auto refused = store->commit({thing(1)});
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, superseded);
  });
  while (server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                    "datname = '" +
                    name + "'") != "1")
    std::this_thread::yield();
  ASSERT_TRUE(other->run("COMMIT"));
  leader.join();
  EXPECT_EQ(numbers_of(*store, {&things}), Numbers{});
}

TEST_F(PostgresStoreTest, a_commit_whose_answer_is_lost_is_asked_for) {
  TcpProxy proxy(server.port());
  const auto store = open_store(server.url(name, "postgres", proxy.port()));
  ASSERT_TRUE(store->commit({thing(1)}));
  proxy.swallow_answer_to("COMMIT");
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_EQ(proxy.swallowed(), 1);
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2}));
  EXPECT_EQ(server.sql("SELECT number FROM muster_lead", name), "2") << "it was committed twice";
}

TEST_F(PostgresStoreTest, a_commit_that_never_arrived_is_made_again) {
  const auto store = open_store(address);
  ASSERT_TRUE(store->commit({thing(1)}));
  server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name +
             "' AND pid <> pg_backend_pid()");
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2}));
}

TEST_F(PostgresStoreTest, while_the_database_is_away_nothing_is_acknowledged_and_then_it_goes_on) {
  TcpProxy proxy(server.port());
  const auto store = open_store(server.url(name, "postgres", proxy.port()));
  proxy.cut();
  for (int i = 0; i < 3; ++i) {
    const auto refused = store->commit({thing(1)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error_class, ErrorClass::transient);
  }
  EXPECT_FALSE(store->scan({&things}, [](auto) { return true; }));
  proxy.reopen();
  ASSERT_TRUE(store->commit({thing(1)}));
  EXPECT_EQ(numbers_of(*store, {&things}), Numbers{1});
}

// The answer was lost, and so was the way to ask: the next commit, which may be a larger one, finds
// out.
TEST_F(PostgresStoreTest, an_outcome_that_cannot_be_asked_for_is_found_out_later) {
  TcpProxy proxy(server.port());
  const auto store = open_store(server.url(name, "postgres", proxy.port()));
  const auto hold = connect(address);
  ASSERT_TRUE(hold->run("BEGIN; LOCK TABLE things"));
  std::thread commits([&] { EXPECT_FALSE(store->commit({thing(1), part("a", 1)})); });
  while (server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                    "datname = '" +
                    name + "'") != "1")
    std::this_thread::yield();
  proxy.cut();
  commits.join();
  ASSERT_TRUE(hold->run("ROLLBACK"));  // now the server goes on with it
  proxy.reopen();
  ASSERT_TRUE(muster::testing::shared_postgres().sql("SELECT 1", name) == "1");
  for (int i = 0; i < 3; ++i)
    if (store->commit({thing(1), part("a", 1), thing(2)})) break;
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{1, 2}));
  EXPECT_EQ(numbers_of(*store, {&parts}), Numbers{1});
}

TEST_F(PostgresStoreTest, another_program_that_writes_is_noticed) {
  const auto store = open_store(address);
  const auto second = open_store(address);
  ASSERT_TRUE(second->commit({thing(1)}));
  const auto refused = store->commit({thing(2)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, superseded);
  EXPECT_EQ(numbers_of(*store, {&things}), Numbers{1});
}

TEST_F(PostgresStoreTest, a_database_that_went_back_is_noticed_at_once_and_at_the_next_start) {
  const TemporaryFolder folder;
  StoreSettings settings = settings_of(address);
  settings.mark = folder / "postgres.mark";
  auto store = open_store(settings);
  ASSERT_TRUE(store->commit({thing(1)}));
  ASSERT_TRUE(store->commit({thing(2)}));
  EXPECT_FALSE(store->missing());
  server.sql("UPDATE muster_lead SET number = 1", name);
  const auto refused = store->commit({thing(3)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, superseded);
  store = open_store(settings);
  ASSERT_TRUE(store->missing());
  EXPECT_EQ(store->missing()->have.number, 1);
  EXPECT_EQ(store->missing()->expected.number, 2);
  EXPECT_NE(store->notice().find("are missing"), std::string::npos);
  EXPECT_TRUE(store->commit({thing(3)}));
}

TEST_F(PostgresStoreTest, bytes_that_are_no_text_do_not_stop_the_store) {
  const auto store = open_store(address);
  const std::string bytes("\xff\xfe\0\1\xc3", 5);
  ASSERT_TRUE(store->commit({thing(1, bytes), part(bytes, 1)}));
  EXPECT_EQ(std::get<std::string>(store::testing::rows_of(*store, {&things})[0][1]), bytes);
  EXPECT_EQ(numbers_of(*store, {&parts, {bytes}}), Numbers{1});
}

TEST_F(PostgresStoreTest, a_large_batch_is_one_transaction) {
  const auto store = open_store(address);
  store::Batch batch;
  for (std::int64_t i = 0; i < 20'000; ++i) batch.emplace_back(thing(i, std::string(100, 'x')));
  ASSERT_TRUE(store->commit(batch));
  EXPECT_EQ(numbers_of(*store, {&things}).size(), 20'000U);
  EXPECT_EQ(server.sql("SELECT number FROM muster_lead", name), "1");
}

TEST_F(PostgresStoreTest, a_backup_says_what_to_use) {
  const auto refused = open_store(address)->backup("x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::unsupported);
  EXPECT_NE(refused.error().message.find("pg_dump"), std::string::npos);
}

TEST_F(PostgresStoreTest, a_server_that_may_lose_acknowledged_changes_is_told_of) {
  EXPECT_EQ(open_store(address)->notice(), "");
  server.sql("ALTER DATABASE " + name + " SET synchronous_commit = off");
  EXPECT_NE(open_store(address)->notice().find("synchronous_commit"), std::string::npos);
}

}  // namespace
}  // namespace muster::postgres::testing
