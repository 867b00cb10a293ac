#include "cli/simulate/trace.hpp"

#include <sstream>

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string header = "time,workerPoolId,tasks,taskSeconds\n";

TraceReading read(const std::string& text, const TraceLimits& limits = {}) {
  std::istringstream in(text);
  return read_trace(in, limits);
}

std::vector<std::string> mistakes(const std::string& text, const TraceLimits& limits = {}) {
  std::vector<std::string> all;
  for (const TraceMistake& mistake : read(text, limits).mistakes)
    all.push_back(to_string(mistake, "d"));
  return all;
}

TEST(Trace, an_empty_trace_says_what_its_first_line_should_be) {
  for (const char* empty : {"", "\n\n", "# nothing\n", "\xEF\xBB\xBF"})
    EXPECT_THAT(mistakes(empty), ElementsAre(HasSubstr("d: the trace is empty"))) << empty;
  EXPECT_THAT(mistakes(header), ElementsAre("d: the trace has no rows"));
}

TEST(Trace, a_header_is_needed_and_its_mistakes_are_named) {
  EXPECT_THAT(mistakes("00:00:00,build,1,60\n"),
              ElementsAre(HasSubstr("d:1: there is no column \"00:00:00\"")));
  EXPECT_THAT(mistakes("time,workerPoolID,taskSeconds\n"),
              ElementsAre(HasSubstr("did you mean workerPoolId?")));
  EXPECT_THAT(mistakes("# c\ntime,tasks\n1,1\n"),
              ElementsAre("d:2: the column workerPoolId is missing",
                          "d:2: the column taskSeconds is missing"));
  EXPECT_THAT(mistakes("time,workerPoolId,workerType,taskSeconds\n"),
              ElementsAre("d:1: the column workerPoolId (or workerType) occurs twice"));
}

TEST(Trace, every_mistake_has_its_line) {
  EXPECT_THAT(mistakes(header + "soon,build,1,60\n"
                                "\n"
                                "0,build,none,60\n"
                                "0,build,1,0\n"
                                "0,,1,60\n"
                                "0,build,1\n"
                                "0,\"build,1,60\n"
                                "0,\"build\"x,1,60\n"
                                "-1,build,1,60\n"
                                "00:75:00,build,1,60\n"
                                "2026-13-01T00:00:00Z,build,1,60\n"),
              ElementsAre(HasSubstr("d:2: time: \"soon\" is not a time"),
                          HasSubstr("d:4: tasks: \"none\" is not a whole number from 1"),
                          HasSubstr("d:5: taskSeconds: \"0\" is not a number of seconds"),
                          HasSubstr("d:6: workerPoolId: \"\" is not a worker pool"),
                          HasSubstr("d:7: has 3 fields, but the header names 4 columns"),
                          HasSubstr("d:8: a quote is opened and not closed"),
                          HasSubstr("d:9: after a quoted field comes a comma"),
                          HasSubstr("d:10: time: \"-1\" is not a time"),
                          HasSubstr("d:11: time: \"00:75:00\" is not a time"),
                          HasSubstr("d:12: time: \"2026-13-01T00:00:00Z\" is no RFC 3339")));
}

TEST(Trace, numbers_that_are_none_are_refused) {
  for (const char* seconds : {"nan", "inf", "1e300", "", "60s", "0x10"})
    EXPECT_EQ(mistakes(header + "0,build,1," + seconds + "\n").size(), 1u) << seconds;
  for (const char* count : {"1.5", "-1", "99999999999999999999", "1000001"})
    EXPECT_EQ(mistakes(header + "0,build," + count + ",1\n").size(), 1u) << count;
  for (const char* time : {"nan", "1e99", "1:2:3", "::", "00:00:60", "123456:00:00"})
    EXPECT_EQ(mistakes(header + time + ",build,1,1\n").size(), 1u) << time;
}

TEST(Trace, dates_and_offsets_do_not_mix) {
  EXPECT_THAT(mistakes(header + "0,build,1,60\n2026-01-01T00:00:00Z,build,1,60\n"),
              ElementsAre("d:3: time: is a date, but line 2 gives a time since the start"));
}

TEST(Trace, reading_stops_after_twenty_mistakes) {
  std::string text = header;
  for (int i = 0; i < 1000; ++i) text += "x,build,1,60\n";
  const auto all = mistakes(text);
  ASSERT_EQ(all.size(), 20u);
  EXPECT_THAT(all.back(), HasSubstr("reading stopped"));
}

TEST(Trace, what_is_too_much_is_refused_with_its_line) {
  EXPECT_THAT(mistakes(header + "0,build,6,1\n0,build,5,1\n0,build,x,1\n", {.tasks = 10}),
              ElementsAre("d:3: there are more than 10 tasks"));
  EXPECT_THAT(mistakes(header + "0,build,1,1\n0,build,1,1\n", {.rows = 1}),
              ElementsAre("d:3: there are more than 1 rows"));
  EXPECT_THAT(mistakes(header + std::string(100000, 'x') + "\n"),
              ElementsAre(HasSubstr("d:2: the line is longer than 65536 bytes")));
  EXPECT_THAT(mistakes(header + "2024-01-01T00:00:00Z,b,1,1\n2026-01-01T00:00:00Z,b,1,1\n"),
              ElementsAre("d: the last row is more than a year after the first"));
}

TEST(Trace, bad_json_lines_are_told_with_their_line) {
  EXPECT_THAT(mistakes("{\"time\": 0, \"workerType\": \"build\", \"taskSeconds\": 60}\n"
                       "{\"time\": 0\n"
                       "[]\n"
                       "{\"time\": 0, \"pool\": \"build\"}\n"
                       "{\"time\": true, \"workerType\": \"build\", \"taskSeconds\": 60}\n"
                       "{\"time\": 0, \"workerType\": \"a\", \"workerPoolId\": \"b\"}\n"
                       "{}\n"),
              ElementsAre(HasSubstr("d:2: is no JSON object"), HasSubstr("d:3: is no JSON object"),
                          HasSubstr("d:4: there is no key \"pool\""),
                          HasSubstr("d:5: time: must be a string or a number"),
                          HasSubstr("d:6: give workerPoolId or workerType, not both"),
                          "d:7: time is missing", "d:7: workerPoolId is missing",
                          "d:7: taskSeconds is missing"));
}

TEST(Trace, bad_toml_is_told_with_its_line) {
  EXPECT_THAT(mistakes("# c\n[[arrivals]]\ntime = \n"), ElementsAre(HasSubstr("d:3: ")));
  EXPECT_THAT(
      mistakes("[[arrivals]]\ntime = 0\nworkerType = \"b\"\ntaskSeconds = 1\n\n[[arrivals]]\ntime "
               "= -1\nworkerType = \"b\"\ntaskSeconds = 1\n"),
      ElementsAre(HasSubstr("d:6: time: \"-1\" is not a time")));
  EXPECT_THAT(mistakes("[arrivals]\n"), ElementsAre("d: there are no [[arrivals]]"));
  EXPECT_THAT(mistakes("[[arrival]]\n"), ElementsAre(HasSubstr("d:1: there is no key \"arrival\""),
                                                     "d: there are no [[arrivals]]"));
}

TEST(Trace, unknown_pools_are_named_with_their_first_line_and_the_nearest_name) {
  const auto reading = read(header + "0,build-optt,1,1\n0,test,1,1\n1,build-optt,1,1\n");
  ASSERT_TRUE(reading.mistakes.empty());
  EXPECT_THAT(unknown_pools(reading.trace, {WorkerPoolId("worker-manager/build-opt"),
                                            WorkerPoolId("worker-manager/test")}),
              ElementsAre(TraceMistake{2,
                                       "workerPoolId: there is no worker pool "
                                       "\"worker-manager/build-optt\"; did you mean "
                                       "worker-manager/build-opt?"}));
}

TEST(Trace, csv_is_read_in_any_order_of_columns_and_rows) {
  const auto reading = read(
      "\xEF\xBB\xBF# exported\r\n"
      " taskSeconds , workerType ,time\r\n"
      "# a comment\r\n"
      "60, \"build\" ,26:30:00.5\r\n"
      "1.5,other/pool,90");
  ASSERT_TRUE(reading.mistakes.empty());
  const auto& arrivals = reading.trace.arrivals;
  ASSERT_EQ(arrivals.size(), 2u);
  EXPECT_EQ(arrivals[0].at, 90s);
  EXPECT_EQ(arrivals[0].worker_pool_id.str(), "other/pool");
  EXPECT_EQ(arrivals[0].each, 1500ms);
  EXPECT_EQ(arrivals[1].at, 26h + 30min + 500ms);
  EXPECT_EQ(arrivals[1].worker_pool_id.str(), "worker-manager/build");
  EXPECT_EQ(arrivals[1].tasks, 1);
  EXPECT_EQ(reading.trace.last, arrivals[1].at);
  EXPECT_EQ(reading.trace.tasks, 2);
}

TEST(Trace, dates_count_from_the_earliest) {
  const auto reading =
      read(header + "2026-03-01T09:00:00+01:00,build,1,60\n2026-03-01T07:45:00Z,build,2,60\n");
  ASSERT_TRUE(reading.mistakes.empty());
  EXPECT_EQ(reading.trace.arrivals[0].at, 0ms);
  EXPECT_EQ(reading.trace.arrivals[0].tasks, 2);
  EXPECT_EQ(reading.trace.arrivals[1].at, 15min);
  EXPECT_TRUE(reading.trace.begins.has_value());
}

TEST(Trace, json_lines_and_toml_say_the_same_as_csv) {
  const auto csv = read(header + "00:15:00,build,3,60\n").trace.arrivals;
  const auto lines =
      read("{\"time\":900,\"workerType\":\"build\",\"tasks\":3,\"taskSeconds\":60}\n");
  const auto toml =
      read("[[arrivals]]\ntime = 00:15:00\nworkerType = \"build\"\ntasks = 3\ntaskSeconds = 60\n");
  for (const TraceReading* other : {&lines, &toml}) {
    ASSERT_TRUE(other->mistakes.empty()) << to_string(other->mistakes.front(), "d");
    ASSERT_EQ(other->trace.arrivals.size(), 1u);
    EXPECT_EQ(other->trace.arrivals[0].at, csv[0].at);
    EXPECT_EQ(other->trace.arrivals[0].worker_pool_id, csv[0].worker_pool_id);
    EXPECT_EQ(other->trace.arrivals[0].tasks, csv[0].tasks);
    EXPECT_EQ(other->trace.arrivals[0].each, csv[0].each);
  }
}

TEST(Trace, rows_of_one_time_keep_their_order) {
  std::string text = header;
  for (int i = 1; i <= 100; ++i) text += "5,build," + std::to_string(i) + ",1\n";
  const auto reading = read(text);
  ASSERT_EQ(reading.trace.arrivals.size(), 100u);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(reading.trace.arrivals[static_cast<std::size_t>(i)].tasks, i + 1);
}

}  // namespace
}  // namespace muster::cli
