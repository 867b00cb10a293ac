// The reference in docs/operating.md has every key of the schema.
#include <fstream>

#include <gtest/gtest.h>

#include <muster/json.hpp>

#include "host/config/embedded.hpp"

namespace muster::config {
namespace {

void collect_keys(const json::value& schema, std::vector<std::string>& keys) {
  if (schema.is_array())
    for (const json::value& item : schema.get_array()) collect_keys(item, keys);
  if (!schema.is_object()) return;
  for (const auto& [name, member] : schema.get_object()) {
    if (name == "properties")
      for (const auto& [key, below] : member.as_object()) keys.emplace_back(key);
    collect_keys(member, keys);
  }
}

TEST(Documentation, the_reference_has_every_key) {
  std::ifstream in(MUSTER_SOURCE "/docs/operating.md");
  const std::string reference{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> keys;
  collect_keys(*json::parse(schema_text), keys);
  ASSERT_GT(keys.size(), 25u);
  // As `listen`, `log.level`, `auth.tokens.<name>` or [providers.<providerId>].
  for (const std::string& key : keys) {
    bool found = false;
    for (const char* before : {"`", ".", "["})
      for (const char* after : {"`", ".", "]"})
        found = found || reference.find(before + key + after) != std::string::npos;
    EXPECT_TRUE(found) << key;
  }
}

}  // namespace
}  // namespace muster::config
