#include "lib/http/admin_token.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "lib/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::http {
namespace {

namespace fs = std::filesystem;

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
