#include "host/registration/registrar.hpp"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::registration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

void expect_refused(const Outcome& outcome, RefusalReason reason, const std::string& message) {
  ASSERT_FALSE(outcome) << message;
  EXPECT_EQ(outcome.error().reason, reason) << outcome.error().message;
  EXPECT_THAT(outcome.error().message, HasSubstr(message));
}

TEST(Registrar, checks_a_claim_in_its_order_before_it_asks_the_provider) {
  Fixture fixture;
  Application wrong = Fixture::application();
  wrong.claim.name.worker_pool_id = WorkerPoolId("p/none");
  wrong.claim.provider = ProviderId("nowhere");
  expect_refused(fixture.register_worker(wrong), RefusalReason::not_found,
                 "Worker pool p/none does not exist");
  wrong = Fixture::application();
  wrong.claim.provider = ProviderId("nowhere");
  expect_refused(fixture.register_worker(wrong), RefusalReason::not_found,
                 "Provider nowhere does not exist");
  wrong.claim.provider = ProviderId("rack");
  expect_refused(fixture.register_worker(wrong), RefusalReason::invalid,
                 "Worker pool p/cloudy not associated with provider rack");
  expect_refused(fixture.register_worker(Fixture::application("i-9")), RefusalReason::not_found,
                 "Worker eu-1/i-9 in worker pool p/cloudy does not exist");
  fixture.cloud_runs = false;
  expect_refused(fixture.register_worker(Fixture::application()), RefusalReason::provider_down,
                 "Provider backend may be down or misconfigured");
  EXPECT_EQ(fixture.asked, 0);
  EXPECT_EQ(fixture.counted("unknown", RegistrationOutcome::refused), 2);
  EXPECT_EQ(fixture.counted("cloud", RegistrationOutcome::unavailable), 1);
}

TEST(Registrar, refuses_a_wrong_proof_and_grants_nothing_while_the_provider_is_in_trouble) {
  Fixture fixture;
  Application wrong = Fixture::application();
  wrong.proof = {{"token", "bad"}};
  expect_refused(fixture.register_worker(wrong), RefusalReason::invalid, "Token validation error");
  fixture.identify = [](const IdentifyRequest&) -> Result<Identity> {
    return Error::transient("the cloud does not answer");
  };
  expect_refused(fixture.register_worker(Fixture::application()), RefusalReason::unavailable,
                 "the cloud does not answer");
  fixture.identify = [](const IdentifyRequest& request) -> Result<Identity> {
    return Identity{request.worker_group, WorkerId("i-2")};
  };
  expect_refused(fixture.register_worker(Fixture::application()), RefusalReason::invalid,
                 "the proof is that of worker eu-1/i-2");
}

TEST(Registrar, needs_a_fleet) {
  Fixture fixture;
  Dependencies without = fixture.dependencies();
  without.fleet = nullptr;
  without.problem = "the store is damaged";
  fixture.registrar = std::make_unique<Registrar>(without);
  expect_refused(fixture.register_worker(Fixture::application()), RefusalReason::unavailable,
                 "the store is damaged");
  expect_refused(fixture.renew("i-1", std::string(44, 's')), RefusalReason::unavailable,
                 "the store is damaged");
}

TEST(Registrar, grants_credentials_and_renews_them_for_the_secret_that_it_gave_last) {
  Fixture fixture;
  const Outcome granted = fixture.register_worker(Fixture::application());
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_EQ(granted->claim.key(), "p/cloudy/eu-1/i-1");
  EXPECT_EQ(granted->credentials.client_id, "worker/cloud/p/cloudy/eu-1/i-1");
  EXPECT_EQ(granted->worker_config, (json::object{{"a", 1}}));
  EXPECT_GT(granted->expires, fixture.clock->now());
  EXPECT_EQ(granted->renewal_secret.reveal().size(), 44u);
  EXPECT_EQ(fixture.counted("cloud", RegistrationOutcome::registered), 1);

  const Outcome renewed = fixture.renew("i-1", granted->renewal_secret.reveal());
  ASSERT_TRUE(renewed) << renewed.error().message;
  EXPECT_EQ(renewed->credentials.client_id, granted->credentials.client_id);
  EXPECT_NE(renewed->renewal_secret.reveal(), granted->renewal_secret.reveal());
  EXPECT_EQ(fixture.counted("cloud", RegistrationOutcome::renewed), 1);
}

TEST(Registrar, does_not_tell_a_wrong_secret_from_an_unknown_worker) {
  Fixture fixture;
  ASSERT_TRUE(fixture.register_worker(Fixture::application()));
  for (const char* worker : {"i-1", "i-9"})
    expect_refused(fixture.renew(worker, std::string(44, 'x')), RefusalReason::invalid,
                   "Could not generate credentials for this secret");
}

TEST(Registrar, limits_the_failures_of_one_worker_and_leaves_its_neighbours_alone) {
  Fixture fixture({.of_worker = {3, 0.1}});
  Application wrong = Fixture::application();
  wrong.proof = {{"token", "bad"}};
  for (int i = 0; i < 3; ++i)
    expect_refused(fixture.register_worker(wrong), RefusalReason::invalid, "Token");
  const Outcome limited = fixture.register_worker(wrong);
  expect_refused(limited, RefusalReason::too_many_failures,
                 "worker p/cloudy/eu-1/i-1 failed to register too often lately");
  EXPECT_EQ(limited.error().retry_after, 10s);
  EXPECT_EQ(fixture.asked, 3);
  EXPECT_TRUE(fixture.register_worker(Fixture::application("i-2")));
  fixture.clock->advance(11s);
  EXPECT_TRUE(fixture.register_worker(Fixture::application()));
}

TEST(Registrar, a_flood_of_made_up_names_keeps_no_worker_of_the_same_address_out) {
  Fixture fixture({.of_peer = {5, 1}});
  int unknown = 0, limited = 0;
  for (int i = 0; i < 200; ++i) {
    const Outcome outcome = fixture.register_worker(Fixture::application("x-" + std::to_string(i)));
    ASSERT_FALSE(outcome);
    ++(outcome.error().reason == RefusalReason::too_many_failures ? limited : unknown);
  }
  EXPECT_EQ(unknown, 5);
  EXPECT_EQ(limited, 195);
  EXPECT_EQ(fixture.asked, 0);  // the provider was not
  EXPECT_FALSE(fixture.registrar->check_peer(Fixture::application().address));
  EXPECT_TRUE(fixture.register_worker(Fixture::application("i-1")));
}

TEST(Registrar, limits_the_failures_of_an_address_and_of_a_relay) {
  Fixture fixture({.of_peer = {2, 1}, .of_relay = {1, 1}});
  EXPECT_FALSE(fixture.registrar->check_peer("192.0.2.9"));
  for (int i = 0; i < 2; ++i) fixture.registrar->note_malformed_request("192.0.2.9");
  const auto refusal = fixture.registrar->check_peer("192.0.2.9");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, RefusalReason::too_many_failures);
  EXPECT_EQ(refusal->retry_after, 1s);
  EXPECT_FALSE(fixture.registrar->check_peer("192.0.2.10"));

  EXPECT_FALSE(fixture.registrar->check_relay("relay-1"));
  Application relayed = Fixture::application();
  relayed.proof = {};
  relayed.voucher = Voucher{"relay-1", "m.example.com", "198.51.100.7"};
  EXPECT_FALSE(fixture.register_worker(relayed));
  EXPECT_TRUE(fixture.registrar->check_relay("relay-1"));
  EXPECT_FALSE(fixture.registrar->check_relay("relay-2"));
}

// -------------------------------------------------------------------------------------------------
// Relays

struct Relayed : ::testing::Test {
  Fixture fixture;
  Identity identity{.worker_group = WorkerGroup("eu-1"),
                    .worker_id = WorkerId("i-1"),
                    .worker_pool_id = WorkerPoolId("p/cloudy")};

  void SetUp() override {
    fixture.identify = [this](const IdentifyRequest&) -> Result<Identity> { return identity; };
  }

  // Only the provider knows which worker it is.
  Outcome vouch() {
    return fixture.register_worker(
        {.claim = {{}, ProviderId("cloud")},
         .proof = {},
         .address = "198.51.100.7",
         .voucher = Voucher{"relay-1", "m.example.com", "198.51.100.7"}});
  }
};

TEST_F(Relayed, the_provider_names_the_worker_and_an_event_says_so) {
  const Outcome granted = vouch();
  ASSERT_TRUE(granted) << granted.error().message;
  EXPECT_EQ(granted->claim.key(), "p/cloudy/eu-1/i-1");
  const auto events = fixture.relay_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "m.example.com (198.51.100.7) registered as worker p/cloudy/eu-1/i-1");
  EXPECT_EQ(events[0].details.at("accepted"), json::value(true));
}

TEST_F(Relayed, a_name_that_no_worker_can_have_is_the_providers_mistake) {
  identity.worker_id = WorkerId("no name");
  expect_refused(vouch(), RefusalReason::unavailable, "which no worker can be called");
  const auto events = fixture.relay_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].details.at("accepted"), json::value(false));
  EXPECT_EQ(events[0].details.at("code"), json::value("ServiceUnavailable"));
}

// -------------------------------------------------------------------------------------------------
// Its end

TEST(Registrar, ends_after_the_provider_that_is_being_asked_has_answered) {
  Fixture fixture;
  std::promise<void> asked, release;
  std::atomic<bool> provider_answered = false;
  const auto released = release.get_future().share();
  fixture.identify = [&](const IdentifyRequest&) -> Result<Identity> {
    asked.set_value();
    released.wait_for(20s);
    provider_answered = true;
    return Error::transient("the cloud does not answer");
  };
  std::promise<bool> answered;
  fixture.registrar->register_worker(Fixture::application(), [&](const Outcome& outcome) {
    answered.set_value(outcome.has_value());
  });
  ASSERT_EQ(asked.get_future().wait_for(20s), std::future_status::ready);
  auto ended = std::async(std::launch::async, [&] { fixture.registrar.reset(); });
  release.set_value();
  ended.get();
  EXPECT_TRUE(provider_answered);
  EXPECT_FALSE(answered.get_future().get());
}

}  // namespace
}  // namespace muster::registration
