#include "host/registration/identity_checks.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::registration {
namespace {

const ProviderId cloud("cloud");
constexpr std::size_t threads = 4;

// A provider that answers when the test says so, and remembers in which order it was asked.
class SlowProvider {
 public:
  std::function<void(const Identify&)> check(std::string who) {
    return [this, who = std::move(who)](const Identify&) {
      std::unique_lock lock(mutex_);
      asked_.push_back(who);
      changed_.notify_all();
      changed_.wait(lock, [&] { return answered_ < allowed_; });
      ++answered_;
    };
  }
  void wait_until_asked(std::size_t times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_.size() >= times; });
  }
  // Answers one question; the thread that becomes free asks the next one.
  std::string answer_and_hear_next() {
    std::unique_lock lock(mutex_);
    const std::size_t next = asked_.size();
    ++allowed_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return asked_.size() > next; });
    return asked_[next];
  }
  void answer_all() {
    const std::lock_guard lock(mutex_);
    allowed_ = 1'000'000;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t answered_ = 0, allowed_ = 0;
  std::vector<std::string> asked_;
};

struct IdentityChecksTest : ::testing::Test {
  SlowProvider provider;
  IdentityChecks checks{
      [](const ProviderId&, const IdentifyRequest&, const std::string&) -> Result<Identity> {
        return Error::internal("nobody asks");
      },
      {}};
  // All threads are busy before a test begins.
  IdentityChecksTest() {
    for (std::size_t i = 0; i < threads; ++i)
      EXPECT_TRUE(run(Turn::of_worker("198.51.100.1", std::to_string(i)), "first"));
    provider.wait_until_asked(threads);
  }
  ~IdentityChecksTest() override {
    provider.answer_all();
    checks.stop();
  }

  bool run(const Turn& turn, const std::string& who) {
    return checks.run(cloud, turn, provider.check(who));
  }
  std::size_t flood(const Turn& turn, int times) {
    std::size_t taken = 0;
    for (int i = 0; i < times; ++i) taken += run(turn, "flood") ? 1 : 0;
    return taken;
  }
};

TEST_F(IdentityChecksTest, a_flood_from_an_address_delays_its_neighbours_by_one_turn) {
  EXPECT_EQ(flood(Turn::of_stranger("192.0.2.9"), 5'000), 100u);
  ASSERT_TRUE(run(Turn::of_worker("192.0.2.9", "p/w/g/honest"), "honest"));
  EXPECT_EQ(provider.answer_and_hear_next(), "flood");
  EXPECT_EQ(provider.answer_and_hear_next(), "honest");
}

TEST_F(IdentityChecksTest, who_knows_the_name_of_a_worker_takes_two_places) {
  EXPECT_EQ(flood(Turn::of_worker("192.0.2.9", "p/w/g/known"), 1'000), 2u);
  EXPECT_TRUE(run(Turn::of_worker("192.0.2.9", "p/w/g/other"), "other"));
  EXPECT_TRUE(run(Turn::of_worker("192.0.2.10", "p/w/g/known"), "elsewhere"));
}

TEST_F(IdentityChecksTest, strangers_from_everywhere_take_no_place_of_a_worker) {
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += flood(Turn::of_stranger(std::to_string(i)), 100);
  EXPECT_EQ(taken, 500u);
  EXPECT_TRUE(run(Turn::of_worker("192.0.2.9", "p/w/g/honest"), "honest"));
}

}  // namespace
}  // namespace muster::registration
