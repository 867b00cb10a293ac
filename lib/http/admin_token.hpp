// The first token of a host, without which nobody could ask it anything.
#pragma once

#include <filesystem>

#include <muster/error.hpp>

#include "lib/base/secret.hpp"

namespace muster::http {

struct AdminToken {
  Sha256 digest;
  bool made = false;  // by this call
};

// Reads the token from the file, or makes one (mode 0600) if there is no file. Fails if others may
// read the file, or if what it holds is shorter than 32 characters: a token that can be guessed is
// worse than none. Idempotent.
Result<AdminToken> read_or_make_admin_token(const std::filesystem::path& file);

}  // namespace muster::http
