// What every store promises, over every store there is.
#include "tests/unit/host/store/conformance.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

namespace muster::store::testing {
namespace {

using muster::testing::TemporaryFolder;
using Numbers = std::vector<std::int64_t>;

class StoreConformance : public ::testing::TestWithParam<Subject> {
 protected:
  void commit(const Batch& batch) {
    const auto committed = store->commit(batch);
    ASSERT_TRUE(committed) << committed.error().message;
  }
  void expect_refused(const Change& change, std::string_view words) {
    const auto refused = store->commit({thing(1), change});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
    EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
    EXPECT_EQ(rows_of(*store, {&things}), Rows{}) << "half of a refused batch is there";
  }

  TemporaryFolder folder;
  std::unique_ptr<Store> store = GetParam().make(folder);
};

INSTANTIATE_TEST_SUITE_P(Every, StoreConformance, ::testing::ValuesIn(subjects()),
                         [](const auto& subject) { return std::string(subject.param.name); });

TEST_P(StoreConformance, a_row_that_does_not_fit_its_table_takes_its_batch_with_it) {
  expect_refused(Put{&things, {std::int64_t{2}}}, "1 values and 4 columns");
  expect_refused(thing(2, std::int64_t{3}), "column name was given an integer and takes a text");
  expect_refused(thing(2, "x", "y"), "column price was given a text and takes a real");
  expect_refused(thing(2, "x", std::nan("")), "NaN");
  expect_refused(Put{&things, {{}, "x", 1.0, std::int64_t{0}}},
                 "column number was given NULL and takes an integer");
  expect_refused(Put{&parts, {"x", {}, "y"}}, "column number was given NULL");
}

TEST_P(StoreConformance, an_erase_that_does_not_fit_its_table_is_refused) {
  expect_refused(Erase{&things, {"x"}}, "column number was given a text");
  expect_refused(Erase{&things, {std::int64_t{1}, "x"}}, "a key of 2 values");
  expect_refused(EraseBelow{&things, "name", 3}, "no integer column name");
  expect_refused(EraseBelow{&things, "nothing", 3}, "no integer column nothing");
}

TEST_P(StoreConformance, a_scan_that_does_not_fit_its_table_is_refused) {
  const auto refused = [&](const Scan& scan) {
    const auto scanned = store->scan(scan, [](auto) { return true; });
    return !scanned && scanned.error().error_class == ErrorClass::invalid;
  };
  EXPECT_TRUE(refused({&parts, {std::int64_t{1}}}));
  EXPECT_TRUE(refused({&parts, {"a", std::int64_t{1}, "b"}}));
  EXPECT_TRUE(refused({&parts, {"a", std::int64_t{1}}, std::int64_t{1}}));
  EXPECT_TRUE(refused({&parts, {"a"}, "b"}));
  EXPECT_TRUE(refused({&parts, {}, Value{}}));
}

TEST_P(StoreConformance, an_empty_batch_and_an_empty_table_are_nothing_special) {
  commit({});
  EXPECT_EQ(rows_of(*store, {&parts}), Rows{});
  EXPECT_EQ(rows_of(*store, {&parts, {"a"}, std::int64_t{3}, true, 4}), Rows{});
}

TEST_P(StoreConformance, values_come_back_as_they_went_in) {
  const std::string nul("a\0b", 3);
  const std::string huge(3'000'000, 'x');
  const double large = std::numeric_limits<double>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const Rows rows{{least, "Grüße, 世界 🎉", -0.1, most},
                  {std::int64_t{-1}, nul, 2.0, {}},
                  {std::int64_t{0}, "", {}, std::int64_t{0}},
                  {std::int64_t{1}, huge, large, {}},
                  {std::int64_t{2}, {}, HUGE_VAL, {}},
                  {most, "'; DROP TABLE things; --", 5e-324, least}};
  Batch batch;
  for (const auto& row : rows) batch.emplace_back(Put{&things, row});
  commit(batch);
  EXPECT_EQ(rows_of(*store, {&things}), rows);
}

TEST_P(StoreConformance, a_key_with_a_nul_is_another_key) {
  const std::string nul("a\0b", 3);
  commit({part("a", 1), part(nul, 2), part("b", 3)});
  EXPECT_EQ(numbers_of(*store, {&parts, {nul}}), (Numbers{2}));
  EXPECT_EQ(numbers_of(*store, {&parts, {}, "a"}), (Numbers{2, 3}));
  commit({Erase{&parts, {"a"}}});
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{2, 3}));
}

TEST_P(StoreConformance, keys_of_text_are_ordered_by_their_bytes) {
  commit({part("b", 1), part("a", 2), part("Z", 3), part("é", 4), part("", 5), part("aa", 6)});
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{5, 3, 2, 6, 1, 4}));
}

TEST_P(StoreConformance, a_put_replaces_the_row_of_the_same_key) {
  commit({thing(1, "a"), thing(2, "b"), thing(1, "c")});
  commit({thing(2, Value{}), part("x", 1, "d"), part("x", 1, "e")});
  EXPECT_EQ(rows_of(*store, {&things}), (Rows{{std::int64_t{1}, "c", 1.5, std::int64_t{0}},
                                              {std::int64_t{2}, {}, 1.5, std::int64_t{0}}}));
  EXPECT_EQ(rows_of(*store, {&parts}), (Rows{{"x", std::int64_t{1}, "e"}}));
}

TEST_P(StoreConformance, changes_of_a_batch_happen_in_its_order) {
  commit({thing(1), Erase{&things, {}}, thing(2), Erase{&things, {std::int64_t{2}}}, thing(3)});
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{3}));
}

TEST_P(StoreConformance, an_erase_takes_every_row_whose_key_begins_so) {
  const Batch all{part("a", 1), part("a", 2), part("ab", 3), part("b", 4)};
  commit(all);
  commit({Erase{&parts, {"a", std::int64_t{2}}}, Erase{&parts, {"nobody"}}});
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{1, 3, 4}));
  commit({Erase{&parts, {"a"}}});
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{3, 4}));
  commit({Erase{&parts, {}}});
  EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{}));
}

TEST_P(StoreConformance, erase_below_keeps_what_is_equal_larger_or_null) {
  commit({thing(1, "a", 1.0, std::int64_t{9}), thing(2, "a", 1.0, std::int64_t{10}),
          thing(3, "a", 1.0, std::int64_t{11}), thing(4, "a", 1.0, Value{}),
          thing(5, "a", 1.0, std::numeric_limits<std::int64_t>::min())});
  commit({EraseBelow{&things, "at", 10}});
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{2, 3, 4}));
  commit({EraseBelow{&things, "number", 4}});
  EXPECT_EQ(numbers_of(*store, {&things}), (Numbers{4}));
}

TEST_P(StoreConformance, scans_take_prefix_beyond_direction_and_limit) {
  for (std::int64_t i : {5, 1, 4, 2, 3})
    commit({part("b", i), part("a", 10 + i), part("c", 20 + i)});
  const auto scan = [&](std::vector<Value> prefix, std::optional<Value> beyond, bool backwards,
                        std::optional<std::size_t> limit) {
    return numbers_of(*store, {&parts, std::move(prefix), std::move(beyond), backwards, limit});
  };
  const Value three = std::int64_t{3};
  EXPECT_EQ(scan({"b"}, {}, false, {}), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(scan({"b"}, {}, true, {}), (Numbers{5, 4, 3, 2, 1}));
  EXPECT_EQ(scan({"b"}, three, false, {}), (Numbers{4, 5}));
  EXPECT_EQ(scan({"b"}, three, true, {}), (Numbers{2, 1}));
  EXPECT_EQ(scan({"b"}, three, true, 1), (Numbers{2}));
  EXPECT_EQ(scan({"b"}, {}, true, 2), (Numbers{5, 4}));
  EXPECT_EQ(scan({"b"}, {}, false, 0), (Numbers{}));
  EXPECT_EQ(scan({"b"}, Value{std::int64_t{99}}, false, {}), (Numbers{}));
  EXPECT_EQ(scan({"b", three}, {}, false, {}), (Numbers{3}));
  EXPECT_EQ(scan({}, Value{"a"}, false, 6), (Numbers{1, 2, 3, 4, 5, 21}));
  EXPECT_EQ(scan({}, Value{"b"}, true, {}), (Numbers{15, 14, 13, 12, 11}));
  EXPECT_EQ(scan({}, {}, true, 1), (Numbers{25}));
  EXPECT_EQ(scan({}, {}, false, std::numeric_limits<std::size_t>::max()).size(), 15U);
}

TEST_P(StoreConformance, a_sink_ends_its_scan_and_may_scan_itself) {
  commit({thing(1), thing(2), thing(3), part("a", 1)});
  int seen = 0;
  ASSERT_TRUE(store->scan({&things}, [&](auto) {
    EXPECT_EQ(numbers_of(*store, {&parts}), (Numbers{1}));
    return ++seen < 2;
  }));
  EXPECT_EQ(seen, 2);
}

TEST_P(StoreConformance, a_scan_sees_whole_batches_while_others_commit) {
  constexpr std::int64_t batches = 200;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= batches; ++i) {
      Batch batch;
      for (std::int64_t row = 0; row < 5; ++row) batch.emplace_back(thing(row, "x", 1.0, i));
      EXPECT_TRUE(store->commit(batch));
    }
    done = true;
  });
  std::int64_t before = 0;
  for (bool last = false; !last;) {
    last = done;
    const Rows rows = rows_of(*store, {&things});
    for (const auto& row : rows) EXPECT_EQ(row[3], rows[0][3]) << "a torn batch";
    const std::int64_t now = rows.empty() ? 0 : std::get<std::int64_t>(rows[0][3]);
    EXPECT_GE(now, before) << "a scan saw less than one before it";
    before = now;
  }
  writer.join();
  EXPECT_EQ(before, batches);
}

}  // namespace
}  // namespace muster::store::testing
