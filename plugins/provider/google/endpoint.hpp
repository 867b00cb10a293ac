// Where Google's services are.
#pragma once

#include <map>
#include <string>

#include <muster/error.hpp>

namespace muster::google {

// THREADS: any; it does not change.
class Endpoints {
 public:
  // By service: compute, oauth2, certs, iamcredentials, sts, cloudbilling, cloudresourcemanager,
  // metadata.
  explicit Endpoints(std::map<std::string, std::string> overrides = {})
      : overrides_(std::move(overrides)) {}

  // Without a slash at its end.
  std::string url(const std::string& service) const;
  bool is_overridden(const std::string& service) const { return overrides_.contains(service); }

  // The address that a credentials file names for a service, or the operator's own. Refused as
  // `auth`: what is not one of Google's over TLS, because a changed file must not send tokens to
  // somebody else.
  Result<std::string> named_in_file(const std::string& service, const std::string& path,
                                    const std::string& named) const;

 private:
  std::map<std::string, std::string> overrides_;
};

// What is wrong with such an override; empty if nothing is.
std::string mistake_in_endpoint(const std::string& service, const std::string& url,
                                bool plain_http);

}  // namespace muster::google
