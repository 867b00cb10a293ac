#include "plugins/base/schema_parts.hpp"
#include "plugins/provider/azure/connection.hpp"

namespace muster::azure {
namespace {

json::object credentials_schema() {
  const json::object client = text_schema("The application (client) id");
  return table_schema(
      "At most one of them. None: the default chain (AZURE_CLIENT_ID with AZURE_CLIENT_SECRET or "
      "AZURE_CLIENT_CERTIFICATE_PATH, workload identity, managed identity)",
      {{"clientSecret",
        table_schema(
            "A client by its secret, which is never written here",
            {{"clientId", client},
             {"file", text_schema("Absolute path of a file with the secret; only its owner "
                                  "may read it. It is read for each token")},
             {"environment", text_schema("The environment variable with the secret")}},
            {"clientId"})},
       {"certificate",
        table_schema("A client by its certificate",
                     {{"clientId", client},
                      {"file", text_schema("Absolute path of a file with the certificate and its "
                                           "private key in PEM; only its owner may read it")}},
                     {"clientId", "file"})},
       {"managedIdentity",
        table_schema("The identity of the machine that muster runs on",
                     {{"clientId", text_schema("Of a user-assigned identity; the machine's own "
                                               "unless given")}})},
       {"workloadIdentity",
        table_schema("A client by a token of another issuer (Kubernetes, CI)",
                     {{"clientId", text_schema("The client; AZURE_CLIENT_ID unless given")},
                      {"tokenFile", text_schema("Absolute path of the token, read for each use; "
                                                "AZURE_FEDERATED_TOKEN_FILE unless given")}})}});
}

}  // namespace

json::object connection_properties() {
  json::object properties = cloud::reach_properties(
      "Other addresses: resourceManager, login, metadata, retailPrices", "An http(s) URL");
  properties["tenant"] =
      text_schema("The Microsoft Entra tenant, an id or a domain; AZURE_TENANT_ID unless given");
  properties["cloud"] =
      json::object{{"enum", json::array{"public", "china", "government"}},
                   {"default", "public"},
                   {"description", "Which of Azure's clouds: it decides about all addresses"}};
  properties["credentials"] = credentials_schema();
  return properties;
}

}  // namespace muster::azure
