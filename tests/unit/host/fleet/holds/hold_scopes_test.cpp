// What each error of a provider closes, and what it leaves open.
#include <gtest/gtest.h>

#include "host/fleet/holds/hold_ledger.hpp"

namespace muster::bidding {
namespace {

using namespace std::chrono_literals;

const ProviderId cloud("cloud"), other_cloud("other");
constexpr Time start = Time(100'000h);

LaunchConfig config(const std::string& region, const std::string& zone, const std::string& type,
                    const std::string& id) {
  return {.launch_config_id = LaunchConfigId(id),
          .worker_pool_id = WorkerPoolId("p/w"),
          .placement = {{{"region", region}, {"availabilityZone", zone}}},
          .document = {},
          .instance_type = type};
}

const LaunchConfig m5_1a = config("us-1", "us-1a", "m5", "lc-1");
const LaunchConfig m5_1b = config("us-1", "us-1b", "m5", "lc-2");
const LaunchConfig c5_1a = config("us-1", "us-1a", "c5", "lc-3");
const LaunchConfig m5_2a = config("us-2", "us-2a", "m5", "lc-4");

struct Row {
  const char* name;
  Error error;
  std::chrono::seconds time;
  bool m5_1a, m5_1b, c5_1a, m5_2a;  // held?
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class ProviderErrors : public testing::TestWithParam<Row> {};

TEST_P(ProviderErrors, close_their_scope_for_their_time_and_nothing_else) {
  const Row& row = GetParam();
  HoldLedger ledger;
  ASSERT_NE(ledger.add(cloud, row.error, start), nullptr);
  const auto held = [&](const LaunchConfig& config, Time at) {
    return ledger.find(cloud, config, at) != nullptr;
  };
  EXPECT_EQ(held(m5_1a, start), row.m5_1a);
  EXPECT_EQ(held(m5_1b, start), row.m5_1b);
  EXPECT_EQ(held(c5_1a, start), row.c5_1a);
  EXPECT_EQ(held(m5_2a, start), row.m5_2a);
  EXPECT_EQ(ledger.find(other_cloud, m5_1a, start), nullptr);
  EXPECT_EQ(held(m5_1a, start + row.time - 1ms), row.m5_1a);
  for (const LaunchConfig* each : {&m5_1a, &m5_1b, &c5_1a, &m5_2a})
    EXPECT_FALSE(held(*each, start + row.time));
}

INSTANTIATE_TEST_SUITE_P(
    OfClouds, ProviderErrors,
    testing::Values(
        Row{"no machine of a type in a zone does not close the region",
            Error::capacity("none left").in_zone("us-1a").of_instance_type("m5"), 3min, true, false,
            false, false},
        Row{"a zone without addresses", Error::capacity("no free address").in_zone("us-1a"), 3min,
            true, false, true, false},
        Row{"an exhausted zone for as long as the provider says",
            Error::capacity("exhausted").in_zone("us-1a").hold_for(1h), 1h, true, false, true,
            false},
        Row{"a type that is not offered anywhere",
            Error::capacity("not offered").of_instance_type("m5").hold_for(23h), 23h, true, true,
            false, true},
        Row{"the quota of an account in a region", Error::quota("vCPU limit").in_region("us-1"),
            10min, true, true, true, false},
        Row{"the quota of a family",
            Error::quota("family").in_region("us-1").of_instance_type("m5"), 10min, true, true,
            false, false},
        Row{"the quota of all regions", Error::quota("GPUs of all regions"), 10min, true, true,
            true, true},
        Row{"too many calls", Error::throttle("slow down"), 30s, true, true, true, true},
        Row{"too many calls in a zone", Error::throttle("slow down").in_zone("us-1a"), 30s, true,
            false, true, false},
        Row{"refused credentials", Error::auth("denied"), 5min, true, true, true, true},
        Row{"a subnet that is not in its region", Error::config("no subnet").in_region("us-1"),
            10min, true, true, true, false},
        Row{"an image that is missing", Error::config("no image").of_launch_config("lc-1"), 10min,
            true, false, false, false},
        Row{"a document that is wrong", Error::invalid("bad").of_launch_config("lc-1"), 10min, true,
            false, false, false},
        Row{"something that is gone", Error::not_found("gone").of_launch_config("lc-1"), 10min,
            true, false, false, false},
        Row{"passing trouble", Error::transient("reset"), 15s, true, true, true, true},
        Row{"a bug of the plugin", Error::internal("oops").in_region("us-2"), 1min, false, false,
            false, true}));

TEST(HoldScopes, a_call_that_was_given_up_holds_nobody) {
  HoldLedger ledger;
  EXPECT_EQ(ledger.add(cloud, Error::cancelled("stopping"), start), nullptr);
  EXPECT_TRUE(ledger.empty());
}

TEST(HoldScopes, a_place_without_the_fact_is_not_in_the_scope) {
  HoldLedger ledger;
  ledger.add(cloud, Error::capacity("full").in_zone("us-1a"), start);
  LaunchConfig elsewhere = m5_1a;
  elsewhere.placement.facts.erase("availabilityZone");
  EXPECT_EQ(ledger.find(cloud, elsewhere, start), nullptr);
  elsewhere.placement.facts["zone"] = "us-1a";
  EXPECT_NE(ledger.find(cloud, elsewhere, start), nullptr) << "a zone by its other name";
}

TEST(HoldScopes, a_hold_says_itself_in_words) {
  HoldLedger ledger;
  const Hold* hold = ledger.add(
      cloud, Error::capacity("no m5 left").in_zone("us-1a").of_instance_type("m5"), start);
  EXPECT_EQ(hold->scope_text(), "zone us-1a, instance type m5");
  EXPECT_NE(
      hold->in_words().find("capacity error of cloud (zone us-1a, instance type m5), held until"),
      std::string::npos)
      << hold->in_words();
  EXPECT_NE(hold->in_words().find("no m5 left"), std::string::npos);
  EXPECT_EQ(Hold{}.scope_text(), "all of it");
}

}  // namespace
}  // namespace muster::bidding
