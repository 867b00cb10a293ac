#include "host/fleet/request_waiters.hpp"

#include <gtest/gtest.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

TEST(RequestWaiters, are_woken_once_by_what_they_wait_for) {
  RequestWaiters waiters;
  int first = 0, second = 0, other = 0;
  ASSERT_TRUE(waiters.wait(1, 10s, [&] { ++first; }));
  ASSERT_TRUE(waiters.wait(1, 20s, [&] { ++second; }));
  ASSERT_TRUE(waiters.wait(2, 20s, [&] { ++other; }));
  waiters.settled({1, 3});
  waiters.settled({1});
  waiters.expire(15s);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(other, 0);
  waiters.expire(20s);
  waiters.expire(30s);
  EXPECT_EQ(other, 1);
}

TEST(RequestWaiters, have_so_many_seats_for_each_client) {
  RequestWaiters waiters;
  const auto first = waiters.seat("ci", 2);
  auto second = waiters.seat("ci", 2);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(waiters.seat("ci", 2));
  EXPECT_TRUE(waiters.seat("other", 2));
  second.reset();
  EXPECT_TRUE(waiters.seat("ci", 2));
}

TEST(RequestWaiters, may_wait_again_while_they_are_woken) {
  RequestWaiters waiters;
  int woken = 0;
  ASSERT_TRUE(waiters.wait(1, 10s, [&] {
    ++woken;
    EXPECT_TRUE(waiters.wait(1, 20s, [&] { ++woken; }));
  }));
  waiters.expire(10s);
  EXPECT_EQ(woken, 1);
  waiters.settled({1});
  EXPECT_EQ(woken, 2);
}

TEST(RequestWaiters, wait_no_more_when_the_host_is_about_to_end) {
  RequestWaiters waiters;
  int woken = 0;
  ASSERT_TRUE(waiters.wait(1, 10s, [&] { ++woken; }));
  waiters.close();
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(waiters.wait(1, 10s, [&] { ++woken; }));
  waiters.settled({1});
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace muster::fleet
