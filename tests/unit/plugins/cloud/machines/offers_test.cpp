#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/bids.hpp"
#include "plugins/cloud/machines/diagnosis_parts.hpp"
#include "plugins/cloud/machines/places.hpp"
#include "plugins/cloud/machines/reach.hpp"
#include "plugins/cloud/machines/section.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
using testing::FakeContext;

constexpr Words words{.cloud = "Nimbus",
                      .section = "nimbus",
                      .zone_fact = "cell",
                      .types_key = "kinds",
                      .type_key = "kind",
                      .spot = "cheap",
                      .on_demand = "sure",
                      .example_type = "k1"};

json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

// -------------------------------------------------------------------------------------------------
// Sections

SectionReader reader() {
  json::object launch =
      object(R"({"type": "object", "properties": {"image": {"type": "string"}}})");
  refuse(launch["properties"].as_object(), {{"name", "muster makes it; remove it"}});
  const json::object schema{{"type", "object"},
                            {"additionalProperties", false},
                            {"properties", section_properties(words, launch, "^k[0-9]$")}};
  return {{.words = words,
           .user_data = {.most = 200},
           .complete = [](json::object& own, const json::object&,
                          const Placement& placement) -> Result<bool> {
             own["cell"] = fact(placement, words.zone_fact);
             return own.contains("image");
           }},
          schema};
}

Result<Expansion> expand(std::string_view section, const char* more = "{}") {
  json::object document = object(more);
  document["nimbus"] = json::parse(section).value();
  return reader().expand(
      {WorkerPoolId("a/b"), {{{"region", "north"}, {"cell", "north-1"}}}, document});
}

TEST(Section, mistakes_have_their_path_and_say_what_to_do) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"launch": {"image": 1}})", "nimbus.launch.image"},
      {R"({"launch": {"name": "x"}})", "muster makes it"},
      {R"({"lunch": {}})", "launch"},
      {R"({"launch": {"image": "i"}})", "nimbus.kinds: is missing; write for example"},
      {R"({"kinds": [{"type": "big"}]})", "nimbus.kinds.0.type"},
      {R"({"kinds": [{"type": "k1"}, {"type": "k1"}]})", "nimbus.kinds[1]: the type \"k1\""},
      {R"({"kinds": [{"type": "k1"}], "market": ["free"]})", "nimbus.market"},
      {R"({"kinds": [{"type": "k1"}], "maxPrice": 0})", "nimbus.maxPrice"},
      {R"({"kinds": [{"type": "k1"}], "userData": {"rootUrl": "x"}})", "nimbus.userData.rootUrl"},
      {R"({"kinds": [{"type": "k1"}], "userData": "no fields"})", "{{registration}}"},
      {R"({"kinds": [{"type": "k1"}], "userData": "{{registration}}{{x}}"})", "{{x}} is not known"},
      {R"({"kinds": [{"type": "k1"}], "userData": "{{registration"})", "has no }}"}};
  for (const auto& [section, word] : wrong) {
    const auto expansion = expand(section);
    ASSERT_FALSE(expansion) << section;
    EXPECT_EQ(expansion.error().error_class, ErrorClass::invalid);
    EXPECT_TRUE(has(expansion.error().message, word)) << expansion.error().message;
  }
  EXPECT_TRUE(has(
      expand(R"({"kinds": [{"type": "k1"}]})", R"({"workerManager": {"capacityPerInstance": 0}})")
          .error()
          .message,
      "capacityPerInstance"));
}

TEST(Section, is_one_launch_document_for_each_type_and_market) {
  const auto expansion = expand(
      R"({"launch": {"image": "i", "disk": {"size": 1, "kind": "ssd"}}, "market": ["cheap", "sure"],
          "kinds": [{"type": "k1", "capacity": 3, "maxPrice": 2}, {"type": "k2", "launch": {"disk": {"size": 9}}}],
          "maxPrice": 1})",
      R"({"workerManager": {"capacityPerInstance": 5}, "workerConfig": {"c": 1}, "other": 1})");
  ASSERT_TRUE(expansion) << expansion.error().message;
  ASSERT_EQ(expansion->launch_documents.size(), 4u);
  const LaunchDocument& first = expansion->launch_documents[0];
  EXPECT_EQ(first.instance_type, "k1/spot");
  EXPECT_EQ(first.capacity_per_instance, 3);
  EXPECT_FALSE(first.document.contains("other"));
  EXPECT_EQ(number_of(first.document.at("nimbus").as_object(), "maxPrice"), 2);
  const LaunchDocument& last = expansion->launch_documents[3];
  EXPECT_EQ(last.instance_type, "k2");
  EXPECT_EQ(last.capacity_per_instance, 5);
  EXPECT_EQ(json::canonical(last.document.at("nimbus").at("launch")),
            R"({"cell":"north-1","disk":{"kind":"ssd","size":9},"image":"i"})");
}

TEST(Section, nothing_is_launched_where_the_cloud_says_so_or_there_is_no_section) {
  EXPECT_TRUE(expand(R"({"kinds": [{"type": "k1"}]})")->launch_documents.empty());
  EXPECT_TRUE(reader().expand({WorkerPoolId("a/b"), {}, {}})->launch_documents.empty());
}

TEST(UserData, has_what_agents_and_worker_runner_read) {
  Machine machine{.region = "north", .instance_type = "k1"};
  const json::object registration = object(R"({"rootUrl": "https://m", "workerPoolId": "a/b",
      "providerId": "n", "workerConfig": {"c": 1}})");
  const auto plain = make_user_data(words, {}, machine, "lc-1", registration);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(json::canonical(json::parse(*plain).value()), json::canonical(object(R"({
      "rootUrl": "https://m", "workerPoolId": "a/b", "providerId": "n", "workerConfig": {"c": 1},
      "workerGroup": "north", "launchConfigId": "lc-1"})")));
  const json::value table = object(R"({"more": true})");
  machine.user_data = &table;
  EXPECT_TRUE(has(*make_user_data(words, {}, machine, "lc-1", registration), "\"more\":true"));
  const json::value script = "#!/bin/sh\necho '{{registrationBase64}}' # {{workerPoolId}}\n";
  machine.user_data = &script;
  const auto filled = make_user_data(words, {}, machine, "lc-1", registration);
  ASSERT_TRUE(filled) << filled.error().message;
  EXPECT_TRUE(has(*filled, "# a/b\n"));
  EXPECT_FALSE(has(*filled, "{{"));
  const auto large = make_user_data(words, {.most = 50}, machine, "lc-1", registration);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().error_class, ErrorClass::config);
  EXPECT_TRUE(has(large.error().message, "Nimbus takes 50")) << large.error().message;
}

// -------------------------------------------------------------------------------------------------
// Prices and bids

TEST(PriceTable, odd_keys_and_prices_are_refused) {
  const auto is_type = [](std::string_view type) { return type.starts_with('k'); };
  for (const char* key : {"", "/k1", "k1/", "a/b/c/k1", "x1"}) {
    const json::object config{{"priceTable", json::object{{key, 1}}}};
    const auto table = read_price_table(config, is_type, "\"k1\"");
    ASSERT_FALSE(table) << key;
    EXPECT_TRUE(has(table.error().message, "write \"k1\"")) << table.error().message;
  }
  EXPECT_FALSE(read_price_table({{"priceTable", json::object{{"k1", -1}}}}, is_type, ""));
  EXPECT_TRUE(read_price_table({}, is_type, "")->empty());
}

TEST(PriceTable, the_most_exact_entry_counts) {
  Machine machine{.region = "north", .zone = "north-1", .instance_type = "k1", .market = "sure"};
  PriceTable table{{"k1", 1}};
  EXPECT_EQ(price_in_table(table, machine), 1);
  table["north/k1"] = 2;
  EXPECT_EQ(price_in_table(table, machine), 2);
  table["north-1/k1"] = 3;
  EXPECT_EQ(price_in_table(table, machine), 3);
  table["north-1/sure/k1"] = 4;
  EXPECT_EQ(price_in_table(table, machine), 4);
  machine.market = "cheap";
  machine.spot = true;
  EXPECT_EQ(price_in_table(table, machine), std::nullopt);
  table["cheap/k1"] = 0.5;
  EXPECT_EQ(price_in_table(table, machine), 0.5);
}

struct Bidding : ::testing::Test {
  BidRequest request_for(std::int64_t capacity) const {
    BidRequest request;
    request.capacity = capacity;
    request.candidates = {{.launch_config = {LaunchConfigId("lc-1"),
                                             WorkerPoolId("a/b"),
                                             {{{"region", "north"}, {"cell", "north-1"}}},
                                             object(R"({"nimbus": {"launch": {}, "kind": "k1",
                                                        "market": "cheap", "maxPrice": 2}})"),
                                             2}}};
    return request;
  }
  Bids bids(std::int64_t capacity) {
    return make_bids(words, request_for(capacity), sources, history, context);
  }

  FakeContext context;
  LaunchHistory history;
  BidSources sources{.price = [](const Machine&) { return Price{1.5, "a list"}; }};
};

TEST_F(Bidding, offers_what_is_wanted_and_no_more_than_the_quota_has_room_for) {
  ASSERT_EQ(bids(7).bids.size(), 1u);
  EXPECT_EQ(bids(7).bids[0].instances, 4);
  EXPECT_DOUBLE_EQ(bids(7).bids[0].price_per_capacity_hour, 0.75);
  EXPECT_TRUE(has(bids(7).bids[0].reason, "k1/spot in north-1: $1.5"));
  sources.room = [](const Machine&) { return std::optional<std::int64_t>(3); };
  EXPECT_EQ(bids(7).bids[0].instances, 3);
  EXPECT_TRUE(bids(0).bids.empty());
  EXPECT_TRUE(bids(0).problems.empty());
}

TEST_F(Bidding, a_candidate_without_a_bid_has_a_problem_about_itself) {
  sources.price = [](const Machine&) -> Result<Price> { return Error::config("no price"); };
  ASSERT_EQ(bids(1).problems.size(), 1u);
  EXPECT_EQ(bids(1).problems[0].scope.launch_config_id, "lc-1");
  sources.price = [](const Machine&) { return Price{3, "a list"}; };
  EXPECT_TRUE(has(bids(1).problems.at(0).message, "more than maxPrice $2"));
  sources.price = [](const Machine&) { return Price{1, "a list"}; };
  sources.room = [](const Machine&) -> Result<std::optional<std::int64_t>> {
    return Error::quota("10 of 10 processors are used").in_region("north");
  };
  const Bids full = bids(1);
  ASSERT_EQ(full.problems.size(), 1u);
  EXPECT_EQ(full.problems[0].scope.region, "north");
  EXPECT_FALSE(full.problems[0].scope.launch_config_id);
}

// -------------------------------------------------------------------------------------------------
// Places

TEST(Places, a_region_that_fails_does_not_hide_the_others_and_keeps_its_zones) {
  FakeContext context;
  bool failing = false;
  Places places("cell",
                [&](const std::string& region, const Context&) -> Result<std::vector<std::string>> {
                  if (region == "dead" || failing) return Error::transient("no answer");
                  return std::vector{region + "-2", region + "-1"};
                });
  const auto found = places.placements({"north", "dead"}, context);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->placements.size(), 2u);
  EXPECT_EQ(found->placements[0].facts.at("cell"), "north-1");
  failing = true;
  context.advance(2h);
  EXPECT_EQ(places.placements({"north", "dead"}, context)->placements.size(), 2u);
  EXPECT_FALSE(places.placements({"dead"}, context));
}

TEST(RememberedList, is_asked_for_seldom_and_its_old_answer_outlives_a_failure) {
  FakeContext context;
  RememberedList list;
  int asked = 0;
  const auto fail = [&]() -> Result<std::vector<std::string>> {
    ++asked;
    return Error::transient("no answer");
  };
  const auto answer = [&]() -> Result<std::vector<std::string>> {
    ++asked;
    return std::vector<std::string>{"b", "a"};
  };
  EXPECT_FALSE(list.get("regions", fail, context));
  EXPECT_EQ(list.get("regions", answer, context)->front(), "a");
  EXPECT_TRUE(list.get("regions", answer, context));
  EXPECT_EQ(asked, 2);
  context.advance(2h);
  EXPECT_EQ(list.get("regions", fail, context)->size(), 2u);
  EXPECT_EQ(list.get("regions", fail, context)->size(), 2u);
  EXPECT_EQ(asked, 3);
}

// -------------------------------------------------------------------------------------------------
// The way to the cloud, and whether it is open

TEST(Reach, wrong_values_are_refused_with_their_key) {
  const auto any = [](const std::string&, const std::string& url, bool plain) {
    return mistake_in_url(url, plain);
  };
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"endpoints": {"x": "ftp://x"}})", "endpoints.x: the URL"},
      {R"({"endpoints": {"x": "http://example.com"}})", "plainHttp"},
      {R"({"endpoints": {"x": "https://example.com/?a"}})", "query"},
      {R"({"proxy": "http://u:p@proxy"})", "proxy: has a password"},
      {R"({"caFile": "ca.pem"})", "caFile: \"ca.pem\" is not an absolute path"},
      {R"({"timeoutSeconds": 0})", "timeoutSeconds"},
      {R"({"maxAnswerBytes": 1})", "maxAnswerBytes"},
      {R"({"plainHttp": 1})", "plainHttp"}};
  for (const auto& [config, word] : wrong) {
    const auto read = read_reach(object(config), any);
    ASSERT_FALSE(read) << config;
    EXPECT_TRUE(has(read.error().message, word)) << read.error().message;
  }
  EXPECT_TRUE(
      read_reach(object(R"({"endpoints": {"x": "http://127.0.0.1:1/"}, "other": 1})"), any));
}

TEST(DiagnosisParts, the_clock_is_wrong_from_a_minute_on) {
  EXPECT_EQ(check_of_clock(words, 59s).outcome, CheckOutcome::good);
  EXPECT_TRUE(has(check_of_clock(words, 90s).message, "90 s behind that of Nimbus"));
  EXPECT_TRUE(has(check_of_clock(words, -90s).message, "90 s ahead of that of Nimbus"));
  EXPECT_TRUE(has(failed(words, "x", Error::auth("no"), "").remedy, "docs/clouds/nimbus.md"));
}

}  // namespace
}  // namespace muster::cloud
