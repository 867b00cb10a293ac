// Tarballs as people and taskcluster-lib-docs make them.
#include "host/documentation/hierarchy.hpp"

#include <gtest/gtest.h>

#include "tests/unit/host/documentation/tar_builder.hpp"

namespace muster::documentation::testing {
namespace {

TEST(Hierarchy, takes_what_taskcluster_lib_docs_makes) {
  const auto read = read_tarball(
      tarball(file("schemas/v1/payload.json", R"({"$id": "/schemas/builders/v1/payload.json#"})") +
              file("references/api.json", "{}") + file("references/events.json", "{}") +
              file("README.md", "# Builders\n") + folder("docs") + folder("docs/deep/") +
              file("docs/deep/usage.mdx", "x") + file("docs/picture.png", "\x89PNG")));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.project, "builders");
  EXPECT_EQ(read->metadata.tier, "workers");
  EXPECT_EQ(read->metadata.menu_index, 10);
  EXPECT_EQ(read->files.size(), 7U);
  EXPECT_EQ(read->files.at("docs/picture.png"), "\x89PNG");
}

TEST(Hierarchy, takes_the_paths_of_tar_with_a_dot) {
  const auto read = read_tarball(gzip(folder("./") + file("./metadata.json", good_metadata) +
                                      file("./docs/a.md", "x") + tar_end()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->files.contains("docs/a.md"));
}

TEST(Hierarchy, takes_long_names_and_names_of_other_scripts) {
  const std::string longest = "docs/" + std::string(120, 'a') + "/" + std::string(100, 'b') + ".md";
  const auto read = read_tarball(
      tarball(pax("path", longest) + file("docs/short", "1") + gnu_long_name("docs/müsterchen.md") +
              file("docs/short", "2") + pax("path", "docs/手引き.md") + file("docs/short", "3")));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->files.at(longest), "1");
  EXPECT_EQ(read->files.at("docs/müsterchen.md"), "2");
  EXPECT_EQ(read->files.at("docs/手引き.md"), "3");
}

TEST(Hierarchy, has_limits_that_just_fit) {
  const std::string files = file("docs/a", std::string(1000, 'x'));
  const std::string bytes = tarball(files);
  Limits limits;
  limits.entries = 2;
  limits.compressed_bytes = bytes.size();
  limits.unpacked_bytes = 512 * 7;  // two headers, one block, two blocks, the end
  EXPECT_TRUE(read_tarball(bytes, limits));
  Limits fewer = limits;
  fewer.entries = 1;
  EXPECT_EQ(read_tarball(bytes, fewer).error().code, "InputTooLarge");
  fewer = limits;
  fewer.unpacked_bytes -= 1;
  EXPECT_EQ(read_tarball(bytes, fewer).error().code, "InputTooLarge");
  fewer = limits;
  fewer.compressed_bytes -= 1;
  EXPECT_EQ(read_tarball(bytes, fewer).error().code, "InputTooLarge");
}

TEST(Pack, makes_the_same_bytes_each_time_and_they_come_back) {
  const Files files{{"metadata.json", good_metadata},
                    {"README.md", "# Hello\n"},
                    {"docs/" + std::string(150, 'x') + "/müsterchen.md", "long"},
                    {"docs/empty", ""}};
  const auto packed = pack(files), again = pack(files);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(*packed, *again);
  const auto read = read_tarball(*packed);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->files, files);
}

}  // namespace
}  // namespace muster::documentation::testing
