// The names of what is made for one worker. All of them have a digest of the owner and one of the
// idempotency key: the same key is the same machine, and what lacks its tags is still known. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <muster/launch_types.hpp>

namespace muster::azure {

struct Names {
  std::string suffix;  // "<owner>-<key>", 10 and 22 hexadecimal digits

  std::string machine() const { return "vm-" + suffix; }
  std::string deployment() const { return "deploy-" + suffix; }
  std::string network_interface(std::size_t index) const;
  std::string public_address(std::size_t index) const;
  std::string system_disk() const { return "disk-" + suffix + "-os"; }
  std::string data_disk(std::size_t index) const;
  // Windows takes 15 characters.
  std::string computer() const;
};

Names names_of(const Owner& owner, const IdempotencyKey& key);

// Of any resource that such names begin; Azure adds to the names of network interfaces. Nothing for
// those of others.
std::optional<Names> names_in(std::string_view resource, const Owner& owner);

// Small letters, digits and hyphens at most: it becomes a part of URLs.
bool is_machine_name(std::string_view name);

}  // namespace muster::azure
