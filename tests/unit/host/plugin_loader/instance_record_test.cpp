// What is remembered of an instance of a plugin.
#include "host/plugin_loader/instance_record.hpp"

#include <gtest/gtest.h>

namespace muster::plugin_loader {
namespace {

using Seconds = std::chrono::duration<double>;

TEST(InstanceRecord, has_the_quantiles_of_the_newest_calls) {
  InstanceRecord record;
  EXPECT_TRUE(record.times().empty());
  for (int i = 1; i <= 100; ++i) record.add_call("list", Seconds(i), i == 100);
  auto [list] = std::array{record.times().at(0)};
  EXPECT_EQ(list.method, "list");
  EXPECT_EQ(list.calls, 100);
  EXPECT_EQ(list.failed, 1);
  EXPECT_EQ(list.p50, 50);
  EXPECT_EQ(list.p90, 90);
  EXPECT_EQ(list.p99, 99);
  for (std::size_t i = 0; i < InstanceRecord::counted_calls; ++i)
    record.add_call("list", Seconds(1), false);
  EXPECT_EQ(record.times().at(0).p99, 1) << "old calls count no more";
}

TEST(InstanceRecord, one_call_is_all_quantiles) {
  InstanceRecord record;
  record.add_call("describe", Seconds(2), false);
  EXPECT_EQ(record.times().at(0).p50, 2);
  EXPECT_EQ(record.times().at(0).p99, 2);
}

TEST(InstanceRecord, is_bounded_whatever_a_plugin_writes) {
  InstanceRecord record;
  for (std::size_t i = 0; i < 1000; ++i) {
    record.add_call("method" + std::to_string(i), Seconds(1), false);
    record.add_line(Time{}, LogLevel::info, std::to_string(i) + std::string(100'000, 'x'));
  }
  EXPECT_EQ(record.times().size(), InstanceRecord::most_methods);
  ASSERT_EQ(record.log().size(), InstanceRecord::most_lines);
  EXPECT_EQ(record.log().back().text.size(), InstanceRecord::longest_line);
  EXPECT_EQ(record.log().back().text.substr(0, 4), "999x") << "the newest stay";
  record.add_line(Time{}, LogLevel::error, "no \xff UTF-8");
  EXPECT_EQ(record.log().back().text.find('\xff'), std::string::npos);
  EXPECT_EQ(record.log().back().level, "error");
}

TEST(InstanceRecords, forget_those_that_nobody_holds_when_there_are_many) {
  InstanceRecords records;
  const auto held = records.of("held");
  held->add_line(Time{}, LogLevel::info, "here");
  for (std::size_t i = 0; i < 3 * InstanceRecords::most; ++i) records.of("i" + std::to_string(i));
  EXPECT_EQ(records.of("held"), held);
  EXPECT_FALSE(records.find("i0"));
  EXPECT_FALSE(records.find("never"));
}

}  // namespace
}  // namespace muster::plugin_loader
