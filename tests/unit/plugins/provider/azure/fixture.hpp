// A provider over an Azure in memory that can fail on request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/azure_provider.hpp"
#include "plugins/provider/azure/example_api.hpp"

namespace muster::azure {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;

inline json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

inline constexpr const char* usual_config = R"({
  "subscription": "00000000-0000-0000-0000-000000000000", "resourceGroup": "muster",
  "locations": ["westeurope", "northeurope"], "zones": {"westeurope": ["1", "2"]},
  "leftoverGraceSeconds": 60})";

class AzureTest : public ::testing::Test {
 protected:
  AzureProvider& provider(const char* config = usual_config) {
    if (!provider_) start(config);
    return *provider_;
  }

  // As after a crash of the plugin: the same Azure, nothing remembered.
  AzureProvider& restart(const char* config = usual_config) {
    provider_.reset();
    start(config);
    return *provider_;
  }

  Result<Expansion> expand(const json::object& section, const Placement& placement) {
    return provider().expand({WorkerPoolId("worker-manager/build"),
                              placement,
                              {{"azure", section}, {"workerConfig", json::object{{"a", 1}}}}},
                             context);
  }

  LaunchConfig launch_config(const json::object& section = example_section(),
                             std::size_t index = 0) {
    const auto expansion = expand(section, zone);
    EXPECT_TRUE(expansion) << expansion.error().message;
    const LaunchDocument& made = expansion.value().launch_documents.at(index);
    return {LaunchConfigId("lc-0000000000000000000" + std::to_string(index)),
            WorkerPoolId("worker-manager/build"),
            zone,
            made.document,
            made.capacity_per_instance,
            made.instance_type};
  }

  AllocateRequest request(int from, int to, const json::object& section = example_section(),
                          std::size_t index = 0) {
    AllocateRequest made{.owner = owner,
                         .launch_config = launch_config(section, index),
                         .idempotency_keys = {},
                         .tags = {{"owner", "x@y.z"}},
                         .registration = {{"rootUrl", "https://muster.example"},
                                          {"workerPoolId", "worker-manager/build"},
                                          {"providerId", "az"},
                                          {"workerConfig", json::object{{"a", 1}}}}};
    for (int i = from; i <= to; ++i)
      made.idempotency_keys.emplace_back("host-7-" + std::to_string(i));
    return made;
  }

  // Of the first key.
  Instance launched(int key = 1) {
    const auto allocation = provider().allocate(request(key, key), context);
    EXPECT_TRUE(allocation && allocation->launches[0].instance);
    return *allocation->launches[0].instance;
  }

  std::vector<Instance> listed() { return provider().list({owner}, context).value().instances; }

  void set_state(const std::string& machine, const std::string& provisioning,
                 const std::string& power = {}, const std::string& failure = {}) {
    api->change("virtualMachines", machine, [&](json::object& document) {
      json::object& properties = cloud::table_in(document, "properties");
      properties["provisioningState"] = provisioning;
      json::array statuses;
      if (!power.empty()) statuses.push_back(json::object{{"code", "PowerState/" + power}});
      if (!failure.empty())
        statuses.push_back(json::object{{"code", "ProvisioningState/failed/" + failure},
                                        {"message", "It failed."}});
      properties["instanceView"] = json::object{{"statuses", statuses}};
    });
  }

  const Placement zone{{{"region", "westeurope"}, {"availabilityZone", "westeurope-1"}}};
  Owner owner{"host", ProviderId("az"), 7};
  testing::FakeContext context;
  std::shared_ptr<ExampleApi> api = std::make_shared<ExampleApi>();

 private:
  class Shared final : public Api {
   public:
    explicit Shared(std::shared_ptr<ExampleApi> api) : api_(std::move(api)) {}
    Result<Answer> call(const Call& call, const Context& context) override {
      return api_->call(call, context);
    }
    Result<std::string> fetch(const std::string& url, const Context& context) override {
      return api_->fetch(url, context);
    }

   private:
    std::shared_ptr<ExampleApi> api_;
  };

  void start(const char* config) {
    auto settings = read_settings(object(config));
    ASSERT_TRUE(settings) << settings.error().message;
    auto attestation = Attestation::create(settings->identity);
    ASSERT_TRUE(attestation) << attestation.error().message;
    provider_ = std::make_unique<AzureProvider>(std::move(*settings), std::move(*attestation),
                                                std::make_unique<Shared>(api));
  }

  std::unique_ptr<AzureProvider> provider_;
};

}  // namespace muster::azure
