#include "relay/verifier.hpp"

#include <deque>

#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"
#include "tests/unit/relay/zone.hpp"

namespace muster::relay {
namespace {

using namespace std::chrono_literals;

// Answers when the test says so.
class SlowResolver final : public Resolver {
 public:
  void ask(const Question& question, SteadyTime, Done done) override {
    waiting.emplace_back(question, std::move(done));
  }
  void answer_one(const Zone& zone) {
    auto [question, done] = std::move(waiting.front());
    waiting.pop_front();
    done(zone.answer(question));
  }
  void answer_all(const Zone& zone) {
    while (!waiting.empty()) answer_one(zone);
  }
  std::deque<std::pair<Question, Done>> waiting;
};

struct VerifierTest : ::testing::Test {
  static std::shared_ptr<const NameRules> rules(const char* pattern) {
    auto made = std::make_shared<NameRules>();
    made->allowed.push_back(NamePattern::parse(pattern).value());
    return made;
  }
  void verify(const char* address) {
    verifier.verify(*parse_address(address),
                    [this](auto verdict, Source source) { answers.emplace_back(verdict, source); });
  }

  FakeClock clock;
  SlowResolver resolver;
  Verifier verifier{resolver,
                    clock,
                    {.deadline = 5s, .at_once = 2},
                    {.entries = 10, .min_ttl = 5s, .max_ttl = 60s, .negative_ttl = 20s},
                    rules("*.dc")};
  std::vector<std::pair<std::shared_ptr<const Verdict>, Source>> answers;
  const Zone zone{
      "7.0.1.10.in-addr.arpa 30 PTR m7.dc\nm7.dc 30 A 10.1.0.7\n"
      "8.0.1.10.in-addr.arpa 30 PTR m8.dc\nm8.dc ! serverFailure\n"};
};

TEST_F(VerifierTest, too_many_addresses_at_once_are_turned_away) {
  verify("10.1.0.1");
  verify("10.1.0.2");
  verify("10.1.0.3");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first, nullptr);
  EXPECT_EQ(answers[0].second, Source::too_busy);
  resolver.answer_all(zone);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(verifier.running(), 0u);
  verify("10.1.0.3");
  EXPECT_EQ(verifier.running(), 1u);
}

TEST_F(VerifierTest, there_is_one_lookup_of_an_address_at_a_time) {
  for (int i = 0; i < 5; ++i) verify("10.1.0.7");
  EXPECT_EQ(resolver.waiting.size(), 1u);
  resolver.answer_one(zone);
  EXPECT_EQ(resolver.waiting.size(), 1u);  // the forward question
  verify("::ffff:10.1.0.7");
  EXPECT_TRUE(answers.empty());
  resolver.answer_one(zone);
  ASSERT_EQ(answers.size(), 6u);
  for (const auto& [verdict, source] : answers) EXPECT_EQ(verdict->name, "m7.dc");
  EXPECT_EQ(verifier.counted(Source::own_lookup), 1u);
  EXPECT_EQ(verifier.counted(Source::shared_lookup), 5u);
}

TEST_F(VerifierTest, remembers_until_the_time_to_live_is_over) {
  verify("10.1.0.7");
  resolver.answer_all(zone);
  verify("10.1.0.7");
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].second, Source::cache);
  clock.advance(30s);
  verify("10.1.0.7");
  EXPECT_EQ(answers.size(), 2u);
  EXPECT_EQ(resolver.waiting.size(), 1u);
}

TEST_F(VerifierTest, asks_again_after_a_failure) {
  verify("10.1.0.8");
  resolver.answer_all(zone);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first->finding, Finding::dns_failed);
  verify("10.1.0.8");
  EXPECT_EQ(resolver.waiting.size(), 1u);
  EXPECT_EQ(verifier.cached(), 0u);
}

TEST_F(VerifierTest, gives_up_at_the_deadline) {
  verify("10.1.0.7");
  clock.advance(5s);
  resolver.answer_one(zone);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].first->failure, DnsResult::timed_out);
  EXPECT_TRUE(resolver.waiting.empty());
}

TEST_F(VerifierTest, new_rules_forget_what_old_ones_found) {
  verify("10.1.0.7");
  resolver.answer_all(zone);
  verifier.replace_rules(rules("*.elsewhere"));
  EXPECT_EQ(verifier.cached(), 0u);
  verify("10.1.0.7");
  resolver.answer_all(zone);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].first->finding, Finding::name_not_allowed);
}

TEST_F(VerifierTest, a_lookup_by_old_rules_is_not_remembered) {
  verify("10.1.0.7");
  verifier.replace_rules(rules("*.elsewhere"));
  verify("10.1.0.7");
  EXPECT_EQ(resolver.waiting.size(), 2u);
  resolver.answer_all(zone);
  ASSERT_EQ(answers.size(), 2u);
  verify("10.1.0.7");
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[2].second, Source::cache);
  EXPECT_EQ(answers[2].first->finding, Finding::name_not_allowed);
}

}  // namespace
}  // namespace muster::relay
