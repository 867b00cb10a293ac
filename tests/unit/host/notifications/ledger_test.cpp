// Who is told what and when: no storms, no repetition, nothing lost.
#include "host/notifications/ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/notifications/digest.hpp"
#include "host/notifications/routing.hpp"

namespace muster::notifications {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

config::NotificationSettings settings_of(std::vector<std::string> owner_domains = {}) {
  config::NotificationSettings settings;
  settings.mail.emplace();
  settings.mail->server = "smtp://127.0.0.1:1";
  settings.mail->from = "muster@example.com";
  settings.mail->to = {"ops@example.com"};
  settings.mail->owner_domains = std::move(owner_domains);
  return settings;
}

Condition provider(const std::string& id) {
  return {cause::provider_down, id, "it does not answer"};
}

class LedgerTest : public ::testing::Test {
 protected:
  // What is sent after this observation, in words.
  std::vector<std::string> look(const std::vector<Condition>& conditions) {
    ledger.observe(conditions, settings, now);
    std::vector<std::string> sent;
    for (const Message& message : ledger.due(settings, now)) {
      sent.push_back(message.recipient + ": " + subject_of(message));
      if (reachable)
        ledger.delivered(message.recipient, now);
      else
        ledger.failed(message.recipient, "no connection", settings, now);
    }
    return sent;
  }
  // The same every ten seconds.
  std::vector<std::string> look_for(std::chrono::milliseconds time,
                                    const std::vector<Condition>& conditions) {
    std::vector<std::string> all;
    for (const Time end = now + time; now < end; now += 10s)
      for (std::string& sent : look(conditions)) all.push_back(std::move(sent));
    return all;
  }

  config::NotificationSettings settings = settings_of();
  Ledger ledger;
  Time now{std::chrono::hours(24 * 365 * 50)};
  bool reachable = true;
};

TEST_F(LedgerTest, tells_once_after_the_patience_of_the_cause) {
  EXPECT_THAT(look_for(2min, {provider("a")}), IsEmpty());
  EXPECT_THAT(look_for(1h, {provider("a")}), ElementsAre("mail: muster: 1 new (providerDown a)"));
}

TEST_F(LedgerTest, a_provider_that_is_down_for_a_moment_is_not_mentioned) {
  EXPECT_THAT(look_for(1min, {provider("a")}), IsEmpty());
  EXPECT_THAT(look_for(1h, {}), IsEmpty());
}

TEST_F(LedgerTest, says_when_it_is_over_and_once) {
  look_for(10min, {provider("a")});
  EXPECT_THAT(look_for(1h, {}), ElementsAre("mail: muster: 1 resolved (providerDown a)"));
}

TEST_F(LedgerTest, what_comes_and_goes_stays_one_condition) {
  std::vector<std::string> sent;
  for (int turn = 0; turn < 100; ++turn) {
    for (std::string& one : look_for(3min, {provider("a")})) sent.push_back(std::move(one));
    for (std::string& one : look_for(3min, {})) sent.push_back(std::move(one));
  }
  EXPECT_THAT(sent, ElementsAre("mail: muster: 1 new (providerDown a)"));
}

TEST_F(LedgerTest, many_at_once_are_one_message) {
  std::vector<Condition> all;
  for (int at = 0; at < 500; ++at) all.push_back(provider("p" + std::to_string(at)));
  const auto sent = look_for(1h, all);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_THAT(sent[0], HasSubstr("100 new"));
}

TEST_F(LedgerTest, a_recipient_gets_one_message_in_the_time_of_a_digest) {
  std::vector<std::string> sent;
  std::vector<Condition> all;
  for (int at = 0; at < 60; ++at) {  // one more every 20 seconds
    all.push_back(provider("p" + std::to_string(at)));
    for (std::string& one : look_for(20s, all)) sent.push_back(std::move(one));
  }
  EXPECT_LE(sent.size(), 5U);  // in 20 minutes
}

TEST_F(LedgerTest, all_owners_together_get_so_many_in_an_hour_and_the_rest_later) {
  settings.mail->to.clear();
  settings.most_per_hour = 5;
  std::vector<Condition> all;
  for (int at = 0; at < 12; ++at) {
    all.push_back({cause::worker_errors, "proj/p" + std::to_string(at), "it failed"});
    all.back().owner = "t" + std::to_string(at) + "@example.com";
  }
  EXPECT_EQ(look_for(59min, all).size(), 5U);
  EXPECT_EQ(look_for(3h, all).size(), 7U);
}

TEST_F(LedgerTest, owners_never_keep_operators_and_chats_from_hearing) {
  settings.most_per_hour = 5;
  settings.chats.emplace_back().name = "zoo";
  std::vector<Condition> all;
  for (int at = 0; at < 6'000; ++at) {  // more than are remembered, of more owners
    all.push_back({cause::worker_errors, "proj/p" + std::to_string(at), "it failed"});
    all.back().owner = "t" + std::to_string(at % 1'500) + "@example.com";
  }
  EXPECT_EQ(look(all).size(), 5U) << "the owners' share of this hour";
  EXPECT_EQ(ledger.known().size(), 5'000U);
  EXPECT_EQ(ledger.recipients().size(), 1'000U);
  all.push_back({cause::certificate_expires, "host", "it ends"});
  now += 10s;
  EXPECT_THAT(look(all), ElementsAre("chat:zoo: muster: 1 new (certificateExpires host)",
                                     "mail: muster: 1 new (certificateExpires host)"));
}

TEST_F(LedgerTest, operators_and_chats_take_nothing_from_the_owners_share) {
  settings.most_per_hour = 1;
  settings.chats.emplace_back().name = "ops";
  const Condition errors{cause::worker_errors, "proj/p", "it failed", "team@example.com"};
  EXPECT_THAT(look({{cause::certificate_expires, "host", "it ends"}, errors}),
              ElementsAre("chat:ops: muster: 1 new (certificateExpires host)",
                          "mail: muster: 1 new (certificateExpires host)",
                          "mail:team@example.com: muster: 1 new (workerErrors proj/p)"));
}

TEST_F(LedgerTest, reminds_of_what_lasts) {
  EXPECT_THAT(look_for(49h, {provider("a")}),
              ElementsAre("mail: muster: 1 new (providerDown a)",
                          "mail: muster: 1 still there (providerDown a)",
                          "mail: muster: 1 still there (providerDown a)"));
}

TEST_F(LedgerTest, what_is_silenced_is_not_told_and_not_resolved) {
  settings.silence = {"providerDown:lab*"};
  EXPECT_THAT(look_for(1h, {provider("lab-1")}), IsEmpty());
  EXPECT_THAT(look_for(1h, {}), IsEmpty());
  EXPECT_EQ(look_for(1h, {provider("rack")}).size(), 1U);
}

TEST_F(LedgerTest, a_failure_is_tried_again_more_and_more_slowly_and_given_up) {
  reachable = false;
  const auto tried = look_for(24h, {provider("a")});
  EXPECT_GE(tried.size(), 20U);
  EXPECT_LE(tried.size(), 35U);
  EXPECT_EQ(ledger.recipients().at("mail").problem, "no connection");
  look_for(2h, {provider("a")});
  EXPECT_EQ(ledger.dropped(), 1);
  reachable = true;
  EXPECT_THAT(look_for(30h, {provider("a")}),
              ElementsAre("mail: muster: 1 still there (providerDown a)"));
}

TEST_F(LedgerTest, what_began_and_ended_while_nothing_could_be_sent_is_not_told) {
  reachable = false;
  look_for(10min, {provider("a")});
  look_for(10min, {});
  reachable = true;
  EXPECT_THAT(look_for(5h, {}), IsEmpty());
}

TEST_F(LedgerTest, a_host_that_starts_again_repeats_nothing) {
  look_for(10min, {provider("a")});
  reachable = false;
  look_for(10min, {provider("a"), provider("b")});
  const std::string kept = json::write(ledger.to_json());
  now += 2h;
  ledger = Ledger::from_json(*json::parse_object(kept), now);
  reachable = true;
  EXPECT_THAT(look_for(3min, {}), ElementsAre("mail: muster: 1 new (providerDown b)"));
  EXPECT_THAT(look_for(5h, {provider("a"), provider("b")}), IsEmpty());
}

TEST_F(LedgerTest, without_anybody_to_tell_nothing_is_written_again_and_again) {
  settings.mail.reset();
  look_for(1h, {provider("a")});
  const std::string before = json::write(ledger.to_json());
  look_for(1h, {provider("a")});
  EXPECT_EQ(json::write(ledger.to_json()), before);
  settings = settings_of();
  EXPECT_EQ(look_for(1min, {provider("a")}).size(), 1U) << "there is somebody now";
}

TEST_F(LedgerTest, a_file_that_is_nonsense_begins_anew) {
  ledger = Ledger::from_json({{"conditions", 7}}, now);
  EXPECT_TRUE(ledger.known().empty());
}

TEST(Routing, owners_that_want_mail_get_what_is_about_their_pools) {
  const Condition condition{cause::worker_errors, "proj/p", "x", "team@example.com"};
  EXPECT_THAT(recipients_of(settings_of(), condition), ElementsAre("mail:team@example.com"));
  EXPECT_THAT(recipients_of(settings_of({"EXAMPLE.com"}), condition),
              ElementsAre("mail:team@example.com"));
  EXPECT_THAT(recipients_of(settings_of({"other.example"}), condition), IsEmpty());
}

TEST(Routing, an_owner_that_is_no_address_gets_nothing) {
  for (const char* owner : {"", "the lab", "a@b\r\nBcc: c@d", "a@b,c@d", "<a@b>"})
    EXPECT_THAT(recipients_of(settings_of(), {cause::worker_errors, "p/q", "x", owner}), IsEmpty())
        << owner;
}

TEST(Routing, a_chat_hears_of_the_causes_that_it_names) {
  auto settings = settings_of();
  settings.mail.reset();
  settings.chats.emplace_back().name = "all";
  settings.chats.emplace_back().name = "some";
  settings.chats.back().causes = {"provider*"};
  EXPECT_THAT(recipients_of(settings, provider("a")), ElementsAre("chat:all", "chat:some"));
  EXPECT_THAT(recipients_of(settings, {cause::pool_blocked, "p", "x"}), ElementsAre("chat:all"));
}

Message message_of(std::string text) {
  return {"chat:ops", {{ItemKind::began, cause::pool_blocked, "proj/p", std::move(text)}}};
}

TEST(ChatBody, is_json_whatever_the_text_holds) {
  for (const char* text : {"\"quoted\" \\ \n", "\x01\x02\xff", "{{title}} {{text}}", "</script>"}) {
    const std::string body =
        chat_body(R"({"title":"{{title}}","text":"{{text}}"})", message_of(text), "http://x");
    EXPECT_TRUE(json::parse(body)) << body;
  }
}

TEST(ChatBody, calls_nobody) {
  const std::string body =
      chat_body(config::usual_chat_template, message_of("<!channel> @here &lt;"), "http://x");
  EXPECT_THAT(body, Not(HasSubstr("<!")));
  EXPECT_THAT(body, Not(HasSubstr("@here")));
}

}  // namespace
}  // namespace muster::notifications
