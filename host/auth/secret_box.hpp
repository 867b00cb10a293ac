// Secrets that must be read again are kept encrypted: AES-256-GCM, under a key in a file of its
// own, so that a copy of the database alone is useless.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <muster/error.hpp>

#include "lib/base/secret.hpp"

namespace muster::auth {

// Immutable. THREADS: any.
class SecretBox {
 public:
  // Reads the key from the file, or makes one (mode 0600) if there is no file. Fails as `config` if
  // others may use the file or it holds no key. Idempotent.
  static Result<SecretBox> open(const std::filesystem::path& file);

  // A secret that follows from the key: the same each time, and for each name another.
  Secret derive(std::string_view name) const;

  // `about` is what the secret belongs to: moved to another owner it cannot be opened.
  std::string seal(const Secret& secret, std::string_view about) const;
  // Fails as `internal` if it was sealed with another key, about something else, or was damaged.
  Result<Secret> unseal(std::string_view sealed, std::string_view about) const;

 private:
  explicit SecretBox(Secret key) : key_(std::move(key)) {}
  Secret key_;  // 32 bytes
};

}  // namespace muster::auth
