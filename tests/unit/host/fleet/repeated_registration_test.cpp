// A task that can read the proof of its worker must not become the worker: one that was launched
// registers once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Launched {
  Launched() { driver.demand("p/w", 1); }

  Result<Registered> register_with(const std::string& secret, const std::string& key) {
    auto registered =
        driver.fleet().register_worker(driver.name("cloud-1"), ProviderId("cloud"), sha256(secret),
                                       driver.now(), {.registration_key = digest(key)});
    driver.settle();
    return registered;
  }

  Result<Registered> renew(const std::string& secret) {
    auto renewed = driver.fleet().reregister_worker(driver.name("cloud-1"), sha256(secret),
                                                    sha256("next"), driver.now());
    driver.settle();
    return renewed;
  }

  static Sha256 digest(const std::string& key) { return key.empty() ? Sha256{} : sha256(key); }

  FleetDriver driver = simple_fleet();
};

TEST(RepeatedRegistration, is_refused_and_leaves_the_worker_its_secret) {
  Launched worker;
  ASSERT_TRUE(worker.register_with("first", ""));
  for (const char* key : {"", "a key of the thief"}) {
    const auto refused = worker.register_with("stolen", key);
    ASSERT_FALSE(refused.has_value()) << key;
    EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("has registered already"));
  }
  EXPECT_FALSE(worker.renew("stolen").has_value());
  EXPECT_TRUE(worker.renew("first").has_value());
}

TEST(RepeatedRegistration, with_another_key_is_refused) {
  Launched worker;
  ASSERT_TRUE(worker.register_with("first", "its own key"));
  for (const char* key : {"", "another key"})
    EXPECT_FALSE(worker.register_with("stolen", key).has_value()) << key;
  EXPECT_TRUE(worker.renew("first").has_value());
}

TEST(RepeatedRegistration, with_its_own_key_is_accepted_because_the_answer_may_have_been_lost) {
  Launched worker;
  ASSERT_TRUE(worker.register_with("first", "its own key"));
  ASSERT_TRUE(worker.register_with("second", "its own key"));
  EXPECT_EQ(worker.driver.launch_config("lc-1")->health.last_hour(worker.driver.wall()).registered,
            1);
  EXPECT_TRUE(worker.renew("second").has_value());
}

TEST(RepeatedRegistration, is_judged_alike_after_a_restart) {
  Launched worker;
  ASSERT_TRUE(worker.register_with("first", "its own key"));
  worker.driver.crash();
  worker.driver.start_again();
  EXPECT_FALSE(worker.register_with("stolen", "").has_value());
  EXPECT_FALSE(worker.register_with("stolen", "another key").has_value());
  EXPECT_TRUE(worker.register_with("second", "its own key").has_value());
}

TEST(RepeatedRegistration, of_a_worker_that_was_restored_without_a_key_is_refused) {
  Launched worker;
  ASSERT_TRUE(worker.register_with("first", ""));
  worker.driver.crash();
  worker.driver.start_again();
  EXPECT_FALSE(worker.register_with("stolen", "").has_value());
  EXPECT_FALSE(worker.register_with("stolen", "a key").has_value());
  EXPECT_TRUE(worker.renew("first").has_value());
}

}  // namespace
}  // namespace muster::fleet
