#include "host/postgres/schema.hpp"

#include <future>

#include "tests/unit/host/postgres/fixture.hpp"

namespace muster::postgres::testing {
namespace {

TEST(PostgresSchema, the_real_tables_are_made_and_hosts_that_start_together_do_it_once) {
  auto& server = shared_postgres();
  const std::string address = server.url(server.new_database());
  std::vector<std::future<std::string>> hosts;
  for (int i = 0; i < 4; ++i)
    hosts.push_back(std::async(std::launch::async, [&] {
      StoreSettings settings;
      settings.connection.address = address;
      const auto opened = PostgresStore::open(std::move(settings));
      return opened ? std::string() : opened.error().message;
    }));
  for (auto& host : hosts) EXPECT_EQ(host.get(), "");
  const auto connection = connect(address);
  EXPECT_EQ(*version_of(*connection), store::migrations().size());
}

TEST(PostgresSchema, a_database_of_a_newer_muster_is_refused_and_left_alone) {
  auto& server = shared_postgres();
  const std::string name = server.new_database();
  { const auto store = open_store(server.url(name)); }
  server.sql("INSERT INTO migrations VALUES (3, '9.9.9')", name);
  const auto refused = PostgresStore::open(settings_of(server.url(name)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::config);
  EXPECT_NE(refused.error().message.find("muster 9.9.9"), std::string::npos);
}

TEST(PostgresSchema, a_step_that_fails_is_undone_as_a_whole) {
  auto& server = shared_postgres();
  const std::string name = server.new_database();
  const std::array bad{store::testing::steps[0],
                       store::Migration{"CREATE TABLE x (a INTEGER); NONSENSE"}};
  StoreSettings settings = settings_of(server.url(name));
  settings.migrations = bad;
  ASSERT_FALSE(PostgresStore::open(settings));
  EXPECT_EQ(server.sql("SELECT count(*) FROM pg_tables WHERE tablename IN ('x', 'things')", name),
            "0");
  EXPECT_TRUE(PostgresStore::open(settings_of(server.url(name))));
}

// The statements of docs/high-availability.md.
TEST(PostgresSchema, a_role_with_a_schema_of_its_own_needs_no_other_right) {
  auto& server = shared_postgres();
  const std::string name = server.new_database();
  server.sql("CREATE ROLE muster LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION");
  server.sql("REVOKE ALL ON DATABASE " + name + " FROM PUBLIC; GRANT CONNECT ON DATABASE " + name +
                 " TO muster; REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE SCHEMA muster "
                 "AUTHORIZATION muster",
             name);
  const auto store = open_store(server.url(name, "muster"));
  EXPECT_TRUE(store->commit({store::testing::thing(1)}));
  EXPECT_EQ(store::testing::numbers_of(*store, {&store::testing::things}).size(), 1U);
  EXPECT_EQ(server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", name), "0");
}

}  // namespace
}  // namespace muster::postgres::testing
