// Which source of access tokens is used. What Entra is asked is behind the seam.
#include "lib/base/secret_file.hpp"
#include "plugins/provider/azure/token_sources.hpp"

namespace muster::azure {
namespace {

Result<Secret> secret_of(const TokenParts& parts, const ClientSecret& given) {
  if (!given.file.empty()) {
    auto read = read_secret_file(given.file, "the client's secret");
    if (!read) return Error::auth(read.error().message);
    return read;
  }
  const auto value = parts.environment(given.environment);
  if (!value || value->empty())
    return Error::auth("the environment variable " + given.environment +
                       " is not set here; a plugin's process gets only those that `environment` of "
                       "the provider names");
  return Secret(*value);
}

Result<FetchedToken> from_file_of_certificate(const TokenParts& parts, const std::string& client_id,
                                              const std::string& file, const std::string& scope,
                                              const Context& context) {
  const auto pem = read_secret_file(file, "the client's certificate", SecretText::document);
  if (!pem) return Error::auth(pem.error().message);
  return by_certificate(parts, client_id, *pem, scope, context);
}

Result<FetchedToken> from_file_of_token(const TokenParts& parts, const std::string& client_id,
                                        const std::string& file, const std::string& scope,
                                        const Context& context) {
  const auto token = read_secret_file(file, "the federated token");
  if (!token) return Error::auth(token.error().message);
  return by_assertion(parts, client_id, *token, scope, context);
}

Result<FetchedToken> from_workload(const TokenParts& parts, const WorkloadIdentity& given,
                                   const std::string& scope, const Context& context) {
  const std::string client =
      given.client_id.empty() ? parts.environment("AZURE_CLIENT_ID").value_or("") : given.client_id;
  const std::string file = given.token_file.empty()
                               ? parts.environment("AZURE_FEDERATED_TOKEN_FILE").value_or("")
                               : given.token_file;
  if (client.empty() || file.empty())
    return Error::auth(
        "workload identity needs clientId and tokenFile in credentials.workloadIdentity, or "
        "AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE in the plugin's environment");
  return from_file_of_token(parts, client, file, scope, context);
}

Result<FetchedToken> from_chain(const TokenParts& parts, const std::string& scope,
                                const Context& context) {
  const std::string client = parts.environment("AZURE_CLIENT_ID").value_or("");
  if (const auto secret = parts.environment("AZURE_CLIENT_SECRET"); secret && !client.empty())
    return by_client_secret(parts, client, Secret(*secret), scope, context);
  if (const auto file = parts.environment("AZURE_CLIENT_CERTIFICATE_PATH"); file && !client.empty())
    return from_file_of_certificate(parts, client, *file, scope, context);
  if (const auto file = parts.environment("AZURE_FEDERATED_TOKEN_FILE"); file && !client.empty())
    return from_file_of_token(parts, client, *file, scope, context);
  auto token = by_managed_identity(parts, client, scope, context);
  if (token || token.error().error_class == ErrorClass::cancelled) return token;
  Error error = token.error();
  error.message =
      "there are no Azure credentials: no AZURE_CLIENT_ID with AZURE_CLIENT_SECRET, "
      "AZURE_CLIENT_CERTIFICATE_PATH or AZURE_FEDERATED_TOKEN_FILE in the plugin's environment (it "
      "has only the variables that `environment` of the provider names), and " +
      error.message + "; configure `credentials` of the provider";
  return error;
}

}  // namespace

Result<FetchedToken> fetch_token(const TokenParts& parts, const std::string& scope,
                                 const Context& context) {
  const CredentialsSettings& given = parts.settings.credentials;
  if (given.client_secret) {
    const auto secret = secret_of(parts, *given.client_secret);
    if (!secret) return secret.error();
    return by_client_secret(parts, given.client_secret->client_id, *secret, scope, context);
  }
  if (given.certificate)
    return from_file_of_certificate(parts, given.certificate->client_id, given.certificate->file,
                                    scope, context);
  if (given.workload_identity)
    return from_workload(parts, *given.workload_identity, scope, context);
  if (given.managed_identity)
    return by_managed_identity(parts, given.managed_identity->client_id, scope, context);
  return from_chain(parts, scope, context);
}

}  // namespace muster::azure
