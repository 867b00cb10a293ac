#include "host/events/webhook.hpp"

#include "host/events/webhook_transport.hpp"
#include "lib/base/secret.hpp"
#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Crash {};

class WebhookTest : public EventsTest {
 protected:
  WebhookTest() {
    settings.name = "ci";
    settings.url = "https://hooks.example/muster?key=1";
  }

  // As a host that starts: from what is durable.
  Webhook& start() {
    const auto positions = deliveries.positions();
    EXPECT_TRUE(positions);
    const auto found = positions->find("webhook/ci");
    webhook = std::make_unique<Webhook>(
        Webhook::Parts{settings,
                       log.get(),
                       &deliveries,
                       &clock,
                       [this](const WebhookRequest& request) { return post(request); },
                       [] { return 1.0; },
                       [] {},
                       {},
                       deadline},
        found == positions->end() ? log->newest() : found->second);
    return *webhook;
  }
  // All that is due now.
  SteadyTime run() {
    for (int i = 0; i < 10'000; ++i)
      if (const SteadyTime next = webhook->step(); next > clock.steady()) {
        if (waiting.empty()) return next;
        auto durable = std::exchange(waiting, {});
        for (const auto& tell : durable) tell();
      }
    ADD_FAILURE() << "it never rests";
    return {};
  }

  WebhookAnswer post(const WebhookRequest& request) {
    if (operations++ == crash_at) throw Crash();
    WebhookAnswer answer{.status = 204};
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    tried.push_back(request.number);
    if (answer.status / 100 == 2) taken.push_back(request.number);
    requests.push_back(request);
    if (operations++ == crash_at) throw Crash();
    return answer;
  }
  std::vector<DeadLetterRow> letters() { return *deliveries.dead_letters("webhook/ci", 0, 100); }

  config::WebhookSettings settings;
  std::function<Time(Time, std::chrono::milliseconds)> deadline;
  std::deque<WebhookAnswer> answers;  // 204 if there are no more
  std::vector<std::int64_t> tried, taken;
  std::vector<WebhookRequest> requests;
  std::vector<std::function<void()>> waiting;  // to be told that something is durable
  int operations = 0, crash_at = -1;
  DeliveryStore deliveries{store, clock, [this](store::Batch batch, std::function<void()> durable) {
                             if (operations++ == crash_at) throw Crash();
                             EXPECT_TRUE(store.commit(batch));
                             if (operations++ == crash_at) throw Crash();
                             waiting.push_back(std::move(durable));
                             return true;
                           }};
  std::unique_ptr<Webhook> webhook;
};

TEST_F(WebhookTest, an_answer_of_500_is_tried_again_later_and_later) {
  make_log();
  start();
  happen(1, 1);
  answers.assign(12, {.status = 500});
  std::vector<std::int64_t> seconds;
  for (int i = 0; i < 12; ++i) {
    const SteadyTime next = run();
    seconds.push_back((next - clock.steady()) / 1s);
    clock.advance(std::chrono::duration_cast<std::chrono::milliseconds>(next - clock.steady()));
  }
  EXPECT_THAT(seconds, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300));
  run();
  EXPECT_THAT(taken, ElementsAre(1));
  EXPECT_TRUE(letters().empty());
}

TEST_F(WebhookTest, nothing_is_tried_before_its_time) {
  make_log();
  start();
  happen(1, 2);
  answers = {{.problem = "cannot connect"}};
  run();
  clock.advance(999ms);
  run();
  EXPECT_THAT(tried, ElementsAre(1));
  EXPECT_EQ(webhook->status().problem, "cannot connect");
  EXPECT_EQ(webhook->status().attempts, 1);
  EXPECT_EQ(webhook->status().lag, 2);
  clock.advance(1ms);
  run();
  EXPECT_THAT(tried, ElementsAre(1, 1, 2));
  EXPECT_EQ(webhook->status().problem, "");
  EXPECT_EQ(webhook->status().lag, 0);
}

TEST_F(WebhookTest, an_answer_that_names_a_time_is_obeyed) {
  make_log();
  start();
  happen(1, 1);
  answers = {{.status = 429, .retry_after = 90s}, {.status = 503, .retry_after = 1s}};
  EXPECT_EQ(run() - clock.steady(), 90s);
  clock.advance(90s);
  EXPECT_EQ(run() - clock.steady(), 2s);  // the second failure's own time is longer
}

TEST_F(WebhookTest, a_refusal_is_a_dead_letter_at_once_and_the_next_goes_on) {
  make_log();
  start();
  happen(1, 4);
  answers = {{.status = 204}, {.status = 404}, {.status = 408}};
  run();
  EXPECT_THAT(tried, ElementsAre(1, 2, 3));
  clock.advance(1min);
  run();
  EXPECT_THAT(taken, ElementsAre(1, 3, 4));
  ASSERT_EQ(letters().size(), 1u);
  EXPECT_EQ(letters()[0].number, 2);
  EXPECT_EQ(letters()[0].attempts, 1);
  EXPECT_THAT(letters()[0].problem, HasSubstr("404"));
  EXPECT_EQ(letters()[0].event.at("number"), json::value(2));
  EXPECT_EQ(webhook->status().given_up, 1);
}

TEST_F(WebhookTest, a_redirect_is_no_delivery) {
  make_log();
  start();
  happen(1, 1);
  answers = {{.status = 302}};
  run();
  EXPECT_TRUE(taken.empty());
  EXPECT_THAT(webhook->status().problem, HasSubstr("redirects are not followed"));
}

TEST_F(WebhookTest, an_event_is_no_dead_letter_because_of_time_in_which_no_host_ran) {
  settings.give_up_after = 10min;
  Listening listening(clock.now(), 1min);
  deadline = [&](Time from, std::chrono::milliseconds patience) {
    return listening.deadline(from, patience);
  };
  make_log();
  start();
  happen(1, 1);
  answers.assign(50, {.status = 503});
  run();
  const Time stopped = clock.now();
  clock.advance(3h);
  listening.was_deaf(stopped, clock.now());
  run();
  EXPECT_TRUE(letters().empty()) << "it was tried for a moment only";
  clock.advance(12min);
  run();
  EXPECT_EQ(letters().size(), 1u);
}

TEST_F(WebhookTest, an_event_that_is_too_old_is_a_dead_letter) {
  settings.give_up_after = 10min;
  make_log();
  start();
  happen(1, 1);
  answers.assign(100, {.status = 500});
  for (int i = 0; i < 20; ++i) {
    run();
    clock.advance(1min);
  }
  ASSERT_EQ(letters().size(), 1u);
  EXPECT_GT(letters()[0].attempts, 5);
  answers.clear();
  happen(2, 2);
  run();
  EXPECT_THAT(taken, ElementsAre(2));
}

TEST_F(WebhookTest, the_next_event_waits_until_the_last_is_durable) {
  make_log();
  start();
  happen(1, 2);
  EXPECT_EQ(webhook->step(), SteadyTime::max());
  EXPECT_EQ(webhook->step(), SteadyTime::max());
  EXPECT_THAT(tried, ElementsAre(1));
  waiting.front()();
  webhook->step();
  EXPECT_THAT(tried, ElementsAre(1, 2));
}

TEST_F(WebhookTest, what_the_filter_turns_away_is_passed_over_and_remembered) {
  settings.kinds = {"hold-*"};
  make_log();
  start();
  happen(1, 1'500);
  EXPECT_EQ(run(), SteadyTime::max());
  EXPECT_TRUE(tried.empty());
  EXPECT_EQ(webhook->status().delivered, 1'500);
  happen({an_event(1'501)});
  EXPECT_EQ(run() - clock.steady(), 60s);  // a single one is worth no commit at once
  clock.advance(60s);
  EXPECT_EQ(run(), SteadyTime::max());
  EXPECT_EQ(deliveries.positions()->at("webhook/ci"), 1'501);
  happen({an_event(1'502, "hold-began"), an_event(1'503)});
  run();
  EXPECT_THAT(taken, ElementsAre(1'502));
}

TEST_F(WebhookTest, the_body_is_the_event_as_everybody_sees_it) {
  make_log();
  start();
  happen(1, 1);
  run();
  EXPECT_EQ(requests.at(0).body, log->find(0)->json(0));
  EXPECT_EQ(requests.at(0).kind, "worker-running");
  EXPECT_FALSE(requests.at(0).again);
}

TEST_F(WebhookTest, events_that_waited_too_long_are_counted_as_lost) {
  make_log(256);
  happen(1, 1);
  start();
  happen(2, 900);
  erase_up_to(500);
  webhook = nullptr;
  log = nullptr;
  make_log(256);
  EXPECT_TRUE(store.commit({store::put(DeliveryRow{"webhook/ci", 1, clock.now()})}));
  start();
  run();
  EXPECT_EQ(taken, range(501, 900));
  EXPECT_EQ(webhook->status().lost, 1);
}

TEST_F(WebhookTest, a_dead_letter_is_tried_again_when_somebody_asks) {
  make_log();
  start();
  happen(1, 2);
  answers = {{.status = 400}, {.status = 204}, {.status = 410}, {.status = 200}};
  run();
  webhook->retry_dead_letter(1);
  webhook->retry_dead_letter(77);  // there is none
  run();
  ASSERT_EQ(letters().size(), 1u);
  EXPECT_EQ(letters()[0].attempts, 2);
  EXPECT_THAT(letters()[0].problem, HasSubstr("410"));
  webhook->retry_dead_letter(1);
  run();
  EXPECT_TRUE(letters().empty());
  EXPECT_TRUE(requests.back().again);
  EXPECT_EQ(requests.back().body, log->find(0)->json(0));
}

TEST_F(WebhookTest, a_stop_in_the_middle_is_no_failure) {
  settings.give_up_after = 0ms;
  make_log();
  start();
  happen(1, 1);
  answers = {{.problem = "stopping", .stopped = true}};
  EXPECT_EQ(webhook->step(), SteadyTime::max());
  EXPECT_TRUE(letters().empty());
  EXPECT_EQ(webhook->status().failed, 0);
}

// At every place where a process can die: nothing is lost, and nothing but the event that was under
// way comes twice.
TEST_F(WebhookTest, a_crash_anywhere_loses_nothing_and_repeats_one_at_most) {
  make_log();
  happen(1, 1);
  ASSERT_TRUE(store.commit({store::put(DeliveryRow{"webhook/ci", 1, clock.now()})}));
  happen(2, 7);
  int crashes = 0;
  for (int at = 0;; ++at) {
    ASSERT_TRUE(store.commit({store::erase<DeadLetterRow>({"webhook/ci"})}));
    ASSERT_TRUE(store.commit({store::put(DeliveryRow{"webhook/ci", 1, clock.now()})}));
    taken.clear();
    tried.clear();
    waiting.clear();
    answers = {{.status = 200}, {.status = 500}, {.status = 200}, {.status = 400}};
    operations = 0;
    crash_at = at;
    bool crashed = false;
    start();
    for (int i = 0; i < 5; ++i) {
      try {
        run();
      } catch (const Crash&) {
        crashed = true;
        waiting.clear();
        start();
      }
      clock.advance(10min);
    }
    std::vector<std::int64_t> all = taken;
    for (const DeadLetterRow& letter : letters()) all.push_back(letter.number);
    std::sort(all.begin(), all.end());
    EXPECT_LE(all.size(), 7u) << at;
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end())) << at;
    all.erase(std::unique(all.begin(), all.end()), all.end());
    EXPECT_EQ(all, range(2, 7)) << at;
    if (!crashed) break;
    ++crashes;
  }
  EXPECT_GT(crashes, 20);
}

TEST(WebhookSignature, is_the_hmac_of_time_and_body) {
  // printf '1000000000.{"a":1}' | openssl dgst -sha256 -hmac key
  EXPECT_EQ(webhook_signature(Secret("key"), "1000000000", R"({"a":1})"),
            "v1=8b035841eff57f35c5fc9f87c2b96c3ff215b37513ba00745f32ddcdac5d6d19");
}

}  // namespace
}  // namespace muster::events
