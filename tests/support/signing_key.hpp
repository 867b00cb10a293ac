// A key pair for tests, as OpenSSL makes it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "lib/ssh/wire.hpp"

namespace muster::ssh {

inline std::string padded_base64(std::string_view bytes) {
  std::string text = to_bare_base64(bytes);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

class SigningKey {
 public:
  static SigningKey ed25519() {
    return SigningKey(::EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  }
  static SigningKey rsa(std::size_t bits) {
    return SigningKey(::EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits));
  }

  bool is_rsa() const { return ::EVP_PKEY_is_a(key_.get(), "RSA") == 1; }

  std::string blob() const {
    if (is_rsa())
      return wire_text("ssh-rsa") + wire_text(number(OSSL_PKEY_PARAM_RSA_E)) +
             wire_text(number(OSSL_PKEY_PARAM_RSA_N));
    std::string point(32, '\0');
    std::size_t size = point.size();
    ::EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(point.data()),
                                  &size);
    return wire_text("ssh-ed25519") + wire_text(point);
  }

  std::string line() const {
    return (is_rsa() ? "ssh-rsa " : "ssh-ed25519 ") + padded_base64(blob()) + " made by a test";
  }

  std::string sign(std::string_view message, const EVP_MD* rsa_digest = ::EVP_sha512()) const {
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> signing(::EVP_MD_CTX_new(),
                                                                     ::EVP_MD_CTX_free);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
    std::size_t size = 0;
    ::EVP_DigestSignInit(signing.get(), nullptr, is_rsa() ? rsa_digest : nullptr, nullptr,
                         key_.get());
    ::EVP_DigestSign(signing.get(), nullptr, &size, bytes, message.size());
    std::string signature(size, '\0');
    if (::EVP_DigestSign(signing.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                         bytes, message.size()) != 1)
      throw std::runtime_error("cannot sign");
    signature.resize(size);
    return signature;
  }

 private:
  explicit SigningKey(EVP_PKEY* key) : key_(key, ::EVP_PKEY_free) {
    if (!key) throw std::runtime_error("cannot make a key");
  }

  std::string number(const char* name) const {
    BIGNUM* raw = nullptr;
    ::EVP_PKEY_get_bn_param(key_.get(), name, &raw);
    std::string bytes(static_cast<std::size_t>(BN_num_bytes(raw)), '\0');
    ::BN_bn2bin(raw, reinterpret_cast<unsigned char*>(bytes.data()));
    ::BN_free(raw);
    return static_cast<unsigned char>(bytes.front()) >= 0x80 ? std::string(1, '\0') + bytes : bytes;
  }

  std::shared_ptr<EVP_PKEY> key_;
};

// Making one takes long enough to share it.
inline const SigningKey& shared_rsa_key() {
  static const SigningKey key = SigningKey::rsa(2048);
  return key;
}

}  // namespace muster::ssh
