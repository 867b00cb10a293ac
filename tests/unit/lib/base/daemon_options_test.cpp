#include "lib/base/daemon_options.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

class DaemonOptionsTest : public ::testing::Test {
 protected:
  std::optional<int> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CLI::App app;
    add_daemon_options(app, check, log_level);
    return parse_command_line(app, static_cast<int>(argv.size()), argv.data());
  }

  bool check = false;
  std::optional<LogLevel> log_level;
};

TEST_F(DaemonOptionsTest, a_wrong_command_line_ends_with_2_and_help_with_0) {
  EXPECT_EQ(parse({"--log-level", "loud"}), 2);
  EXPECT_EQ(parse({"--log-level"}), 2);
  EXPECT_EQ(parse({"--nonsense"}), 2);
  EXPECT_EQ(parse({"--help"}), 0);
}

TEST_F(DaemonOptionsTest, what_is_not_said_stays_as_it_was) {
  EXPECT_EQ(parse({}), std::nullopt);
  EXPECT_FALSE(check);
  EXPECT_EQ(log_level, std::nullopt);
}

TEST_F(DaemonOptionsTest, both_options_are_read) {
  EXPECT_EQ(parse({"--check", "--log-level=warning"}), std::nullopt);
  EXPECT_TRUE(check);
  EXPECT_EQ(log_level, LogLevel::warning);
}

}  // namespace
}  // namespace muster
