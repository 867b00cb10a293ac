// JSON Web Tokens signed with RSA and SHA-256 (RS256), and no other algorithm.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "lib/base/secret.hpp"

namespace muster::google {

// A token that was taken apart, and not yet believed.
struct Jwt {
  json::object header, claims;
  std::string signed_part;  // the text that the signature is about
  std::string signature;
};

// `auth` if it is no token, if its algorithm is another one than RS256, or if its header wants more
// of a reader than we know ("crit").
Result<Jwt> read_jwt(std::string_view text);

// `private_key` is PEM. `auth` says what is wrong with it.
Result<std::string> sign_jwt(const json::object& header, const json::object& claims,
                             const Secret& private_key);

// An RSA key. THREADS: any; it does not change.
class PublicKey {
 public:
  // Of a JSON Web Key with `n` and `e`, or of a certificate or public key in PEM. `invalid` if it
  // is none, or has fewer than 2048 bits.
  static Result<PublicKey> from_jwk(const json::object& jwk);
  static Result<PublicKey> from_pem(std::string_view pem);

  bool has_signed(const Jwt& token) const;

 private:
  explicit PublicKey(std::shared_ptr<void> key) : key_(std::move(key)) {}
  static Result<PublicKey> checked(std::shared_ptr<void> key);

  std::shared_ptr<void> key_;  // OpenSSL's
};

}  // namespace muster::google
