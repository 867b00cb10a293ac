#include "host/registration/challenges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "lib/base/fake_clock.hpp"

namespace muster::registration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const Claim claim{{WorkerPoolId("p/w"), WorkerGroup("g"), WorkerId("m")}, ProviderId("rack")};

struct Challenged : ::testing::Test {
  FakeClock clock;
  Challenges challenges{"https://muster.example.com"};

  std::string make() const { return challenges.make(claim, clock.now()).text; }
  // What is wrong with it; empty: it was taken.
  std::string take(std::string_view text, const Claim& by = claim) {
    const auto taken = challenges.take(text, by, clock.now());
    return taken ? "" : taken.error().message;
  }
};

TEST_F(Challenged, what_is_none_is_not_taken) {
  for (const char* text : {"", "x", "\n", "\ncode: ", "\nnonce: \ncode: ", "\ncode: x\nnonce: y"})
    EXPECT_NE(take(text), "") << text;
  EXPECT_THAT(take(std::string(1 << 20, 'x')), HasSubstr("too long"));
  EXPECT_THAT(take(make() + std::string(1 << 20, '\n')), HasSubstr("too long"));
}

TEST_F(Challenged, a_text_that_was_changed_anywhere_is_not_taken) {
  const std::string good = make();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_NE(take(changed), "") << at;
    EXPECT_NE(take(good.substr(0, at)), "") << at;
  }
  EXPECT_NE(take(good + "\n"), "");
  EXPECT_NE(take(" " + good), "");
  EXPECT_EQ(take(good), "") << "none of those has used it up";
}

TEST_F(Challenged, it_is_for_one_worker_of_one_pool_at_one_provider) {
  Claim other = claim;
  other.name.worker_pool_id = WorkerPoolId("p/x");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.name.worker_group = WorkerGroup("h");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.name.worker_id = WorkerId("m2");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other.name.worker_id = WorkerId("");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
  other = claim;
  other.provider = ProviderId("cloud");
  EXPECT_THAT(take(make(), other), HasSubstr("for another worker"));
}

TEST_F(Challenged, the_beginning_of_a_name_is_another_name) {
  Claim longer = claim;
  longer.name.worker_id = WorkerId("m2");
  const std::string text = challenges.make(longer, clock.now()).text;
  EXPECT_THAT(take(text, claim), HasSubstr("for another worker"));
}

TEST_F(Challenged, it_names_everything_and_no_two_are_equal) {
  const Challenge made = challenges.make(claim, clock.now());
  for (const char* part : {"host: https://muster.example.com\n", "workerPoolId: p/w\n",
                           "workerGroup: g\n", "workerId: m\n", "providerId: rack\n", "nonce: "})
    EXPECT_THAT(made.text, HasSubstr(part));
  EXPECT_THAT(made.text, HasSubstr("expires: " + format_time(made.expires) + "\n"));
  EXPECT_EQ(made.expires, clock.now() + 2min);
  EXPECT_NE(make(), make());
}

TEST_F(Challenged, it_expires) {
  const std::string text = make();
  clock.advance(2min);
  EXPECT_THAT(take(text), HasSubstr("has expired"));
  const std::string other = make();
  clock.advance(2min - 1ms);
  EXPECT_EQ(take(other), "");
}

TEST_F(Challenged, it_is_taken_once) {
  const std::string text = make();
  EXPECT_EQ(take(text), "");
  EXPECT_THAT(take(text), HasSubstr("was used before"));
  clock.advance(1min);
  EXPECT_THAT(take(text), HasSubstr("was used before"));
}

TEST_F(Challenged, what_an_earlier_process_made_is_not_taken) {
  const Challenges before("https://muster.example.com");
  EXPECT_THAT(take(before.make(claim, clock.now()).text), HasSubstr("since it started"));
}

TEST_F(Challenged, more_than_can_be_remembered_are_still_taken_once) {
  Challenges few("https://muster.example.com", 3);
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    texts.push_back(few.make(claim, clock.now()).text);
    clock.advance(1s);
    EXPECT_TRUE(few.take(texts.back(), claim, clock.now())) << i;
  }
  for (const std::string& text : texts) EXPECT_FALSE(few.take(text, claim, clock.now()));
}

TEST_F(Challenged, a_clock_that_is_set_back_brings_none_back) {
  const std::string text = make();
  const Time before = clock.now();
  EXPECT_EQ(take(text), "");
  clock.advance(10min);
  EXPECT_EQ(take(make()), "");  // the old one is forgotten with this
  EXPECT_FALSE(challenges.take(text, claim, before));
}

}  // namespace
}  // namespace muster::registration
