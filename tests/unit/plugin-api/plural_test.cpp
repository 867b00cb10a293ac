#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <muster/plural.hpp>

namespace muster {
namespace {

TEST(Plural, only_one_is_singular) {
  EXPECT_EQ(count_of(0, "pool"), "0 pools");
  EXPECT_EQ(count_of(1, "pool"), "1 pool");
  EXPECT_EQ(count_of(std::size_t{2}, "pool"), "2 pools");
}

TEST(Plural, of_words_that_get_more_than_an_s_is_given) {
  EXPECT_EQ(count_of(1, "launch", "launches"), "1 launch");
  EXPECT_EQ(count_of(std::int64_t{3}, "launch", "launches"), "3 launches");
  EXPECT_EQ(count_of(1, "worker is", "workers are"), "1 worker is");
}

}  // namespace
}  // namespace muster
