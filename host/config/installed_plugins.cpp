#include "host/config/installed_plugins.hpp"

#include <set>

#include "lib/base/atomic_file.hpp"
#include "lib/toml/toml_document.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

constexpr int deepest = 3;
constexpr int most_entries = 10'000;  // of one folder: somebody may have written "/"
constexpr std::size_t max_manifest_bytes = 64 * 1024;

std::string text_of(const json::object& manifest, std::string_view key) {
  const auto* found = manifest.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string plugin_of(const fs::path& manifest) {
  const auto text = read_file(manifest, max_manifest_bytes);
  if (!text) return {};
  const auto parsed = parse_toml(*text);
  const auto* document = boost::variant2::get_if<TomlDocument>(&parsed);
  if (!document) return {};
  std::string name = text_of(document->root, "name");
  const std::string kind = text_of(document->root, "kind");
  if (name.empty() || name.find('/') != std::string::npos) return name;
  return kind.empty() ? std::string() : kind + "/" + name;
}

}  // namespace

std::vector<std::string> installed_plugins(const std::vector<fs::path>& folders) {
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    auto entry = fs::recursive_directory_iterator(
        folder, fs::directory_options::skip_permission_denied, failed);
    const fs::recursive_directory_iterator end;
    for (int seen = 0; !failed && entry != end && seen < most_entries; entry.increment(failed)) {
      ++seen;
      if (entry.depth() >= deepest) entry.disable_recursion_pending();
      if (entry->path().filename() != "plugin.toml") continue;
      if (std::string name = plugin_of(entry->path()); !name.empty()) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace muster::config
