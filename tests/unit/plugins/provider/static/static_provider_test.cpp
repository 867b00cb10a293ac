#include "plugins/provider/static/static_provider.hpp"

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

namespace muster::static_machines {
namespace {

const std::string secret(44, 's');
// Of 44 letters s.
const char* const digest = "b920698e46c380ce1a0a53b119d3ad17867fc9c19f84d20dbfe26138ce0c1617";

IdentifyRequest request(json::object proof, json::object data) {
  return {.worker_pool_id = WorkerPoolId("rack/build"),
          .worker_group = WorkerGroup("row-1"),
          .worker_id = WorkerId("m-1"),
          .proof = std::move(proof),
          .provider_data = std::move(data)};
}

struct StaticProviderTest : ::testing::Test {
  testing::FakeContext context;
  StaticProvider provider{"rack-1"};

  ErrorClass refusal(json::object proof, json::object data) {
    const auto answer = provider.identify(request(std::move(proof), std::move(data)), context);
    EXPECT_FALSE(answer);
    return answer ? ErrorClass::internal : answer.error().error_class;
  }
};

TEST_F(StaticProviderTest, a_proof_without_the_secret_is_refused) {
  const json::object row{{"staticSecretSha256", digest}};
  EXPECT_EQ(refusal({}, row), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", 7}}, row), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", ""}}, row), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", secret + "s"}}, row), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", digest}}, row), ErrorClass::auth);
}

TEST_F(StaticProviderTest, a_machine_that_was_announced_without_a_secret_cannot_register) {
  EXPECT_EQ(refusal({{"staticSecret", secret}}, {}), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", secret}}, {{"staticSecretSha256", ""}}), ErrorClass::auth);
  EXPECT_EQ(refusal({{"staticSecret", secret}}, {{"staticSecretSha256", 7}}), ErrorClass::auth);
}

TEST_F(StaticProviderTest, the_secret_proves_the_machine) {
  const auto answer = provider.identify(
      request({{"staticSecret", secret}}, {{"staticSecretSha256", digest}}), context);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->worker_id, WorkerId("m-1"));
  EXPECT_EQ(answer->worker_group, WorkerGroup("row-1"));
}

TEST_F(StaticProviderTest, nothing_is_ever_launched) {
  const LaunchConfig launch_config{.launch_config_id = LaunchConfigId("lc-1"),
                                   .worker_pool_id = WorkerPoolId("rack/build"),
                                   .placement = {},
                                   .document = {}};
  const auto launches = provider.allocate(
      {.owner = {}, .launch_config = launch_config, .idempotency_keys = {IdempotencyKey("k-1")}},
      context);
  ASSERT_TRUE(launches);
  ASSERT_EQ(launches->launches.size(), 1u);
  ASSERT_TRUE(launches->launches[0].error);
  EXPECT_EQ(launches->launches[0].error->error_class, ErrorClass::unsupported);
}

}  // namespace
}  // namespace muster::static_machines
