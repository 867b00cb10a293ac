#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

TEST(MemoryStoreTest, the_digest_tells_every_difference_and_nothing_else) {
  const auto digest = [](const Batch& batch) {
    MemoryStore store;
    EXPECT_TRUE(store.commit(batch));
    return store.digest();
  };
  const std::string one = digest({thing(1), part("a", 1)});
  EXPECT_EQ(one.size(), 64U);
  EXPECT_EQ(digest({part("a", 1), thing(2), thing(1), Erase{&things, {std::int64_t{2}}}}), one);
  EXPECT_NE(digest({thing(1), part("a", 2)}), one);
  EXPECT_NE(digest({thing(1), part("a", 1, "x")}), one);
  EXPECT_NE(digest({thing(1, Value{}), part("a", 1)}), one);
  EXPECT_EQ(digest({}), digest({thing(1), Erase{&things, {}}}));
}

TEST(MemoryStoreTest, a_copy_of_the_contents_is_what_a_crash_leaves) {
  MemoryStore store;
  ASSERT_TRUE(store.commit({thing(1), part("a", 1)}));
  const MemoryStore after_crash(store.contents());
  ASSERT_TRUE(store.commit({thing(1, "changed"), Erase{&parts, {}}}));
  EXPECT_EQ(numbers_of(after_crash, {&parts}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(rows_of(after_crash, {&things})[0][1], Value("n"));
}

TEST(MemoryStoreTest, a_backup_is_refused) {
  const auto refused = MemoryStore().backup("/nowhere");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::unsupported);
}

}  // namespace
}  // namespace muster::store::testing
