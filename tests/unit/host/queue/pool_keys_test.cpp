// The keys of pools: who may set them, and what is no key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/signing_key.hpp"
#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WorkerPoolId macs("p/mac");

std::string new_key() {
  return ssh::SigningKey::ed25519().line();
}

struct KeyFixture : Fixture {
  std::string refusal(const std::vector<std::string>& keys) {
    const auto done = queue.set_pool(macs, keys, now);
    return done ? "" : done.error().message;
  }
  const std::vector<std::string>& current() const { return queue.find_pool(macs)->public_keys; }
  // What a worker configuration says.
  void file(const std::vector<TeamId>& teams, const std::vector<std::string>& keys) {
    queue.configure_pools({{macs, {"mac.toml", teams, keys}}}, now);
  }
};

TEST(PoolKeys, that_are_none_are_refused_and_change_nothing) {
  KeyFixture keys;
  const std::string good = new_key();
  ASSERT_EQ(keys.refusal({good}), "");
  EXPECT_THAT(keys.refusal({""}), HasSubstr("publicKeys[0]: is empty"));
  EXPECT_THAT(keys.refusal({good, "garbage"}),
              HasSubstr("publicKeys[1]: \"garbage\" is not a kind"));
  EXPECT_THAT(keys.refusal({"-----BEGIN OPENSSH PRIVATE KEY-----"}),
              HasSubstr("is a private key: only the public one belongs here"));
  EXPECT_THAT(keys.refusal({"ecdsa-sha2-nistp256 AAAA"}), HasSubstr("use ssh-ed25519 or ssh-rsa"));
  EXPECT_THAT(keys.refusal({ssh::SigningKey::rsa(1024).line()}), HasSubstr("1024 bits"));
  EXPECT_THAT(keys.refusal({good, new_key(), good}), HasSubstr("publicKeys[2]: this key occurs"));
  EXPECT_THAT(keys.refusal(std::vector<std::string>(17, good)), HasSubstr("at most 16"));
  EXPECT_THAT(keys.current(), ElementsAre(good));
}

TEST(PoolKeys, are_replaced_as_a_whole_and_stay_where_nothing_is_said_of_them) {
  KeyFixture keys;
  const std::string one = new_key(), two = ssh::shared_rsa_key().line();
  ASSERT_EQ(keys.refusal({one}), "");
  ASSERT_TRUE(keys.queue.set_pool(macs, std::nullopt, keys.now));
  EXPECT_THAT(keys.current(), ElementsAre(one));
  ASSERT_EQ(keys.refusal({two}), "");
  EXPECT_THAT(keys.current(), ElementsAre(two));
  ASSERT_EQ(keys.refusal({}), "");
  EXPECT_THAT(keys.current(), IsEmpty());
  EXPECT_TRUE(keys.queue.find_pool(macs)->dedicated);
}

TEST(PoolKeys, are_forgotten_with_their_pool) {
  KeyFixture keys;
  ASSERT_EQ(keys.refusal({new_key()}), "");
  ASSERT_TRUE(keys.queue.destroy_pool(macs, keys.now));
  EXPECT_THAT(keys.current(), IsEmpty());
}

TEST(PoolKeys, of_a_file_are_changed_there) {
  KeyFixture keys;
  const std::string one = new_key();
  ASSERT_EQ(keys.refusal({new_key()}), "");
  keys.file({}, {one});
  EXPECT_THAT(keys.current(), ElementsAre(one)) << "what an operator said gives way";
  EXPECT_THAT(keys.refusal({new_key()}), HasSubstr("mac.toml: change them there"));
  EXPECT_TRUE(keys.queue.set_pool(macs, std::nullopt, keys.now)) << "its teams are not there";
  keys.file({}, {});
  EXPECT_THAT(keys.current(), IsEmpty());
  EXPECT_EQ(keys.refusal({one}), "");
}

TEST(PoolKeys, of_an_operator_stay_when_a_file_says_teams_and_no_keys) {
  KeyFixture keys;
  const std::string one = new_key(), two = new_key();
  ASSERT_EQ(keys.refusal({one}), "");
  keys.file({TeamId("ios")}, {});
  EXPECT_THAT(keys.current(), ElementsAre(one));
  EXPECT_EQ(keys.refusal({two}), "");
  const auto without = keys.queue.set_pool(macs, std::nullopt, keys.now);
  ASSERT_FALSE(without) << "which could only be about teams";
  EXPECT_THAT(without.error().message, HasSubstr("mac.toml"));
  keys.queue.configure_pools({}, keys.now);
  EXPECT_THAT(keys.current(), ElementsAre(two));
  EXPECT_FALSE(keys.queue.find_pool(macs)->dedicated);
}

}  // namespace
}  // namespace muster::queue::testing
