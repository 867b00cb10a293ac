// What is put before a program's libraries, to make its clock wrong or its disk full.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::testing {

// AddressSanitizer wants to come first, but needs not.
inline Variables with_preload(const char* library, const char* name, const std::string& value) {
  return {{"LD_PRELOAD", library}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}, {name, value}};
}

inline Variables with_clock(const char* name, const std::string& value) {
  return with_preload(MUSTER_SKEWED_CLOCK, name, value);
}

// A clock that can be set while the program runs.
class ClockFile {
 public:
  ClockFile() { set_clock(0); }
  Variables variables() const { return with_clock("MUSTER_TEST_SKEW_FILE", file_.string()); }
  // At once: the program never reads half of the file.
  void set_clock(int seconds_ahead) const {
    std::ofstream(folder_ / "next") << seconds_ahead;
    std::filesystem::rename(folder_ / "next", file_);
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "skew";
};

}  // namespace muster::testing
