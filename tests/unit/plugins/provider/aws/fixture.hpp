// A provider over an EC2 in memory that can fail on request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/aws/aws_provider.hpp"
#include "plugins/provider/aws/example_api.hpp"

namespace muster::aws {

using namespace std::chrono_literals;

inline json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

class AwsTest : public ::testing::Test {
 protected:
  // Two regions of two zones each.
  AwsProvider& provider(const char* config = R"({"regions": ["us-east-1", "eu-west-1"]})") {
    if (!provider_) start(config);
    return *provider_;
  }

  // As after a crash of the plugin: the same EC2, nothing remembered.
  AwsProvider& restart(const char* config = R"({"regions": ["us-east-1", "eu-west-1"]})") {
    provider_.reset();
    start(config);
    return *provider_;
  }

  LaunchConfig launch_config(const char* section = nullptr, std::size_t index = 0) {
    const Placement placement{{{"region", "us-east-1"}, {"availabilityZone", "us-east-1a"}}};
    json::object document{{"aws", section ? object(section) : example_section()},
                          {"workerConfig", json::object{{"a", 1}}}};
    const auto expansion =
        provider().expand({WorkerPoolId("worker-manager/build"), placement, document}, context);
    EXPECT_TRUE(expansion) << expansion.error().message;
    const LaunchDocument& made = expansion.value().launch_documents.at(index);
    return {LaunchConfigId("lc-0000000000000000000" + std::to_string(index)),
            WorkerPoolId("worker-manager/build"),
            placement,
            made.document,
            made.capacity_per_instance,
            made.instance_type};
  }

  AllocateRequest request(std::vector<std::string> keys) {
    AllocateRequest made{.owner = owner,
                         .launch_config = launch_config(),
                         .idempotency_keys = {},
                         .tags = {{"owner", "x@y.z"}},
                         .registration = {{"rootUrl", "https://muster.example"},
                                          {"workerPoolId", "worker-manager/build"},
                                          {"providerId", "ec2"},
                                          {"workerConfig", json::object{{"a", 1}}}}};
    for (std::string& key : keys) made.idempotency_keys.emplace_back(std::move(key));
    return made;
  }

  static std::vector<std::string> keys(int from, int to) {
    std::vector<std::string> made;
    for (int i = from; i <= to; ++i) made.push_back("host-7-" + std::to_string(i));
    return made;
  }

  std::vector<Call> calls(const std::string& action) const {
    std::vector<Call> found;
    for (const Call& call : api->calls())
      if (call.action == action) found.push_back(call);
    return found;
  }

  Owner owner{"host", ProviderId("ec2"), 7};
  testing::FakeContext context;
  std::shared_ptr<ExampleApi> api =
      std::make_shared<ExampleApi>(std::vector<std::string>{"us-east-1", "eu-west-1"});

 private:
  class Shared final : public Api {
   public:
    explicit Shared(std::shared_ptr<ExampleApi> api) : api_(std::move(api)) {}
    Result<json::object> call(const Call& call, const Context& context) override {
      return api_->call(call, context);
    }

   private:
    std::shared_ptr<ExampleApi> api_;
  };

  void start(const char* config) {
    auto settings = read_settings(object(config));
    ASSERT_TRUE(settings) << settings.error().message;
    auto identity_keys = IdentityKeys::read(*settings);
    ASSERT_TRUE(identity_keys) << identity_keys.error().message;
    provider_ = std::make_unique<AwsProvider>(std::move(*settings), std::move(*identity_keys),
                                              std::make_unique<Shared>(api));
  }

  std::unique_ptr<AwsProvider> provider_;
};

}  // namespace muster::aws
