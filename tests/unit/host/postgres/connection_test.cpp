#include "host/postgres/connection.hpp"

#include <fstream>

#include "host/postgres/errors.hpp"
#include "tests/support/certificate.hpp"
#include "tests/unit/host/postgres/fixture.hpp"

namespace muster::postgres::testing {
namespace {

using muster::testing::TemporaryFolder;

std::filesystem::path secret_file(const TemporaryFolder& folder, const std::string& text) {
  const auto file = folder / "password";
  std::ofstream(file) << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  return file;
}

TEST(PostgresConnection, an_address_that_cannot_be_used_is_a_mistake_of_the_configuration) {
  EXPECT_NE(mistake_in_address("postgresql://[::1/x"), "");
  EXPECT_NE(mistake_in_address("no address"), "");
  EXPECT_NE(mistake_in_address("postgresql://db.example/x?sslmoed=require"), "");
  EXPECT_NE(mistake_in_address("postgresql://db.example"), "");
  EXPECT_EQ(mistake_in_address("postgresql://a@db1,db2:5433/muster?sslmode=verify-full"), "");
  const auto refused = Connection::open({.address = "nonsense"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::config);
}

TEST(PostgresConnection, what_is_not_safe_is_warned_of) {
  EXPECT_NE(warning_about_address("postgresql://a:word@localhost/muster").find("passwordFile"),
            std::string::npos);
  EXPECT_NE(warning_about_address("postgresql://a@db1,localhost/muster").find("verify-full"),
            std::string::npos);
  EXPECT_EQ(warning_about_address("postgresql://a@db1/muster?sslmode=verify-full"), "");
  EXPECT_EQ(warning_about_address("postgresql://a@localhost,127.0.0.1/muster"), "");
}

TEST(PostgresConnection, a_server_that_is_not_there_is_transient_and_a_missing_database_is_not) {
  const auto nobody = Connection::open({.address = "postgresql://a@127.0.0.1:1/x"});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().error_class, ErrorClass::transient);
  const auto missing = Connection::open({.address = shared_postgres().url("no_such_database")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::config) << missing.error().message;
}

TEST(PostgresConnection, a_database_that_takes_no_changes_is_recognised) {
  auto& server = shared_postgres();
  const std::string name = server.new_database();
  server.sql("ALTER DATABASE " + name + " SET default_transaction_read_only = on");
  const auto refused = Connection::open({.address = server.url(name)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, read_only_server) << refused.error().message;
  EXPECT_EQ(refused.error().error_class, ErrorClass::transient);
}

// A server that asks for a password and for TLS, which costs a start of its own.
TEST(PostgresConnection, passwords_come_from_a_file_and_certificates_are_verified) {
  const TemporaryFolder folder;
  Postgres server;
  const std::filesystem::path cluster = server.cluster();
  muster::testing::write_certificate(cluster / "server.crt", cluster / "server.key",
                                     "DNS:localhost");
  std::filesystem::copy_file(cluster / "server.crt", folder / "ca.pem");
  muster::testing::write_certificate(folder / "other.pem", folder / "other.key", "DNS:localhost");
  server.own(cluster / "server.crt");
  server.own(cluster / "server.key");
  server.sql("CREATE ROLE keeper LOGIN PASSWORD 'open sesame'");
  server.sql("CREATE DATABASE kept OWNER keeper");
  server.sql("ALTER SYSTEM SET ssl = on");
  std::ofstream(server.cluster() + "/pg_hba.conf")
      << "hostssl kept keeper 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n";
  server.restart();
  const auto connect_with = [&](const std::string& host, const std::string& ca,
                                const std::string& password) {
    const auto file = secret_file(folder, password);
    auto opened = Connection::open(
        {.address = "postgresql://keeper@" + host + ":" + std::to_string(server.port()) +
                    "/kept?sslmode=verify-full&sslrootcert=" + (folder / ca).string(),
         .password_file = file});
    std::filesystem::remove(file);
    return opened ? Error{} : opened.error();
  };
  const Error accepted = connect_with("localhost", "ca.pem", "open sesame\n");
  EXPECT_EQ(accepted.message, "");
  for (const Error& refused : {connect_with("localhost", "ca.pem", "wrong"),
                               connect_with("localhost", "other.pem", "open sesame"),
                               connect_with("127.0.0.1", "ca.pem", "open sesame")}) {
    EXPECT_EQ(refused.error_class, ErrorClass::config) << refused.message;
    EXPECT_NE(refused.message, "");
    EXPECT_EQ(refused.message.find("sesame"), std::string::npos);
  }
}

}  // namespace
}  // namespace muster::postgres::testing
