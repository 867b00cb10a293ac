#include "host/pools/lifecycle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::pools {
namespace {

ReadLifecycle read(std::string_view text) {
  return read_lifecycle(json::parse_object(text).value());
}

struct Wrong {
  std::string_view document, says;
};

TEST(Lifecycle, everything_that_is_wrong_is_told_with_what_to_write) {
  const Wrong cases[] = {
      {R"({"registrationTimeout": 0})", "lifecycle.registrationTimeout: is 0, but must be a time"},
      {R"({"registrationTimeout": -5})", "is -5"},
      {R"({"registrationTimeout": 1.5})", "is 1.5"},
      {R"({"registrationTimeout": "500ms"})", "write whole seconds, or for example \"30m\""},
      {R"({"reregistrationTimeout": 2592001})", "to 30 days"},
      {R"({"reregistrationTimeout": "721h"})", "to 30 days"},
      {R"({"queueInactivityTimeout": null})", "is null"},
      {R"({"idleTimeout": "soon"})", "is \"soon\""},
      {R"({"idleTimout": 1})", "lifecycle.idleTimout: is not known; did you mean idleTimeout?"},
      {R"({"warmCapacity": -1})", "lifecycle.warmCapacity: must be a whole number"},
      {R"({"cycling": 3})", "lifecycle.cycling: must be a table"},
      {R"({"cycling": {"bugdet": 1}})",
       "lifecycle.cycling.bugdet: is not known; did you mean budget?"},
      {R"({"cycling": {"budget": 0}})", "lifecycle.cycling.budget: is 0"},
      {R"({"cycling": {"budget": "0%"}})", "is \"0%\""},
      {R"({"cycling": {"budget": "101%"}})", "is \"101%\""},
      {R"({"cycling": {"budget": "nan%"}})", "is \"nan%\""},
      {R"({"cycling": {"budget": "10"}})", "is \"10\""},
      {R"({"cycling": {"finishTasks": -1}})", "lifecycle.cycling.finishTasks: is -1"},
      {R"({"cycling": {"finishTasks": "for ever"}})", "is \"for ever\""},
      {R"({"cycling": {"windows": {}}})", "must be a list of tables"},
      {R"({"cycling": {"windows": [3]}})", "windows[0] must be a table"},
      {R"({"cycling": {"windows": [{"form": "01:00"}]}})", "did you mean from?"},
      {R"({"cycling": {"windows": [{"days": []}]}})", "windows[0].days must be a list of days"},
      {R"({"cycling": {"windows": [{}, {"days": ["monday"]}]}})", "windows[1].days has \"monday\""},
      {R"({"cycling": {"windows": [{"from": "24:01"}]}})", "windows[0].from is \"24:01\""},
      {R"({"cycling": {"windows": [{"from": "1:00"}]}})", "windows[0].from"},
      {R"({"cycling": {"windows": [{"to": "-1:00"}]}})", "windows[0].to"},
      {R"({"cycling": {"windows": [{"from": "05:00", "to": "05:00"}]}})", "ends when it begins"},
  };
  for (const Wrong& wrong : cases) {
    const auto result = read(wrong.document);
    ASSERT_EQ(result.findings.size(), 1u) << wrong.document;
    EXPECT_THAT(to_string(result.findings[0]), ::testing::HasSubstr(std::string(wrong.says)));
  }
}

TEST(Lifecycle, without_any_word_it_is_as_taskcluster_has_it) {
  const auto result = read("{}");
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.lifecycle, fleet::Lifecycle{});
}

TEST(Lifecycle, every_setting_arrives) {
  const auto result = read(R"({"registrationTimeout": 60, "reregistrationTimeout": "48h",
    "queueInactivityTimeout": "20m", "idleTimeout": 0, "warmCapacity": 2,
    "cycling": {"budget": 2, "finishTasks": "90m", "windows": [
      {"days": ["fri", "mon", "mon"], "from": "22:00", "to": "06:30"}, {"to": "24:00"}]}})");
  ASSERT_TRUE(result.findings.empty()) << to_string(result.findings[0]);
  fleet::Lifecycle expected;
  expected.registration_timeout = std::chrono::minutes(1);
  expected.reregistration_timeout = std::chrono::hours(48);
  expected.queue_inactivity_timeout = std::chrono::minutes(20);
  expected.idle_timeout = std::chrono::seconds(0);
  expected.warm_capacity = 2;
  expected.cycling_budget.workers = 2;
  expected.finish_tasks = std::chrono::minutes(90);
  expected.cycling_windows = {{{1, 5}, std::chrono::hours(22), std::chrono::minutes(6 * 60 + 30)},
                              {{}, std::chrono::minutes(0), std::chrono::hours(24)}};
  EXPECT_EQ(result.lifecycle, expected);
  EXPECT_DOUBLE_EQ(read(R"({"cycling": {"budget": "12.5%"}})").lifecycle.cycling_budget.share,
                   0.125);
}

}  // namespace
}  // namespace muster::pools
