// SSH public keys, Ed25519 and RSA, and what was signed with them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

struct evp_pkey_st;

namespace muster::ssh {

// A value that cannot change; const functions are thread-safe.
class PublicKey {
 public:
  // A line as in a .pub file: "ssh-ed25519 AAAA... comment". Fails as `invalid` with what is wrong:
  // another kind of key, an RSA key of fewer than 2048 bits, bytes that are no key.
  static Result<PublicKey> parse(std::string_view line);
  static Result<PublicKey> from_blob(std::string_view blob);

  enum class RsaDigest { sha256, sha512 };
  // Ed25519, or RSASSA-PKCS1-v1_5 with that digest.
  bool verifies(std::string_view message, std::string_view signature,
                RsaDigest digest = RsaDigest::sha512) const;

  const std::string& blob() const { return blob_; }
  bool is_rsa() const { return rsa_; }
  std::string fingerprint() const;  // "SHA256:...", as ssh-keygen -l shows it

 private:
  PublicKey(std::string_view blob, std::shared_ptr<evp_pkey_st> key, bool rsa)
      : blob_(blob), key_(std::move(key)), rsa_(rsa) {}

  std::string blob_;
  std::shared_ptr<evp_pkey_st> key_;
  bool rsa_;
};

// All of them. Fails as `invalid` with the place of the first that is no key, or stands there
// twice:
// "[1]: this key occurs twice".
Result<std::vector<PublicKey>> parse_keys(const std::vector<std::string>& lines);

// The namespace of signatures that `ssh-keygen -Y sign` makes for muster.
inline constexpr std::string_view signature_namespace = "muster";

// Which of the keys has signed the message; null: none of them. `signature` is base64 of the bare
// signature, or what `ssh-keygen -Y sign -n muster` writes. An empty message is signed by nobody.
const PublicKey* signer_of(std::string_view message, std::string_view signature,
                           const std::vector<PublicKey>& keys);

}  // namespace muster::ssh
