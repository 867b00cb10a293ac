// Which provider a pool launches with is a permission of its own, in both APIs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/taskcluster_api/fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::HasSubstr;

constexpr const char* own_path = "/api/muster/v1/pools/x%2Fw";
const std::string may_put_pool = "muster:put-pool:x/*", rack = "worker-manager:provider:rack",
                  cloud = "worker-manager:provider:cloud",
                  manage = "worker-manager:manage-worker-pool:x/*";

// PUT of muster's own API.
Reply put_own(Fixture& host, const json::object& body, const std::vector<std::string>& scopes) {
  return host.send("PUT", own_path, {.token = host.client(scopes)}, json::write(body));
}

TEST(ProviderScopes, a_scope_for_the_pool_alone_makes_no_pool) {
  Fixture host;
  const Reply reply = put_own(host, host.cloud_pool_body(), {may_put_pool});
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.code(), "InsufficientScopes");
  EXPECT_THAT(reply.message(), HasSubstr("worker-manager:provider:"));
  EXPECT_EQ(put_own(host, host.cloud_pool_body(), {cloud}).status, 403);
  EXPECT_EQ(put_own(host, host.cloud_pool_body(), {may_put_pool, rack}).status, 403);
  EXPECT_EQ(put_own(host, host.cloud_pool_body(), {may_put_pool, cloud + "s"}).status, 403);
  EXPECT_EQ(host.call("workerPool", {"x/w"}).status, 404);
}

TEST(ProviderScopes, of_the_pool_and_its_provider_make_a_pool) {
  Fixture host;
  EXPECT_EQ(put_own(host, host.cloud_pool_body(), {may_put_pool, cloud}).status, 200);
  EXPECT_EQ(
      put_own(host, host.cloud_pool_body(), {may_put_pool, "worker-manager:provider:*"}).status,
      200);
  EXPECT_EQ(host.call("workerPool", {"x/w"}).status, 200);
}

TEST(ProviderScopes, of_both_providers_move_a_pool_from_one_to_the_other) {
  Fixture host;
  ASSERT_EQ(host.call("createWorkerPool", {"x/w"}, {.body = host.cloud_pool_body()}).status, 200);
  const Reply own = put_own(host, host.pool_body("rack"), {may_put_pool, rack});
  EXPECT_EQ(own.status, 403);
  EXPECT_THAT(own.message(), HasSubstr(cloud));
  const Reply theirs =
      host.call("updateWorkerPool", {"x/w"},
                {.body = host.pool_body("rack"), .token = host.client({manage, rack})});
  EXPECT_EQ(theirs.status, 403);
  EXPECT_THAT(theirs.message(), HasSubstr(cloud));
  EXPECT_EQ(host.call("workerPool", {"x/w"}).field("providerId"), "cloud");
  EXPECT_EQ(put_own(host, host.pool_body("rack"), {may_put_pool, rack, cloud}).status, 200);
  EXPECT_EQ(host.call("workerPool", {"x/w"}).field("providerId"), "rack");
}

TEST(ProviderScopes, are_asked_for_null_provider_too_and_not_of_one_that_launches_nothing) {
  Fixture host;
  ASSERT_EQ(host.call("createWorkerPool", {"x/w"}, {.body = host.cloud_pool_body()}).status, 200);
  EXPECT_EQ(put_own(host, host.pool_body("null-provider"), {may_put_pool, cloud}).status, 403);
  ASSERT_EQ(host.call("deleteWorkerPool", {"x/w"}, {.token = host.client({manage})}).status, 200);
  EXPECT_EQ(put_own(host, host.cloud_pool_body(), {may_put_pool, cloud}).status, 200);
}

TEST(ProviderScopes, a_caller_without_any_is_refused_before_the_body_is_read) {
  Fixture host;
  EXPECT_EQ(host.send("PUT", own_path, {.token = host.client({may_put_pool})}, "{").status, 403);
  EXPECT_EQ(host.send("PUT", own_path, {.token = ""}, "{").status, 401);
  EXPECT_EQ(host.send("PUT", own_path, {.token = host.client({may_put_pool, cloud})}, "{").status,
            400);
  EXPECT_EQ(host.send("POST", "/api/muster/v1/relay-registrations", {.token = ""}, "{").status,
            401);
}

}  // namespace
}  // namespace muster::taskcluster_api
