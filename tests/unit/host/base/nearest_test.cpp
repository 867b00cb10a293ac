#include "host/base/nearest.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

const std::vector<std::string> keys{"listen", "dataDirectory", "pluginFolders", "log", "level"};

TEST(Nearest, says_nothing_about_words_that_resemble_none) {
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("zzz", keys), "");
  EXPECT_EQ(nearest("directory", keys), "");
  EXPECT_EQ(nearest(std::string(10'000, 'l'), keys), "");
  EXPECT_EQ(nearest("listen", std::vector<std::string>{}), "");
}

TEST(Nearest, finds_typing_mistakes_and_other_spellings) {
  EXPECT_EQ(nearest("lisen", keys), "listen");
  EXPECT_EQ(nearest("lsiten", keys), "listen");
  EXPECT_EQ(nearest("data_directory", keys), "dataDirectory");
  EXPECT_EQ(nearest("DataDirectory", keys), "dataDirectory");
  EXPECT_EQ(nearest("pluginFolder", keys), "pluginFolders");
  EXPECT_EQ(nearest("levle", keys), "level");
}

}  // namespace
}  // namespace muster
