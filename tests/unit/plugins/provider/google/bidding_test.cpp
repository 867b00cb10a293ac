#include "plugins/provider/google/prices.hpp"
#include "tests/unit/plugins/provider/google/fixture.hpp"

namespace muster::google {
namespace {

TEST(GoogleMachineTypes, say_what_they_have) {
  const auto check = [](const char* name, const char* family, double processors, double gib) {
    const auto shape = shape_of(name);
    ASSERT_TRUE(shape) << name;
    EXPECT_EQ(shape->family, family);
    EXPECT_DOUBLE_EQ(shape->processors, processors) << name;
    EXPECT_DOUBLE_EQ(shape->memory_gib, gib) << name;
  };
  check("n2-standard-8", "n2", 8, 32);
  check("n1-highmem-2", "n1", 2, 13);
  check("n2-highcpu-16", "n2", 16, 16);
  check("e2-custom-4-8192", "e2", 4, 8);
  check("custom-2-4096", "n1", 2, 4);
  check("e2-medium", "e2", 1, 4);
  for (const char* strange :
       {"", "n2", "n2-standard", "n2-standard-x", "a2-highgpu-1g", "-", "custom-x-y"})
    EXPECT_FALSE(shape_of(strange) && shape_of(strange)->memory_gib > 0) << strange;
}

json::object sku(const char* description, const char* usage, const char* group, int nanos) {
  return {
      {"description", description},
      {"category",
       json::object{{"resourceFamily", "Compute"}, {"resourceGroup", group}, {"usageType", usage}}},
      {"serviceRegions", json::array{"us-central1"}},
      {"pricingInfo",
       json::array{json::object{
           {"pricingExpression",
            json::object{{"tieredRates", json::array{json::object{
                                             {"unitPrice", json::object{{"units", "0"},
                                                                        {"nanos", nanos}}}}}}}}}}}};
}

TEST(GoogleCatalogue, rows_are_processors_and_memory_of_a_family) {
  const auto row = read_sku(
      sku("Spot Preemptible N2D AMD Instance Ram running in Americas", "Preemptible", "RAM", 5));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->family, "n2d");
  EXPECT_TRUE(row->is_spot && row->is_memory);
  EXPECT_EQ(
      read_sku(sku("Compute optimized Core running in Belgium", "OnDemand", "CPU", 5))->family,
      "c2");
  for (const char* other :
       {"N2 Custom Instance Core running in Americas", "Commitment v1: N2 Cpu in Americas",
        "N2 Sole Tenancy Instance Core running in Americas", "Storage PD Capacity",
        "Network Egress running in Americas"})
    EXPECT_FALSE(read_sku(sku(other, "OnDemand", "CPU", 5))) << other;
  EXPECT_FALSE(read_sku({}));
}

class GoogleBidding : public GoogleTest {
 protected:
  BidRequest bid_request(std::int64_t capacity, std::size_t index = 1) {
    return {.owner = owner,
            .worker_pool_id = WorkerPoolId("Proj/build"),
            .capacity = capacity,
            .candidates = {{launch_config(nullptr, index), 1.0, {}}}};
  }
};

TEST_F(GoogleBidding, the_table_comes_first_then_the_catalogue_then_an_estimate) {
  EXPECT_THAT(provider().bid(bid_request(2), context)->bids.at(0).reason,
              HasSubstr("estimated from the list price"));
  api->skus = {sku("N2 Instance Core running in Americas", "OnDemand", "CPU", 30'000'000),
               sku("N2 Instance Ram running in Americas", "OnDemand", "RAM", 4'000'000)};
  restart(R"({"project": "my-project", "zones": ["us-central1-a"], "priceSource": "catalogue",
              "workerServiceAccount": "w@p.iam.gserviceaccount.com"})");
  auto bid = provider().bid(bid_request(2), context)->bids.at(0);
  EXPECT_THAT(bid.reason, HasSubstr("Google's billing catalogue"));
  EXPECT_NEAR(bid.price_per_capacity_hour, (4 * 0.03 + 16 * 0.004) / 2, 1e-9);
  (void)provider().bid(bid_request(2), context);
  EXPECT_EQ(calls("cloudbilling.skus.list").size(), 1u) << "asked for twice a day";
  restart(R"({"project": "my-project", "zones": ["us-central1-a"],
              "priceTable": {"us-central1/n2-standard-4": 0.1},
              "workerServiceAccount": "w@p.iam.gserviceaccount.com"})");
  bid = provider().bid(bid_request(2), context)->bids.at(0);
  EXPECT_NEAR(bid.price_per_capacity_hour, 0.05, 1e-9);
}

TEST_F(GoogleBidding, a_catalogue_that_is_forbidden_is_no_obstacle) {
  restart(R"({"project": "my-project", "zones": ["us-central1-a"], "priceSource": "catalogue",
              "workerServiceAccount": "w@p.iam.gserviceaccount.com"})");
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (!call.method.starts_with("cloudbilling")) return std::nullopt;
    return ExampleApi::Fault{Error::auth("forbidden")};
  };
  EXPECT_EQ(provider().bid(bid_request(2), context)->bids.size(), 1u);
}

TEST_F(GoogleBidding, quotas_bound_offers_and_what_is_under_way_is_debited) {
  api->limits = {{"N2_CPUS", 12}};
  EXPECT_EQ(provider().bid(bid_request(100), context)->bids.at(0).instances, 3);
  AllocateRequest two = request(1, 2);
  two.launch_config = launch_config(nullptr, 1);
  (void)provider().allocate(two, context);
  EXPECT_EQ(provider().bid(bid_request(100), context)->bids.at(0).instances, 1)
      << "before Google is asked again";
  context.advance(2min);
  EXPECT_EQ(provider().bid(bid_request(100), context)->bids.at(0).instances, 1) << "and after";
  EXPECT_EQ(calls("regions.get").size(), 2u);
}

TEST_F(GoogleBidding, a_full_quota_is_a_problem_that_names_the_metric_and_its_limit) {
  api->limits = {{"N2_CPUS", 2}};
  const auto bids = provider().bid(bid_request(1), context);
  EXPECT_TRUE(bids->bids.empty());
  ASSERT_EQ(bids->problems.size(), 1u);
  EXPECT_EQ(bids->problems[0].error_class, ErrorClass::quota);
  EXPECT_THAT(bids->problems[0].message, HasSubstr("N2_CPUS in us-central1 is 2"));
  EXPECT_EQ(bids->problems[0].scope.region, "us-central1");
}

TEST_F(GoogleBidding, quotas_that_are_not_known_are_no_obstacle) {
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "regions.get") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no answer")};
  };
  EXPECT_EQ(provider().bid(bid_request(4), context)->bids.at(0).instances, 2);
}

TEST_F(GoogleBidding, a_type_without_a_price_says_what_to_write) {
  LaunchConfig unknown = launch_config(nullptr, 0);
  unknown.document.at("google").as_object()["machineType"] = "a2-highgpu-1g";
  const auto bids = provider().bid({.owner = owner,
                                    .worker_pool_id = WorkerPoolId("Proj/build"),
                                    .capacity = 1,
                                    .candidates = {{unknown, 1.0, {}}}},
                                   context);
  ASSERT_EQ(bids->problems.size(), 1u);
  EXPECT_THAT(bids->problems[0].message,
              HasSubstr("add \"us-central1/SPOT/a2-highgpu-1g\" to priceTable"));
}

}  // namespace
}  // namespace muster::google
