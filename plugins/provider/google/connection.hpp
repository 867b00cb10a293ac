// How an instance of the provider reaches Google: the part of its configuration that says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/fields.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/reach.hpp"
#include "plugins/provider/google/api.hpp"

namespace muster::google {

struct Impersonation {
  std::string service_account;  // its e-mail address
  std::vector<std::string> delegates = {};
  std::int64_t lifetime_seconds = 3600;

  static constexpr auto fields(auto visit) {
    return visit(required("serviceAccount", &Impersonation::service_account),
                 optional("delegates", &Impersonation::delegates),
                 optional("lifetimeSeconds", &Impersonation::lifetime_seconds));
  }
};

// Either a file or the metadata server; neither: the default chain. There is no key for a secret
// itself.
struct CredentialsSettings {
  std::string file = {};  // of a service account, a workload identity or a login of gcloud
  bool metadata = false;
  std::optional<Impersonation> impersonate = {};  // with what the others give

  static constexpr auto fields(auto visit) {
    return visit(optional("file", &CredentialsSettings::file),
                 optional("metadata", &CredentialsSettings::metadata),
                 optional("impersonate", &CredentialsSettings::impersonate));
  }
};

struct ConnectionSettings {
  CredentialsSettings credentials = {};
  cloud::ReachSettings reach = {};
};

// The schema's properties, for the provider's configSchema.
json::object connection_properties();

// The keys above of an instance's configuration; others are ignored. `invalid` names the key.
Result<ConnectionSettings> read_connection(const json::object& config);

// Does no I/O: tokens are fetched by the first call.
std::unique_ptr<Api> connect(const ConnectionSettings& settings, const std::string& project);

// Which implementation of credentials this plugin was built with, for `describe`: "built-in", or
// "google-cloud-cpp 2.17.0".
std::string credentials_implementation();

}  // namespace muster::google
