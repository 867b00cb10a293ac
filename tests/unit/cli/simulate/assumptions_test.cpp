#include "cli/simulate/assumptions.hpp"

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

std::string first_mistake(const std::string& toml) {
  const auto reading = read_assumptions(toml, "simulation.toml");
  return reading.mistakes.empty() ? "" : config::to_string(reading.mistakes.front(), "s");
}

TEST(Assumptions, mistakes_have_their_place) {
  EXPECT_THAT(first_mistake("providers = \n"), HasSubstr("s:1:"));
  EXPECT_THAT(first_mistake("[provider.ec2]\n"), HasSubstr("s:1:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\npricePerHuor = 1\n"), HasSubstr("s:2:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\npricePerHuor = 1\n"), HasSubstr("pricePerHour"));
  EXPECT_THAT(first_mistake("[providers.ec2]\n\npricePerHour = \"1\"\n"), HasSubstr("s:3:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\npricePerHour = -1\n"), HasSubstr("s:2:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\nperZone = 1.5\n"), HasSubstr("s:2:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\nneverBoots = 2\n"), HasSubstr("s:2:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\nbootSeconds = [1]\n"), HasSubstr("s:2:"));
  EXPECT_THAT(first_mistake("[providers.ec2]\nbootSeconds = [9, 1]\n"),
              HasSubstr("the quickest boot is slower"));
  EXPECT_THAT(first_mistake("[providers.ec2]\nfailures = [{ klass = \"quota\" }]\n"),
              HasSubstr("klass"));
  EXPECT_THAT(first_mistake("[providers.ec2.instanceTypes.big]\nprice = 1\n"), HasSubstr("s:2:"));
}

TEST(Assumptions, an_empty_file_assumes_nothing) {
  EXPECT_TRUE(read_assumptions("", "simulation.toml").mistakes.empty());
  EXPECT_TRUE(read_assumptions("# nothing\n[providers.ec2]\n", "simulation.toml").mistakes.empty());
}

TEST(Assumptions, all_that_can_be_said_is_understood) {
  const auto reading = read_assumptions(R"(
[providers.ec2]
pricePerHour = 0.5
perZone = 20
bootSeconds = 45
neverBoots = 0.01
failures = [{ probability = 0.1, class = "quota" }]
interruptions = { perHour = 0.2 }
[providers.ec2.instanceTypes."c6i.4xlarge"]
pricePerHour = 1
[providers.sim.config]
seed = 3
)",
                                        "simulation.toml");
  ASSERT_TRUE(reading.mistakes.empty()) << reading.mistakes.front().reason;
  const CloudAssumptions& ec2 = reading.assumptions.providers.at("ec2");
  EXPECT_EQ(ec2.price_per_hour, 0.5);
  EXPECT_EQ(ec2.per_zone, 20);
  EXPECT_EQ(ec2.boot_seconds, std::pair(45.0, 45.0));
  EXPECT_EQ(ec2.never_boots, 0.01);
  EXPECT_EQ(ec2.instance_types.at("c6i.4xlarge").price_per_hour, 1.0);
  EXPECT_TRUE(ec2.trouble.contains("failures"));
  EXPECT_TRUE(ec2.trouble.contains("interruptions"));
  EXPECT_EQ(reading.assumptions.providers.at("sim").config.at("seed").as_int64(), 3);
}

TEST(Assumptions, prices_that_a_list_does_not_replace_are_found) {
  const auto read = [](const char* text) { return read_assumptions(text, "x").assumptions; };
  const Assumptions base = read(
      "[providers.ec2]\npricePerHour = 1\n[providers.ec2.instanceTypes.big]\npricePerHour = 2\n");
  EXPECT_EQ(price_that_stays(base, read("[providers.gcp]\npricePerHour = 1\n")), "ec2");
  EXPECT_EQ(price_that_stays(base, read("[providers.ec2]\npricePerHour = 3\n")), "ec2 big");
  EXPECT_EQ(price_that_stays(base, base), "");
  EXPECT_EQ(price_that_stays(read("[providers.ec2]\nperZone = 7\n"), Assumptions{}), "");
}

TEST(Assumptions, a_price_list_changes_prices_and_the_currency_and_nothing_else) {
  auto base = read_assumptions(
      "currency = \"USD\"\n[providers.ec2]\npricePerHour = 1\nperZone = 7\n", "simulation.toml");
  const auto list = read_assumptions(
      "currency = \"EUR\"\n[providers.ec2]\nperZone = 9\n[providers.ec2.instanceTypes.big]\n"
      "pricePerHour = 3\n[providers.gcp]\npricePerHour = 2\n",
      "list.toml");
  ASSERT_TRUE(base.mistakes.empty() && list.mistakes.empty());
  take_prices(list.assumptions, base.assumptions);
  EXPECT_EQ(base.assumptions.currency, "EUR");
  const CloudAssumptions& ec2 = base.assumptions.providers.at("ec2");
  EXPECT_EQ(ec2.price_per_hour, 1);
  EXPECT_EQ(ec2.price_source, "simulation.toml");
  EXPECT_EQ(ec2.per_zone, 7);
  EXPECT_EQ(ec2.instance_types.at("big").price_per_hour, 3);
  EXPECT_EQ(ec2.instance_types.at("big").price_source, "list.toml");
  EXPECT_EQ(base.assumptions.providers.at("gcp").price_source, "list.toml");
  EXPECT_FALSE(read_assumptions("currency = \"euro\"\n", "x").mistakes.empty());
}

}  // namespace
}  // namespace muster::cli
