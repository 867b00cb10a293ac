// Who signs instance identity documents: AWS's certificates by region, and the operator's own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// THREADS: any; it does not change.
class IdentityKeys {
 public:
  // `invalid` for a certificate or key of the configuration that cannot be read or is too short.
  static Result<std::unique_ptr<const IdentityKeys>> read(const Settings& settings);
  ~IdentityKeys();

  // `signature` is base64 of an RSA signature with SHA-256 (PKCS #1 v1.5), as the metadata service
  // has it under /dynamic/instance-identity/signature. Error::auth says what is wrong.
  Result<void> check_signature(const std::string& region, std::string_view document,
                               std::string_view signature) const;
  // `pkcs7` is base64 of a signed PKCS #7 message about the document (rsa2048), with or without
  // the document inside and with or without PEM's lines around it.
  Result<void> check_pkcs7(const std::string& region, std::string_view document,
                           std::string_view pkcs7) const;

 private:
  struct Key;
  IdentityKeys();
  std::vector<const Key*> keys_of(const std::string& region, bool needs_certificate) const;

  std::vector<Key> keys_;
};

}  // namespace muster::aws
