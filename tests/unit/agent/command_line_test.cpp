#include "agent/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal_of(const std::vector<std::string>& words) {
  const auto line = parse_command_line(words);
  return line ? "" : line.error().message;
}

TEST(CommandLine, what_is_wrong_is_said) {
  EXPECT_EQ(refusal_of({"--polo", "x"}), "there is no option --polo");
  EXPECT_EQ(refusal_of({"--check=yes"}), "there is no option --check=yes");
  EXPECT_EQ(refusal_of({"--config"}), "--config needs a value");
  EXPECT_EQ(refusal_of({"--tag="}), "--tag needs a value");
  EXPECT_THAT(refusal_of({"--check", "--detach"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal_of({"--pool", "mac", "--team=ios"}),
              HasSubstr("--pool and --team exclude each other"));
  for (const char* wrong : {"memory", "=4", "memory=", "memory=lots", "memory=0", "memory=4G"})
    EXPECT_THAT(refusal_of({"--resource", wrong}), HasSubstr("is not like memory=65536")) << wrong;
}

TEST(CommandLine, options_have_their_value_behind_a_sign_or_in_the_next_word) {
  const auto line =
      parse_command_line({"--config=a.toml", "--pool", "mac", "--tag", "gpu", "--tag=arm",
                          "--resource", "memory=65536", "--resource=active-task=8", "--check"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->file, "a.toml");
  EXPECT_TRUE(line->check);
  EXPECT_FALSE(line->detach);
  EXPECT_EQ(line->overrides.worker_pool_id, "worker-manager/mac");
  EXPECT_THAT(line->overrides.reported.tags, ElementsAre("gpu", "arm"));
  EXPECT_THAT(line->overrides.reported.resources,
              ElementsAre(Pair("active-task", 8), Pair("memory", 65536)));
  EXPECT_EQ(parse_command_line({"--pool=a/b"})->overrides.worker_pool_id, "a/b");
  EXPECT_EQ(parse_command_line({"--team", "ios"})->overrides.reported.team, "ios");
}

TEST(CommandLine, without_options_reads_the_usual_file) {
  EXPECT_EQ(parse_command_line({})->file, "/etc/muster/agent.toml");
}

}  // namespace
}  // namespace muster::agent
