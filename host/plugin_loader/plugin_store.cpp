#include "host/plugin_loader/plugin_store.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/secret.hpp"

namespace muster::plugin_loader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_library_size = std::size_t{1} << 30;

Result<std::string> read_library(const fs::path& path) {
  auto bytes = read_file(path, max_library_size);
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

Result<void> refuse_writable_by_others(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return Error::invalid(system_error("open", path, errno).message);
  if (status.st_mode & S_IWOTH)
    return Error::invalid(path.string() + " is writable by everybody; run: chmod o-w " +
                          path.string());
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return Error::invalid(path.string() + " belongs to user " + std::to_string(status.st_uid) +
                          ", neither to root nor to the user that the host runs as");
  return {};
}

Result<StoredPlugin> store_plugin(const fs::path& folder, const fs::path& store) {
  auto manifest = read_manifest(folder / manifest_name);
  if (!manifest) return manifest.error();
  const fs::path dropped = folder / manifest->file;
  for (const fs::path& path : {folder, folder / manifest_name, dropped})
    if (const auto safe = refuse_writable_by_others(path); !safe) return safe.error();
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
