#include "lib/base/log.hpp"

#include <gtest/gtest.h>

#include <muster/json.hpp>

#include "lib/base/fake_clock.hpp"
#include "lib/base/log_line.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster {
namespace {

class LogTest : public ::testing::Test {
 protected:
  Log make(LogFormat format, LogLevel level = LogLevel::info) {
    return Log(output, level, format, std::make_shared<FakeClock>());
  }
  std::string last() { return output->lines().back(); }

  std::shared_ptr<testing::RecordedLog> output = std::make_shared<testing::RecordedLog>();
};

TEST_F(LogTest, a_newline_in_a_value_cannot_forge_a_line) {
  const Log log = make(LogFormat::text);
  log.info("a\nb\x1b[2J", {{"worker", "w-1\n2001 error stolen"}});
  EXPECT_EQ(last(),
            "2001-09-09T01:46:40.000Z info    a\\nb\\x1b[2J worker=\"w-1\\n2001 error stolen\"");
}

TEST_F(LogTest, bytes_that_are_no_utf8_cannot_break_a_json_line) {
  make(LogFormat::json).error("\xff\xc0\x80 ok \xed\xa0\x80", {{"a", "\xf0\x9f\x98\x80\xf0"}});
  const auto line = json::parse_object(last());
  ASSERT_TRUE(line) << last();
  EXPECT_EQ(line->at("a").as_string(), "\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_F(LogTest, fields_named_like_secrets_are_hidden) {
  for (const LogFormat format : {LogFormat::json, LogFormat::text})
    for (const char* name : {"token", "adminToken", "client_secret", "Authorization", "PASSWORD",
                             "private-key", "credentials"}) {
      make(format).info("x", {{name, "hunter2"}});
      EXPECT_EQ(last().find("hunter2"), std::string::npos) << last();
      EXPECT_NE(last().find("(hidden)"), std::string::npos) << last();
    }
  make(LogFormat::text).info("x", {{"adminTokenFile", "/d/admin-token"}});
  EXPECT_NE(last().find("adminTokenFile=/d/admin-token"), std::string::npos);
}

TEST_F(LogTest, json_lines_have_typed_fields_and_keep_their_first_three_names) {
  make(LogFormat::json)
      .with({{"plugin", "provider/ec2"}})
      .info("the call ended", {{"milliseconds", 3}, {"ok", true}, {"ratio", 0.85}, {"level", "x"}});
  EXPECT_EQ(last(),
            R"({"time":"2001-09-09T01:46:40.000Z","level":"info","message":"the call ended",)"
            R"("plugin":"provider/ec2","milliseconds":3,"ok":true,"ratio":0.85,"level_":"x"})");
}

TEST_F(LogTest, text_lines_have_the_context_first) {
  make(LogFormat::text)
      .with({{"plugin", "ec2"}})
      .with({{"instance", "ec2-us"}})
      .warning("slow", {{"method", "list all"}, {"empty", ""}});
  EXPECT_EQ(last(),
            "2001-09-09T01:46:40.000Z warning slow plugin=ec2 instance=ec2-us "
            "method=\"list all\" empty=\"\"");
}

TEST_F(LogTest, the_level_is_shared_by_all_logs_of_a_root) {
  const Log log = make(LogFormat::text);
  const Log child = log.with({{"a", 1}});
  child.debug("unheard");
  EXPECT_TRUE(output->lines().empty());
  log.set_level(LogLevel::debug);
  child.debug("heard");
  EXPECT_EQ(output->lines().size(), 1u);
  log.set_level(LogLevel::off);
  child.error("unheard");
  EXPECT_EQ(output->lines().size(), 1u);
}

TEST_F(LogTest, a_default_constructed_log_is_silent) {
  const Log log;
  log.with({{"a", 1}}).error("nobody hears");
  EXPECT_FALSE(log.enabled(LogLevel::error));
}

TEST_F(LogTest, level_names_read_back) {
  for (const LogLevel level :
       {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error, LogLevel::off})
    EXPECT_EQ(log_level_from(to_string(level)), level);
  EXPECT_EQ(log_level_from("loud"), std::nullopt);
}

}  // namespace
}  // namespace muster
