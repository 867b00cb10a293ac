#include "lib/base/signals.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace muster {
namespace {

using namespace std::chrono_literals;
using SignalEvent = Signals::Event;

TEST(SignalsTest, a_wait_ends_at_its_time) {
  Signals signals;
  EXPECT_EQ(signals.wait(1ms), SignalEvent::timeout);
  EXPECT_EQ(signals.wait(0ms), SignalEvent::timeout);
}

TEST(SignalsTest, signals_become_events_and_kill_nobody) {
  Signals signals;
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(signals.wait(), SignalEvent::stop);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(signals.wait(), SignalEvent::stop);
  ::kill(::getpid(), SIGHUP);
  EXPECT_EQ(signals.wait(), SignalEvent::reload);
  ::raise(SIGPIPE);
  EXPECT_EQ(signals.wait(0ms), SignalEvent::timeout);
}

TEST(SignalsTest, any_thread_can_end_a_wait) {
  Signals signals;
  std::thread other([&] { signals.wake(); });
  EXPECT_EQ(signals.wait(), SignalEvent::woken);
  other.join();
  EXPECT_EQ(signals.wait(0ms), SignalEvent::timeout);
}

TEST(SignalsTest, the_original_mask_comes_back) {
  sigset_t before, after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    Signals signals;
    EXPECT_EQ(sigismember(&signals.original_mask(), SIGTERM), 0);
  }
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
}

}  // namespace
}  // namespace muster
