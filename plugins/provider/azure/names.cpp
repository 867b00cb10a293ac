#include "plugins/provider/azure/names.hpp"

#include <algorithm>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/sha256.hpp"

namespace muster::azure {
namespace {

constexpr std::size_t owner_digits = 10, key_digits = 22;

std::string owner_part(const Owner& owner) {
  return sha256_hex(owner.host_id + "\n" + owner.provider_id.str()).substr(0, owner_digits);
}

std::string numbered(const std::string& name, std::size_t index) {
  return index == 0 ? name : name + "-" + std::to_string(index);
}

}  // namespace

std::string Names::network_interface(std::size_t index) const {
  return numbered("nic-" + suffix, index);
}

std::string Names::public_address(std::size_t index) const {
  return numbered("ip-" + suffix, index);
}

std::string Names::data_disk(std::size_t index) const {
  return "disk-" + suffix + "-" + std::to_string(index);
}

std::string Names::computer() const {
  return "vm-" + suffix.substr(owner_digits + 1, 12);
}

Names names_of(const Owner& owner, const IdempotencyKey& key) {
  const std::string digest =
      sha256_hex(owner.host_id + "\n" + owner.provider_id.str() + "\n" + key.str());
  return {owner_part(owner) + "-" + digest.substr(0, key_digits)};
}

std::optional<Names> names_in(std::string_view resource, const Owner& owner) {
  const std::string name = to_lower(resource);
  for (const std::string_view kind : {"vm-", "deploy-", "nic-", "ip-", "disk-"}) {
    if (!name.starts_with(kind)) continue;
    const std::string suffix = name.substr(kind.size(), owner_digits + 1 + key_digits);
    if (suffix.size() == owner_digits + 1 + key_digits &&
        suffix.starts_with(owner_part(owner) + "-"))
      return Names{suffix};
  }
  return std::nullopt;
}

bool is_machine_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
  });
}

}  // namespace muster::azure
