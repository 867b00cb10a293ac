// How an instance of the provider reaches Azure: the part of its configuration that says so.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <muster/fields.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/reach.hpp"
#include "plugins/provider/azure/api.hpp"

namespace muster::azure {

// Where a client's secret is. There is no key for the secret itself.
struct ClientSecret {
  std::string client_id;
  std::string file = {}, environment = {};  // one of them

  static constexpr auto fields(auto visit) {
    return visit(required("clientId", &ClientSecret::client_id),
                 optional("file", &ClientSecret::file),
                 optional("environment", &ClientSecret::environment));
  }
};

struct ClientCertificate {
  std::string client_id;
  std::string file;  // certificate and private key in PEM

  static constexpr auto fields(auto visit) {
    return visit(required("clientId", &ClientCertificate::client_id),
                 required("file", &ClientCertificate::file));
  }
};

struct ManagedIdentity {
  std::string client_id = {};  // of a user-assigned identity; empty: the machine's own

  static constexpr auto fields(auto visit) {
    return visit(optional("clientId", &ManagedIdentity::client_id));
  }
};

struct WorkloadIdentity {
  std::string client_id = {},
              token_file = {};  // empty: AZURE_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE

  static constexpr auto fields(auto visit) {
    return visit(optional("clientId", &WorkloadIdentity::client_id),
                 optional("tokenFile", &WorkloadIdentity::token_file));
  }
};

// At most one; none of them: the default chain.
struct CredentialsSettings {
  std::optional<ClientSecret> client_secret = {};
  std::optional<ClientCertificate> certificate = {};
  std::optional<ManagedIdentity> managed_identity = {};
  std::optional<WorkloadIdentity> workload_identity = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("clientSecret", &CredentialsSettings::client_secret),
                 optional("certificate", &CredentialsSettings::certificate),
                 optional("managedIdentity", &CredentialsSettings::managed_identity),
                 optional("workloadIdentity", &CredentialsSettings::workload_identity));
  }
};

struct ConnectionSettings {
  std::string tenant = {};  // empty: AZURE_TENANT_ID
  std::string cloud = "public";
  CredentialsSettings credentials = {};
  cloud::ReachSettings reach = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("tenant", &ConnectionSettings::tenant),
                 optional("cloud", &ConnectionSettings::cloud),
                 optional("credentials", &ConnectionSettings::credentials));
  }

  // "resourceManager", "login", "metadata", "retailPrices": without a slash at the end.
  std::string endpoint(const std::string& name) const;
  std::string audience() const;  // what a token for Resource Manager is for, ends with a slash
  std::string portal() const;
};

// The schema's properties, for the provider's configSchema.
json::object connection_properties();

// The keys above of an instance's configuration; others are ignored. `invalid` names the key.
Result<ConnectionSettings> read_connection(const json::object& config);

// Does no I/O: a token is fetched by the first call.
std::unique_ptr<Api> connect(const ConnectionSettings& settings);

// Which implementation of credentials this plugin was built with, for `describe`: "built-in", or
// "Azure SDK for C++ 1.13".
std::string credentials_implementation();

}  // namespace muster::azure
