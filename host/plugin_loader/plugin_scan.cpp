#include "host/plugin_loader/plugin_scan.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <system_error>

#include "host/plugin_loader/manifest.hpp"

namespace muster::plugin_loader {
namespace {

namespace fs = std::filesystem;

constexpr int max_depth = 3;

std::string stamp(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "none;";
  return std::to_string(status.st_ino) + "," + std::to_string(status.st_size) + "," +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) +
         "," + std::to_string(status.st_ctim.tv_sec) + "." +
         std::to_string(status.st_ctim.tv_nsec) + "," + std::to_string(status.st_mode) + ";";
}

std::string signature_of(const fs::path& folder) {
  std::string signature = stamp(folder) + stamp(folder / manifest_name);
  if (const auto manifest = read_manifest(folder / manifest_name))
    signature += stamp(folder / manifest->file);
  return signature;
}

void look(const fs::path& folder, bool shipped, int depth, const fs::path& except, Scan& found) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return;
  if (!except.empty() && fs::equivalent(folder, except, code)) return;
  found.to_watch.push_back(folder);
  if (fs::exists(folder / manifest_name, code)) {
    found.dropped.push_back({folder, {}, signature_of(folder), shipped});
    return;
  }
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    entries.push_back(*entry);
  std::sort(entries.begin(), entries.end());
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;  // staging names
    if (entry.path().extension() == ".so")
      found.dropped.push_back({folder, entry.path(), stamp(entry.path()), shipped});
    else if (depth < max_depth && !entry.is_symlink(code))
      look(entry.path(), shipped, depth + 1, except, found);
  }
}

}  // namespace

Scan scan(const std::vector<PluginFolder>& folders, const fs::path& except) {
  Scan found;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    look(folder->path, folder->shipped, 0, except, found);
  return found;
}

}  // namespace muster::plugin_loader
