#include "plugins/strategy/external/promises.hpp"

#include <gtest/gtest.h>

#include "tests/unit/plugins/strategy/offers.hpp"

namespace muster::external {
namespace {

using testing::offer;
using testing::select_request;

std::string size_breach(std::int64_t wanted, PoolCapacity capacity, std::int64_t min,
                        std::int64_t max, std::string reason = "because") {
  return broken_promise(SizeRequest{WorkerPoolId("a/b"), 5, capacity, {min, max}},
                        Size{wanted, std::move(reason)});
}

TEST(ExternalPromises, a_size_stays_between_the_limits_and_has_a_reason) {
  EXPECT_EQ(size_breach(50, {5, 5}, 0, 20),
            "wants 50 beside 10 running and requested; maxCapacity is 20");
  EXPECT_EQ(size_breach(2, {1, 1}, 9, 20),
            "wants 2 beside 2 running and requested; minCapacity is 9");
  EXPECT_EQ(size_breach(0, {0, 0}, 1, 20),
            "wants 0 beside 0 running and requested; minCapacity is 1");
  EXPECT_EQ(size_breach(9'000'000'000'000'000, {}, 0, 20),
            "wants 9000000000000000, which is beyond all reason");
  EXPECT_EQ(size_breach(1, {}, 0, 20, ""), "gives no reason");
  EXPECT_EQ(size_breach(1, {}, 0, 20, std::string(5000, 'x')),
            "gives a reason of 5000 bytes; 4000 are allowed");
  EXPECT_EQ(size_breach(10, {5, 5}, 0, 20), "");
  EXPECT_EQ(size_breach(-10, {15, 15}, 0, 20), "");
  EXPECT_EQ(size_breach(5, {}, 9, 5), "");  // the maximum wins
}

std::string select_breach(std::vector<Selection::Choice> choices) {
  const auto request = select_request(
      5, {offer("a", 3, 1, 0.1), offer("b", 3, 4, 0.1), offer("held", 3, 1, 0.1, 0),
          offer("none", 3, 0, 0.1), offer("endless", 1'000'000'000'000'000, 1'000'000'000, 1)});
  return broken_promise(request, Selection{std::move(choices), "because"});
}

TEST(ExternalPromises, a_selection_takes_what_is_offered_and_needed) {
  EXPECT_EQ(select_breach({{BidId("z"), 1}}), "takes bid z, which is not offered");
  EXPECT_EQ(select_breach({{BidId("a"), 1}, {BidId("a"), 1}}), "takes bid a twice");
  EXPECT_EQ(select_breach({{BidId("a"), 4}}), "takes 4 instances of bid a, which offers 3");
  EXPECT_EQ(select_breach({{BidId("a"), 0}}), "takes 0 instances of bid a, which offers 3");
  EXPECT_EQ(select_breach({{BidId("a"), -1}}), "takes -1 instances of bid a, which offers 3");
  EXPECT_EQ(select_breach({{BidId("held"), 1}}), "takes bid held, which has weight 0");
  EXPECT_EQ(select_breach({{BidId("none"), 1}}), "takes bid none, which has no capacity");
  EXPECT_EQ(select_breach({{BidId("b"), 3}}),
            "takes 12 capacity where 5 is wanted: an instance fewer would do");
  EXPECT_EQ(select_breach({{BidId("endless"), 1'000'000'000'000'000}}),
            "takes more than is wanted");
  EXPECT_EQ(select_breach({{BidId("b"), 2}}), "");
  EXPECT_EQ(select_breach({{BidId("a"), 1}, {BidId("b"), 1}}), "");
  EXPECT_EQ(select_breach({}), "");
}

}  // namespace
}  // namespace muster::external
