#include "cli/docs/folder.hpp"

#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

Result<void> add_file(const fs::path& file, const fs::path& folder, documentation::Files& files) {
  const documentation::Limits limits;
  if (files.size() == limits.entries)
    return Error::invalid(folder.string() + " has more than " + std::to_string(limits.entries) +
                          " files, which is the limit: leave out what is no documentation");
  auto content = read_file(file, limits.unpacked_bytes);
  if (!content) return content.error();
  files[file.lexically_relative(folder).generic_string()] = std::move(*content);
  return {};
}

// Links are not followed: they lead to files that nobody meant to publish.
Result<void> add_below(const fs::path& place, const fs::path& folder, documentation::Files& files) {
  const auto status = fs::symlink_status(place);
  if (fs::is_regular_file(status)) return add_file(place, folder, files);
  if (!fs::is_directory(status))
    return Error::invalid(place.string() +
                          " is a link or no file: put the file itself there, or remove it");
  for (const fs::directory_entry& entry : fs::directory_iterator(place))
    if (!is_hidden(entry.path()))
      if (auto added = add_below(entry.path(), folder, files); !added) return added;
  return {};
}

}  // namespace

Result<documentation::Files> files_of_folder(const fs::path& folder) {
  documentation::Files files;
  for (const char* name :
       {"metadata.json", "README.md", "docs", "schemas", "schema", "references"}) {
    const fs::path place = folder / name;
    if (!fs::exists(fs::symlink_status(place))) continue;
    if (auto added = add_below(place, folder, files); !added) return added.error();
  }
  return files;
}

}  // namespace muster::cli
