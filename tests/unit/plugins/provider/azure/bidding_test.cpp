#include "tests/unit/plugins/provider/azure/fixture.hpp"

namespace muster::azure {
namespace {

class AzureBidding : public AzureTest {
 protected:
  Bids bid(std::int64_t capacity, std::vector<std::size_t> indexes,
           const json::object& section = example_section()) {
    BidRequest request{.owner = owner,
                       .worker_pool_id = WorkerPoolId("worker-manager/build"),
                       .capacity = capacity,
                       .candidates = {}};
    for (const std::size_t index : indexes)
      request.candidates.push_back({launch_config(section, index)});
    return provider().bid(request, context).value();
  }
};

TEST_F(AzureBidding, prices_are_azures_own_and_one_question_serves_all_pools) {
  const Bids bids = bid(4, {0, 1, 2, 3});
  ASSERT_EQ(bids.bids.size(), 4u) << bids.problems.at(0).message;
  EXPECT_DOUBLE_EQ(bids.bids[0].price_per_capacity_hour, 0.01) << "Spot, two tasks";
  EXPECT_DOUBLE_EQ(bids.bids[1].price_per_capacity_hour, 0.05);
  EXPECT_EQ(bids.bids[0].instances, 2);
  (void)bid(4, {0, 1, 2, 3});
  EXPECT_EQ(api->calls("GET", "/api/retail/prices").size(), 1u);
  context.advance(6h);
  (void)bid(4, {0});
  EXPECT_EQ(api->calls("GET", "/api/retail/prices").size(), 2u);
}

TEST_F(AzureBidding, windows_costs_its_licence_unless_it_is_brought_along) {
  json::object section = example_section();
  section["osType"] = "Windows";
  EXPECT_DOUBLE_EQ(bid(2, {1}, section).bids.at(0).price_per_capacity_hour, 0.1);
  cloud::table_in(section, "launch")["licenseType"] = "Windows_Server";
  EXPECT_DOUBLE_EQ(bid(2, {1}, section).bids.at(0).price_per_capacity_hour, 0.05);
}

TEST_F(AzureBidding, while_azure_has_no_prices_old_ones_serve) {
  ASSERT_EQ(bid(2, {1}).bids.size(), 1u);
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.service != Service::retail_prices) return std::nullopt;
    return ExampleApi::Fault{Error::transient("down")};
  };
  context.advance(7h);
  EXPECT_EQ(bid(2, {1}).bids.size(), 1u);
  context.advance(200h);
  EXPECT_NE(bid(2, {1}).problems.at(0).message.find("priceTable"), std::string::npos);
}

TEST_F(AzureBidding, a_machine_above_max_price_gets_no_bid) {
  json::object section = example_section();
  section["maxPrice"] = 0.05;
  const Bids bids = bid(2, {0, 1}, section);
  EXPECT_EQ(bids.bids.size(), 1u);
  EXPECT_NE(bids.problems.at(0).message.find("more than maxPrice $0.05"), std::string::npos);
}

TEST_F(AzureBidding, quotas_are_debited_before_bidding_and_named_in_the_verdict) {
  api->set_quota("familyStandard_D2s_v5", 4, 10);
  api->set_quota("cores", 0, 100);
  api->set_quota("lowPriorityCores", 0, 0);
  const Bids bids = bid(100, {0, 1});
  ASSERT_EQ(bids.bids.size(), 1u);
  EXPECT_EQ(bids.bids[0].instances, 3) << "(10 - 4) / 2";
  const Error& none = bids.problems.at(0);
  EXPECT_EQ(none.error_class, ErrorClass::quota);
  EXPECT_EQ(none.hold, 3600s);
  EXPECT_EQ(none.scope.instance_type, "Standard_D2s_v5/spot");
  EXPECT_NE(none.message.find("\"Quota lowPriorityCores\" in westeurope is 0"), std::string::npos)
      << none.message;
  (void)provider().allocate(request(1, 2, example_section(), 1), context);
  EXPECT_EQ(bid(100, {1}).bids.at(0).instances, 1) << "what was launched since is debited";
  (void)provider().allocate(request(3, 3, example_section(), 1), context);
  const Error full = bid(100, {1}).problems.at(0);
  EXPECT_NE(full.message.find("used up: 10 of 10 vCPUs; raise it at https://portal.azure.com"),
            std::string::npos)
      << full.message;
  EXPECT_EQ(full.hold, 600s);
  EXPECT_EQ(api->calls("GET", "/usages").size(), 1u);
}

TEST_F(AzureBidding, a_size_that_is_not_offered_gets_no_bid) {
  json::object section = example_section();
  section["vmSizes"] = json::array{json::object{{"size", "Standard_ND96"}}};
  const Bids bids = bid(1, {1}, section);
  EXPECT_TRUE(bids.bids.empty());
}

TEST_F(AzureBidding, without_the_right_to_see_quotas_bids_go_on) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.target.find("/usages") == std::string::npos &&
        call.target.find("/skus") == std::string::npos)
      return std::nullopt;
    return ExampleApi::Fault{Error::auth("no").with_code("AuthorizationFailed")};
  };
  EXPECT_EQ(bid(10, {1}).bids.at(0).instances, 5);
}

TEST_F(AzureBidding, doctor_says_what_is_missing_and_what_to_do) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.target.find("/subnets/") == std::string::npos) return std::nullopt;
    return ExampleApi::Fault{Error::not_found("no such subnet")};
  };
  api->set_quota("familyStandard_D2s_v5", 9, 10);
  const auto diagnosis =
      provider().diagnose({owner, {launch_config(example_section(), 1)}}, context);
  std::map<std::string, Diagnosis::Check> checks;
  for (const Diagnosis::Check& check : diagnosis->checks) checks[check.subject] = check;
  EXPECT_EQ(checks.at("resource group muster").outcome, CheckOutcome::good);
  EXPECT_EQ(checks.at("permissions in muster").outcome, CheckOutcome::good);
  const Diagnosis::Check& size = checks.at("westeurope: Standard_D2s_v5 in zone 1");
  EXPECT_EQ(size.outcome, CheckOutcome::failed);
  EXPECT_NE(size.message.find("9 of 10 vCPUs are used"), std::string::npos) << size.message;
  bool has_subnet = false;
  for (const auto& [subject, check] : checks)
    has_subnet |= subject.find("subnet") != std::string::npos &&
                  check.outcome == CheckOutcome::failed && !check.remedy.empty();
  EXPECT_TRUE(has_subnet);
}

}  // namespace
}  // namespace muster::azure
