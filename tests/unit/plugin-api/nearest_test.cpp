#include <gtest/gtest.h>

#include <muster/nearest.hpp>

namespace muster {
namespace {

const std::vector<std::string_view> keys{"listen", "dataDirectory", "pluginFolders",
                                         "log",    "minCapacity",   "maxCapacity"};

TEST(NearestWord, says_nothing_about_words_that_resemble_none) {
  EXPECT_EQ(nearest("", keys), std::nullopt);
  EXPECT_EQ(nearest("zzz", keys), std::nullopt);
  EXPECT_EQ(nearest("directory", keys), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'l'), keys), std::nullopt);
  EXPECT_EQ(nearest("listen", {}), std::nullopt);
}

TEST(NearestWord, finds_typing_mistakes_and_other_spellings) {
  EXPECT_EQ(nearest("lisen", keys), "listen");
  EXPECT_EQ(nearest("lsiten", keys), "listen");
  EXPECT_EQ(nearest("MaxCapacity", keys), "maxCapacity");
  EXPECT_EQ(nearest("data_directory", keys), "dataDirectory");
  EXPECT_EQ(nearest("plugin-folder", keys), "pluginFolders");
}

}  // namespace
}  // namespace muster
