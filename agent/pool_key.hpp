// Private keys with which machines prove that they belong to a pool.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <muster/error.hpp>

#include "lib/base/secret.hpp"

namespace muster::agent {

struct PoolSignature {
  std::string signature;   // base64
  std::string public_key;  // as OpenSSH writes it: "ssh-ed25519 AAAA..."
};

// Ed25519 as it is, RSA (2048 bits or more) as RSASSA-PKCS1-v1_5 with SHA-512. The key is PEM
// (PKCS#8 or PKCS#1) or an OpenSSH private key without a passphrase; fails as `config`, naming the
// file and never showing any of it.
Result<PoolSignature> sign_with_pool_key(const Secret& key, const std::filesystem::path& file,
                                         std::string_view text);

}  // namespace muster::agent
