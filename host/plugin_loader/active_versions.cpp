#include "host/plugin_loader/active_versions.hpp"

#include <muster/codec.hpp>

#include "lib/base/atomic_file.hpp"

namespace muster::plugin_loader {
namespace {

constexpr const char* file_name = "active.json";

}  // namespace

Result<ActiveVersions> load_active_versions(const std::filesystem::path& store) {
  const std::filesystem::path file = store / file_name;
  const auto text = read_file(file, 16 << 20);
  if (!text && text.error().error_class == ErrorClass::not_found) return ActiveVersions{};
  if (!text) return text.error();
  auto versions = decode<ActiveVersions>(*text);
  if (!versions) return Error::invalid(file.string() + " is damaged: " + versions.error().message);
  return versions;
}

Result<void> store_active_versions(const std::filesystem::path& store,
                                   const ActiveVersions& versions) {
  return write_file_atomically(store / file_name, encode(versions));
}

}  // namespace muster::plugin_loader
