// Attested documents of Azure's metadata service: signed by a certificate of that service (CMS),
// which leads to a trusted root.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// THREADS: one at a time: it remembers the issuers that it has fetched.
class Attestation {
 public:
  // Gets a certificate, in DER or PEM, from an address that is allowed.
  using Fetch = std::function<Result<std::string>(const std::string& url)>;

  // `invalid` for certificates that are none.
  static Result<std::unique_ptr<Attestation>> create(const IdentitySettings& settings);
  ~Attestation();

  // The signed text of the document, which is base64 of a CMS message. Error::auth says what is
  // wrong: not signed, changed, a certificate of somebody else, expired, not trusted.
  Result<std::string> content_of(std::string_view document, Time now, const Fetch& fetch);

 private:
  struct Certificates;
  explicit Attestation(IdentitySettings settings);
  Result<void> check_chain(void* signer, void* message, Time now, const Fetch& fetch);

  const IdentitySettings settings_;
  const std::unique_ptr<Certificates> certificates_;
};

// Whether the address begins with one of those that are allowed.
bool is_allowed_issuer(const std::string& url, const std::vector<std::string>& allowed);

}  // namespace muster::azure
