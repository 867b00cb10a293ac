// A provider over a Compute Engine in memory that can fail on request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/example_api.hpp"
#include "plugins/provider/google/google_provider.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

inline json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

inline constexpr const char* usual_config =
    R"({"project": "my-project", "zones": ["us-central1-a", "us-central1-b"],
        "workerServiceAccount": "worker@my-project.iam.gserviceaccount.com"})";

class GoogleTest : public ::testing::Test {
 protected:
  GoogleProvider& provider(const char* config = usual_config) {
    if (!provider_) start(config);
    return *provider_;
  }

  // As after a crash of the plugin: the same Google, nothing remembered.
  GoogleProvider& restart(const char* config = usual_config) {
    provider_.reset();
    start(config);
    return *provider_;
  }

  LaunchConfig launch_config(const char* section = nullptr, std::size_t index = 0) {
    const Placement placement{{{"region", "us-central1"}, {"availabilityZone", "us-central1-a"}}};
    json::object document{{"google", section ? object(section) : example_section()},
                          {"workerConfig", json::object{{"a", 1}}}};
    const auto expansion =
        provider().expand({WorkerPoolId("Proj/build"), placement, document}, context);
    EXPECT_TRUE(expansion) << expansion.error().message;
    const LaunchDocument& made = expansion.value().launch_documents.at(index);
    return {LaunchConfigId("lc-0000000000000000000" + std::to_string(index)),
            WorkerPoolId("Proj/build"),
            placement,
            made.document,
            made.capacity_per_instance,
            made.instance_type};
  }

  // As the host makes them: its id, which has capitals, the epoch, and the worker's number.
  IdempotencyKey key(int number) const {
    return IdempotencyKey(owner.host_id + "-7-" + std::to_string(number));
  }

  AllocateRequest request(int from, int to) {
    AllocateRequest made{.owner = owner,
                         .launch_config = launch_config(),
                         .idempotency_keys = {},
                         .tags = {{"owner", "x@y.z"}},
                         .registration = {{"rootUrl", "https://muster.example"},
                                          {"workerPoolId", "Proj/build"},
                                          {"providerId", "gcp"},
                                          {"workerConfig", json::object{{"a", 1}}}}};
    for (int i = from; i <= to; ++i) made.idempotency_keys.push_back(key(i));
    return made;
  }

  std::vector<Call> calls(const std::string& method) const {
    std::vector<Call> found;
    for (const Call& call : api->calls())
      if (call.method == method) found.push_back(call);
    return found;
  }

  Owner owner{"Qz-7_kBw3XyA", ProviderId("gcp"), 7};
  testing::FakeContext context;
  std::shared_ptr<ExampleApi> api = std::make_shared<ExampleApi>();

 private:
  class Shared final : public Api {
   public:
    explicit Shared(std::shared_ptr<ExampleApi> api) : api_(std::move(api)) {}
    Result<json::object> call(const Call& call, const Context& context) override {
      return api_->call(call, context);
    }
    bool pause(std::chrono::milliseconds time, const Context& context) override {
      return api_->pause(time, context);
    }

   private:
    std::shared_ptr<ExampleApi> api_;
  };

  void start(const char* config) {
    auto settings = read_settings(object(config));
    ASSERT_TRUE(settings) << settings.error().message;
    auto made = GoogleProvider::over(std::move(*settings), std::make_unique<Shared>(api));
    ASSERT_TRUE(made) << made.error().message;
    provider_ = std::move(*made);
  }

  std::unique_ptr<GoogleProvider> provider_;
};

}  // namespace muster::google
