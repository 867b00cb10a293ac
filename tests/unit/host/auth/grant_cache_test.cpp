#include "host/auth/grant_cache.hpp"

#include <gtest/gtest.h>

#include "host/auth/judge.hpp"
#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

std::shared_ptr<const Grant> grant_with(const std::string& client_id, std::size_t scopes) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < scopes; ++i) all.push_back("some:scope:" + std::to_string(i));
  Grant grant;
  grant.caller = std::make_shared<const Caller>(Caller{client_id, ScopeSet(all)});
  return std::make_shared<const Grant>(std::move(grant));
}

TEST(GrantCacheTest, takes_no_more_bytes_than_it_may) {
  GrantCache cache(1 << 20);
  for (int i = 0; i < 5000; ++i) {
    const std::string id = "client" + std::to_string(i);
    cache.put(GrantCache::key_of(id, "x"), grant_with(id, i % 200));
    ASSERT_LE(cache.bytes(), std::size_t{1} << 20);
  }
  EXPECT_GT(cache.size(), 50u);
  EXPECT_TRUE(cache.find(GrantCache::key_of("client4999", "x")));
  EXPECT_FALSE(cache.find(GrantCache::key_of("client0", "x")));
  // One that is larger than all the room is not kept.
  cache.put(GrantCache::key_of("huge", "x"), grant_with("huge", 50'000));
  EXPECT_FALSE(cache.find(GrantCache::key_of("huge", "x")));
  EXPECT_LE(cache.bytes(), std::size_t{1} << 20);
}

TEST(GrantCacheTest, the_same_key_counts_once) {
  GrantCache cache(1 << 20);
  const Sha256 key = GrantCache::key_of("me", "x");
  cache.put(key, grant_with("me", 10));
  const std::size_t once = cache.bytes();
  cache.put(key, grant_with("me", 10));
  EXPECT_EQ(cache.bytes(), once);
  cache.erase(key);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(GrantCacheTest, a_stranger_puts_nothing_there) {
  FakeClock clock;
  Memory memory(1 << 20);
  Snapshot known;
  known.roles = std::make_shared<const Roles>();
  known.anonymous = std::make_shared<const Caller>();
  known.settings.lockout.failures = 0;
  known.put.hawk["me"] = auth::known(hawk_client("me", "my-key", {"a:*"}), known.roles);
  const auto judge = [&](const std::string& key, int i) {
    Signing how{"me", key,
                hawk::base64("{\"authorizedScopes\":[\"a:" + std::to_string(i) + "\"]}")};
    how.ts = seconds_of(clock);
    const auto request = signed_request(how);
    Authority::SignedRequest described{request.method, request.target(), how.host,
                                       std::string(*request.header("Authorization")), how.port};
    return Judge(known, memory, nullptr, clock.now(), clock.steady(), {})
        .judge(described, "")
        .has_value();
  };
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(judge("wrong", i));
  EXPECT_EQ(memory.grants.size(), 0u);
  EXPECT_TRUE(judge("my-key", 1));
  EXPECT_EQ(memory.grants.size(), 1u);
}

}  // namespace
}  // namespace muster::auth
