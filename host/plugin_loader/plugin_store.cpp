#include "host/plugin_loader/plugin_store.hpp"

#include <system_error>
#include <utility>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"
#include "lib/base/secret.hpp"

namespace muster::plugin_loader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_library_size = std::size_t{1} << 30;

Result<std::string> read_library(const fs::path& path) {
  auto bytes = read_file(path, max_library_size);
  if (!bytes && bytes.error().error_class == ErrorClass::transient) return bytes.error();
  if (!bytes) return Error::invalid(bytes.error().message);
  if (bytes->empty()) return Error::invalid(path.string() + " is empty");
  return bytes;
}

std::string hash_of(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

Error wrong_hash(const fs::path& library, const std::string& expected, const std::string& found) {
  return Error::invalid("the manifest expects sha256 " + expected + " but " +
                        library.filename().string() + " has " + found +
                        "; copy the library first and the manifest last");
}

}  // namespace

Result<StoredPlugin> store_plugin(const fs::path& folder, const fs::path& store) {
  auto manifest = read_manifest(folder / manifest_name);
  if (!manifest) return manifest.error();
  const fs::path dropped = folder / manifest->file;
  for (const auto& [path, what] : {std::pair(folder, "the plugin's folder"),
                                   std::pair(folder / manifest_name, "the plugin's manifest"),
                                   std::pair(dropped, "the plugin's library")})
    if (const auto safe = check_ownership(path, what, OthersMay::read); !safe)
      return Error::invalid(safe.error().message);
  const auto bytes = read_library(dropped);
  if (!bytes) return bytes.error();
  const std::string found = hash_of(*bytes);
  if (found != manifest->sha256) return wrong_hash(dropped, manifest->sha256, found);

  std::error_code code;
  const fs::path home = fs::absolute(store) / found;
  fs::create_directories(home, code);
  for (const fs::path& made : {fs::absolute(store), home})  // cells of other users read from here
    if (!code) fs::permissions(made, fs::perms(0755), code);
  if (code) return Error::internal(home.string() + " cannot be made: " + code.message());
  const fs::path library = home / manifest->file;
  const auto stored =
      fs::exists(library, code) ? read_library(library) : Result<std::string>(Error::not_found(""));
  if (!stored || *stored != *bytes)
    if (const auto written = write_file_atomically(library, *bytes, 0755); !written)
      return written.error();
  if (const auto written = write_file_atomically(home / manifest_name, write_manifest(*manifest));
      !written)
    return written.error();
  return StoredPlugin{library, std::move(*manifest)};
}

Result<StoredPlugin> find_stored_plugin(const std::string& expected, const fs::path& store) {
  const fs::path home = fs::absolute(store) / expected;
  auto manifest = read_manifest(home / manifest_name);
  if (!manifest) return manifest.error();
  const fs::path library = home / manifest->file;
  const auto bytes = read_library(library);
  if (!bytes) return bytes.error();
  const std::string found = hash_of(*bytes);
  if (found != expected) return wrong_hash(library, expected, found);
  return StoredPlugin{library, std::move(*manifest)};
}

}  // namespace muster::plugin_loader
