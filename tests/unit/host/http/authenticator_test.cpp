#include "host/http/authenticator.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "host/base/atomic_file.hpp"
#include "host/http/admin_token.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::http {
namespace {

namespace fs = std::filesystem;

Request with_authorization(std::string value) {
  Request request;
  request.headers.push_back({"authorization", std::move(value)});
  return request;
}

TEST(AuthenticatorTest, turns_away_everything_but_a_known_token) {
  Authenticator authenticator;
  EXPECT_TRUE(authenticator.turn_away(with_authorization("Bearer ")));
  authenticator.replace_tokens({{"admin", sha256("good")}, {"ci", sha256("other")}});
  for (const char* bad : {"", "good", "Bearer", "Bearer ", "Bearer  ", "Bearer goo", "Bearer goodd",
                          "Bearer GOOD", "Basic good", "Bearergood", "Bearer good,other"})
    EXPECT_TRUE(authenticator.turn_away(with_authorization(bad))) << bad;
  EXPECT_TRUE(authenticator.turn_away(with_authorization("Bearer " + std::string(5000, 'a'))));
  const auto refusal = authenticator.turn_away(Request{});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 401);
  EXPECT_EQ(find_header(refusal->headers, "www-authenticate"), "Bearer realm=\"muster\"");
}

TEST(AuthenticatorTest, a_digest_is_not_a_token) {
  Authenticator authenticator;
  authenticator.replace_tokens({{"admin", sha256("good")}});
  EXPECT_TRUE(authenticator.turn_away(with_authorization("Bearer " + to_hex(sha256("good")))));
}

TEST(AuthenticatorTest, knows_tokens_by_name_until_they_are_replaced) {
  Authenticator authenticator;
  authenticator.replace_tokens({{"admin", sha256("good")}, {"ci", sha256("other")}});
  EXPECT_EQ(authenticator.authenticate(with_authorization("Bearer good")), "admin");
  EXPECT_EQ(authenticator.authenticate(with_authorization("bearer other")), "ci");
  authenticator.replace_tokens({{"ci", sha256("other")}});
  EXPECT_FALSE(authenticator.authenticate(with_authorization("Bearer good")));
}

TEST(AdminTokenTest, refuses_a_token_that_others_can_read_or_guess) {
  testing::TemporaryFolder folder;
  const std::string token(40, 't');
  ASSERT_TRUE(write_file_atomically(folder / "t", token, 0640));
  EXPECT_NE(read_or_make_admin_token(folder / "t").error().message.find("chmod 600"),
            std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder / "t", "short\n", 0600));
  EXPECT_NE(read_or_make_admin_token(folder / "t").error().message.find("fewer than 32"),
            std::string::npos);
  ASSERT_TRUE(write_file_atomically(folder / "t", "", 0600));
  EXPECT_FALSE(read_or_make_admin_token(folder / "t"));
  EXPECT_FALSE(read_or_make_admin_token(folder / "no/such/folder"));
  EXPECT_FALSE(read_or_make_admin_token(folder.path()));
}

TEST(AdminTokenTest, is_made_once_private_and_then_kept) {
  testing::TemporaryFolder folder;
  const auto made = read_or_make_admin_token(folder / "t");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->made);
  EXPECT_EQ(fs::status(folder / "t").permissions(), fs::perms(0600));
  const auto kept = read_or_make_admin_token(folder / "t");
  EXPECT_FALSE(kept->made);
  EXPECT_EQ(kept->digest, made->digest);
  const std::string text = *read_file(folder / "t", 100);
  EXPECT_EQ(sha256(text.substr(0, text.size() - 1)), made->digest);
}

}  // namespace
}  // namespace muster::http
