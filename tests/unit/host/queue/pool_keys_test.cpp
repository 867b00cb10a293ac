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

struct KeyScene : Fixture {
  std::string refusal(const std::vector<std::string>& keys) {
    const auto done = queue.set_pool(macs, keys, now);
    return done ? "" : done.error().message;
  }
  const std::vector<std::string>& keys() const { return queue.find_pool(macs)->public_keys; }
  // What a worker configuration says.
  void file(const std::vector<TeamId>& teams, const std::vector<std::string>& keys) {
    queue.configure_pools({{macs, {"mac.toml", teams, keys}}}, now);
  }
};

TEST(PoolKeys, that_are_none_are_refused_and_change_nothing) {
  KeyScene scene;
  const std::string good = new_key();
  ASSERT_EQ(scene.refusal({good}), "");
  EXPECT_THAT(scene.refusal({""}), HasSubstr("publicKeys[0]: is empty"));
  EXPECT_THAT(scene.refusal({good, "garbage"}),
              HasSubstr("publicKeys[1]: \"garbage\" is not a kind"));
  EXPECT_THAT(scene.refusal({"-----BEGIN OPENSSH PRIVATE KEY-----"}),
              HasSubstr("is a private key: only the public one belongs here"));
  EXPECT_THAT(scene.refusal({"ecdsa-sha2-nistp256 AAAA"}),
              HasSubstr("ssh-ed25519 and ssh-rsa are"));
  EXPECT_THAT(scene.refusal({ssh::SigningKey::rsa(1024).line()}), HasSubstr("1024 bits"));
  EXPECT_THAT(scene.refusal({good, new_key(), good}), HasSubstr("publicKeys[2]: this key stands"));
  EXPECT_THAT(scene.refusal(std::vector<std::string>(17, good)), HasSubstr("at most 16"));
  EXPECT_THAT(scene.keys(), ElementsAre(good));
}

TEST(PoolKeys, are_replaced_as_a_whole_and_stay_where_nothing_is_said_of_them) {
  KeyScene scene;
  const std::string one = new_key(), two = ssh::shared_rsa_key().line();
  ASSERT_EQ(scene.refusal({one}), "");
  ASSERT_TRUE(scene.queue.set_pool(macs, std::nullopt, scene.now));
  EXPECT_THAT(scene.keys(), ElementsAre(one));
  ASSERT_EQ(scene.refusal({two}), "");
  EXPECT_THAT(scene.keys(), ElementsAre(two));
  ASSERT_EQ(scene.refusal({}), "");
  EXPECT_THAT(scene.keys(), IsEmpty());
  EXPECT_TRUE(scene.queue.find_pool(macs)->dedicated);
}

TEST(PoolKeys, are_forgotten_with_their_pool) {
  KeyScene scene;
  ASSERT_EQ(scene.refusal({new_key()}), "");
  ASSERT_TRUE(scene.queue.destroy_pool(macs, scene.now));
  EXPECT_THAT(scene.keys(), IsEmpty());
}

TEST(PoolKeys, of_a_file_are_changed_there) {
  KeyScene scene;
  const std::string one = new_key();
  ASSERT_EQ(scene.refusal({new_key()}), "");
  scene.file({}, {one});
  EXPECT_THAT(scene.keys(), ElementsAre(one)) << "what an operator said gives way";
  EXPECT_THAT(scene.refusal({new_key()}), HasSubstr("mac.toml: change them there"));
  EXPECT_TRUE(scene.queue.set_pool(macs, std::nullopt, scene.now)) << "its teams are not there";
  scene.file({}, {});
  EXPECT_THAT(scene.keys(), IsEmpty());
  EXPECT_EQ(scene.refusal({one}), "");
}

TEST(PoolKeys, of_an_operator_stay_when_a_file_says_teams_and_no_keys) {
  KeyScene scene;
  const std::string one = new_key(), two = new_key();
  ASSERT_EQ(scene.refusal({one}), "");
  scene.file({TeamId("ios")}, {});
  EXPECT_THAT(scene.keys(), ElementsAre(one));
  EXPECT_EQ(scene.refusal({two}), "");
  const auto without = scene.queue.set_pool(macs, std::nullopt, scene.now);
  ASSERT_FALSE(without) << "which could only be about teams";
  EXPECT_THAT(without.error().message, HasSubstr("mac.toml"));
  scene.queue.configure_pools({}, scene.now);
  EXPECT_THAT(scene.keys(), ElementsAre(two));
  EXPECT_FALSE(scene.queue.find_pool(macs)->dedicated);
}

}  // namespace
}  // namespace muster::queue::testing
