// Tarballs byte by byte, also such as no tool writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::documentation::testing {

inline const std::string good_metadata =
    R"({"version": 1, "project": "builders", "tier": "workers", "menuIndex": 10})";

// One header of a tar, with its checksum. Empty fields are left empty.
struct TarEntry {
  std::string name;
  std::string content = {};
  char type = '0';
  std::string link = {};
  std::string size = {};  // in place of the content's own, as it stands in the header
  std::string prefix = {};
  bool wrong_checksum = false;
};

std::string entry(const TarEntry& of);
std::string file(std::string name, std::string content);
std::string folder(std::string name);
// An extended header of the entry behind it: "path=docs/x.md".
std::string pax(std::string_view key, std::string_view value);
// A header that says the name of the entry behind it, as GNU tar writes it.
std::string gnu_long_name(const std::string& name);
// The two blocks that end a tar.
std::string tar_end();

std::string gzip(std::string_view bytes);
// metadata.json, then these entries, the end, compressed.
std::string tarball(const std::string& entries);

}  // namespace muster::documentation::testing
