// Every file in bad/ has mistakes; beside it, NAME.expected has the lines that an operator must
// see, all of them. `{folder}` stands for the folder of the file, `{above}` for the one above it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "host/config/read_configuration.hpp"

namespace muster::config {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_in(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(MUSTER_TEST_FOLDER) / folder))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Report report_of(const fs::path& file) {
  return read_configuration(file, {"/tmp", {fs::path(MUSTER_TEST_FOLDER) / "installed"}});
}

std::string lines_of(const fs::path& file) {
  const Report report = report_of(file);
  std::string lines;
  for (const Mistake& mistake : report.mistakes)
    lines += to_string(mistake, file.filename().string()) + "\n";
  const std::string folder = file.parent_path().string();
  for (std::size_t at; (at = lines.find(folder)) != std::string::npos;)
    lines.replace(at, folder.size(), "{folder}");
  const std::string above = file.parent_path().parent_path().string();
  for (std::size_t at; (at = lines.find(above)) != std::string::npos;)
    lines.replace(at, above.size(), "{above}");
  return lines;
}

class BadConfiguration : public ::testing::TestWithParam<fs::path> {};

TEST_P(BadConfiguration, is_told_all_of_its_mistakes) {
  fs::path expected = GetParam();
  expected.replace_extension(".expected");
  const std::string lines = lines_of(GetParam());
  EXPECT_FALSE(lines.empty());
  EXPECT_EQ(lines, content_of(expected));
  const bool has_error = lines.find(": error: ") != std::string::npos;
  EXPECT_EQ(report_of(GetParam()).configuration == nullptr, has_error);
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, BadConfiguration, ::testing::ValuesIn(files_in("bad")), name_of);

class GoodConfiguration : public ::testing::TestWithParam<fs::path> {};

TEST_P(GoodConfiguration, has_no_errors) {
  const Report report = report_of(GetParam());
  EXPECT_TRUE(report.configuration) << lines_of(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, GoodConfiguration, ::testing::ValuesIn(files_in("good")), name_of);

}  // namespace
}  // namespace muster::config
