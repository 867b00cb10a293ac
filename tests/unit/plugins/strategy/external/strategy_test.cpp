// The external strategy beside a service that misbehaves in every way we could think of.
#include "plugins/strategy/external/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/strategy/classic/sizing.hpp"
#include "tests/support/python_service.hpp"
#include "tests/unit/plugins/strategy/offers.hpp"

namespace muster::external {
namespace {

using namespace std::chrono_literals;
using testing::FakeContext;
using ::testing::HasSubstr;
using testing::offer;
using testing::PythonService;
using testing::select_request;
using ::testing::StartsWith;
using testing::taken;
using testing::Taken;

// For a path.
std::string encoded(const std::string& text) {
  std::string path;
  for (const char c : text) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    path += hex;
  }
  return path;
}

struct ExternalStrategy : ::testing::Test {
  static void SetUpTestSuite() {
    service = std::make_unique<PythonService>(MUSTER_SOURCE "/tests/support/nasty_service.py");
  }
  static void TearDownTestSuite() { service.reset(); }

  static std::string url(const std::string& behaviour) { return service->url() + "/" + behaviour; }
  static std::unique_ptr<Strategy> at(const std::string& where, json::object more = {}) {
    more["url"] = where;
    if (!more.contains("timeoutSeconds")) more["timeoutSeconds"] = 10;
    return std::make_unique<Strategy>(read_settings(more).value());
  }
  // How the reason begins; classic's own answer must follow it.
  std::string why_classic_sized(const std::string& behaviour, json::object more = {}) {
    const auto strategy = at(url(behaviour), std::move(more));
    const auto answer = strategy->size(pool, context);
    const std::string tail = "; classic decided: " + classic::size(pool)->reason;
    EXPECT_EQ(answer->capacity, classic::size(pool)->capacity);
    EXPECT_TRUE(answer->reason.ends_with(tail)) << answer->reason;
    const std::string begin = "the external strategy at " + url(behaviour) + " ";
    EXPECT_THAT(answer->reason, StartsWith(begin));
    return answer->reason.substr(begin.size(), answer->reason.size() - begin.size() - tail.size());
  }

  static std::unique_ptr<PythonService> service;
  FakeContext context;
  SizeRequest pool{WorkerPoolId("a/b"), 7, {3, 2}, {0, 20, 0.5, {{"hint", 1}}}};
  SelectRequest offers =
      select_request(5, {offer("a", 3, 1, 0.1), offer("b", 3, 4, 0.2), offer("c", 9, 1, 0.3, 0)});
};
std::unique_ptr<PythonService> ExternalStrategy::service;

TEST_F(ExternalStrategy, settings_say_which_key_is_wrong) {
  const auto mistake = [](json::object config) {
    config["url"] = "http://localhost";
    const auto read = read_settings(config);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(mistake({{"restSeconds", -1}}), "restSeconds: is not between 0 and 3600");
  EXPECT_EQ(mistake({{"classic", {{"mode", "best"}}}}),
            "classic.mode: \"best\" is none of random, cheapestBiased");
  EXPECT_EQ(mistake({{"classic", 7}}), "classic: expected an object, got the number 7");
}

TEST_F(ExternalStrategy, whatever_goes_wrong_classic_decides_and_says_so) {
  EXPECT_EQ(why_classic_sized("silent", {{"timeoutSeconds", 0.2}}), "did not answer within 0.2 s");
  EXPECT_EQ(why_classic_sized("drip", {{"timeoutSeconds", 0.2}}), "did not answer within 0.2 s");
  EXPECT_EQ(why_classic_sized("close"), "closed the connection without an answer");
  EXPECT_EQ(why_classic_sized("cut"), "closed the connection in the middle of its answer");
  EXPECT_EQ(why_classic_sized("huge"), "sent an answer of more than 16777216 bytes");
  EXPECT_EQ(why_classic_sized("garbage"), "sent something that is not HTTP");
  EXPECT_EQ(why_classic_sized("redirect"),
            "answered with HTTP status 302, a redirect, which is not followed");
  EXPECT_EQ(why_classic_sized("status/500"), "answered with HTTP status 500");
  EXPECT_EQ(why_classic_sized("status/201/" + encoded(R"({"capacity":1,"reason":"x"})")),
            "answered with HTTP status 201");
  EXPECT_EQ(why_classic_sized("status/400/" + encoded(R"({"error":{"message":"no such pool"}})")),
            "answered with HTTP status 400: no such pool");
  EXPECT_THAT(why_classic_sized("say/" + encoded("<html>")),
              StartsWith("sent an answer of the wrong shape: "));
  EXPECT_THAT(why_classic_sized("deep"), StartsWith("sent an answer of the wrong shape: "));
  EXPECT_EQ(why_classic_sized("say/" + encoded(R"({"capacity":"many","reason":"x"})")),
            "sent an answer of the wrong shape: capacity: expected a whole number, got a string");
  EXPECT_EQ(why_classic_sized("say/" + encoded(R"({"capacity":1.5,"reason":"x"})")),
            "sent an answer of the wrong shape: capacity: expected a whole number, got the number "
            "1.5");
  EXPECT_EQ(why_classic_sized("say/" + encoded(R"({"capacity":16,"reason":"x"})")),
            "sent an answer that breaks its contract: it wants 16 beside 5 running and requested; "
            "maxCapacity is 20");
  EXPECT_EQ(why_classic_sized("show", {{"tokenFile", "/nowhere/token"}}),
            "cannot be asked: the token file /nowhere/token cannot be read");
}

TEST_F(ExternalStrategy, a_selection_that_breaks_the_contract_is_not_used) {
  const auto answer =
      at(url("say/" + encoded(R"({"choices":[{"bidId":"z","instances":1}],"reason":"x"})")))
          ->select(offers, context);
  EXPECT_THAT(answer->reason,
              HasSubstr(" sent an answer that breaks its contract: it takes bid z, which is not "
                        "offered; classic decided: "));
  EXPECT_EQ(taken(*answer), taken(*classic::select(offers, {})));
}

TEST_F(ExternalStrategy, the_pools_or_the_instances_preferences_hold_when_classic_selects) {
  const auto dead = [&](json::object classic) {
    return at("http://127.0.0.1:1", {{"classic", std::move(classic)}});
  };
  EXPECT_EQ(taken(*dead({{"mode", "cheapestBiased"}, {"maxPrice", 0.1}})->select(offers, context)),
            (Taken{{"a", 3}}));
  offers.settings.strategy = {{"maxPrice", 0.05}};
  EXPECT_EQ(taken(*dead({{"mode", "cheapestBiased"}})->select(offers, context)), Taken{});
  offers.settings.strategy = {{"maxPrice", "the service knows"}};
  EXPECT_EQ(taken(*dead({{"mode", "cheapestBiased"}, {"maxPrice", 0.1}})->select(offers, context)),
            (Taken{{"a", 3}}));
}

TEST_F(ExternalStrategy, a_good_answer_is_taken_as_it_is) {
  const auto size = at(url("say/" + encoded(R"({"capacity":-2,"reason":"quiet","more":[]})")))
                        ->size(pool, context);
  EXPECT_EQ(size->capacity, -2);
  EXPECT_EQ(size->reason, "quiet");
  const auto selection =
      at(url("say/" + encoded(R"({"choices":[{"bidId":"b","instances":2}],"reason":"big ones"})")))
          ->select(offers, context);
  EXPECT_EQ(taken(*selection), (Taken{{"b", 2}}));
  EXPECT_EQ(selection->reason, "big ones");
  EXPECT_TRUE(context.log_lines().empty());
}

TEST_F(ExternalStrategy, the_service_gets_the_whole_request_and_the_protocols_version) {
  const auto answer = at(url("show"))->size(pool, context);
  const json::object seen = json::parse_object(answer->reason).value();
  json::object expected = codec::to_value(pool).as_object();
  expected["protocol"] = 1;
  EXPECT_EQ(json::canonical(seen.at("document")), json::canonical(expected));
}

TEST_F(ExternalStrategy, a_service_in_trouble_rests_and_the_words_stay_the_same) {
  const auto strategy = at(url("silent"), {{"timeoutSeconds", 0.2}, {"restSeconds", 60}});
  const auto first = strategy->size(pool, context);
  EXPECT_EQ(context.log_lines().size(), 1u);
  context.advance(59s);
  EXPECT_EQ(strategy->size(pool, context)->reason, first->reason);
  EXPECT_EQ(context.log_lines().size(), 1u);  // it was not asked
  context.advance(2s);
  EXPECT_EQ(strategy->size(pool, context)->reason, first->reason);
  EXPECT_EQ(context.log_lines().size(), 2u);
}

TEST_F(ExternalStrategy, a_host_in_a_hurry_does_not_silence_the_service) {
  const auto strategy = at(url("say/" + encoded(R"({"capacity":0,"reason":"x"})")));
  context.set_time_left(10ms);
  EXPECT_THAT(strategy->size(pool, context)->reason,
              HasSubstr(" was not asked: the host has no time left for it; classic decided: "));
  context.set_time_left(30s);
  EXPECT_EQ(strategy->size(pool, context)->reason, "x");
}

TEST_F(ExternalStrategy, one_wrong_answer_does_not_silence_the_service) {
  const auto strategy = at(url("say/" + encoded(R"({"capacity":0,"reason":"x"})")));
  pool.settings.min_capacity = 10;  // which the answer does not respect
  EXPECT_THAT(strategy->size(pool, context)->reason, HasSubstr("breaks its contract"));
  pool.settings.min_capacity = 0;
  EXPECT_EQ(strategy->size(pool, context)->reason, "x");
}

TEST_F(ExternalStrategy, requests_that_make_no_sense_and_cancelled_calls_are_errors) {
  pool.pending = -1;
  EXPECT_EQ(at(url("show"))->size(pool, context).error().error_class, ErrorClass::invalid);
  pool.pending = 1;
  context.cancel();
  EXPECT_EQ(at(url("show"))->size(pool, context).error().error_class, ErrorClass::cancelled);
  EXPECT_EQ(at(url("show"))->select(offers, context).error().error_class, ErrorClass::cancelled);
}

}  // namespace
}  // namespace muster::external
