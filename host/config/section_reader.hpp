// Reads the values of one section of the host's configuration that are there. The section has
// passed the schema.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "lib/toml/units.hpp"

namespace muster::config {

// Paths are relative to `base`. Borrows both.
class SectionReader {
 public:
  SectionReader(const json::object& from, const std::filesystem::path& base)
      : from_(from), base_(base) {}

  void read(const char* key, std::string& into) const {
    if (const json::value* found = from_.if_contains(key)) into = found->get_string();
  }
  void read(const char* key, std::filesystem::path& into) const {
    if (const json::value* found = from_.if_contains(key))
      into = (base_ / std::string(found->get_string())).lexically_normal();
  }
  void read(const char* key, bool& into) const {
    if (const json::value* found = from_.if_contains(key)) into = found->get_bool();
  }
  void read(const char* key, std::uint32_t& into) const {
    if (const json::value* found = from_.if_contains(key)) into = found->to_number<std::uint32_t>();
  }
  void read(const char* key, std::chrono::milliseconds& into) const {
    if (const json::value* found = from_.if_contains(key))
      into = parse_duration(std::string_view(found->get_string())).value_or(into);
  }
  void read(const char* key, std::vector<std::string>& into) const {
    const json::value* found = from_.if_contains(key);
    if (!found || !found->is_array()) return;
    for (const json::value& item : found->get_array())
      if (item.is_string()) into.emplace_back(item.get_string());
  }

 private:
  const json::object& from_;
  const std::filesystem::path& base_;
};

}  // namespace muster::config
