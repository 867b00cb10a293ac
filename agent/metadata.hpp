// What clouds tell a machine about itself, at an address that only the machine can reach.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "agent/configuration.hpp"
#include "agent/http_client.hpp"

namespace muster::agent {

struct CloudIdentity {
  Place place;  // only what the cloud told
  json::object proof;
};

// Asks once. Fails as `transient` if something is not there (yet). `known` is what the
// configuration says already: a token for Google is made for its root URL.
void ask_cloud(IdentityKind kind, HttpClient& http, const std::string& metadata_url,
               const Place& known, const std::function<void(Result<CloudIdentity>)>& done);

// Azure's attested document, with a nonce of ten digits in it that shows for what it was made.
void ask_attested_document(HttpClient& http, const std::string& metadata_url,
                           const std::string& nonce,
                           const std::function<void(Result<std::string>)>& done);

std::string default_metadata_url(IdentityKind kind);

}  // namespace muster::agent
