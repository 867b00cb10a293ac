// Access tokens: the seam behind which the Azure SDK for C++ is used where it was found
// (credentials_sdk.cpp), and our own code otherwise (credentials_own.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/base/secret.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/refreshed_value.hpp"
#include "plugins/cloud/session.hpp"
#include "plugins/provider/azure/connection.hpp"

namespace muster::azure {

struct AccessToken {
  Secret text;
};
using TokenCache = cloud::RefreshedValue<AccessToken>;
using FetchedToken = TokenCache::Fetched;

// Reads variables of the environment; an argument, so that tests have one of their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// What fetching a token rests on. Everything is borrowed.
struct TokenParts {
  const ConnectionSettings& settings;
  cloud::Session& session;   // for Entra
  cloud::Session& metadata;  // for the metadata of machines: near, without a proxy
  cloud::Redactor& redactor;
  Environment environment = process_environment();
};

// The seam: a token for a scope ("https://management.azure.com/.default"), as the settings say, or
// by the default chain: a client's secret or certificate in the environment, workload identity,
// managed identity. The first that is configured counts, whether it works or not. Fetches anew
// with each call. An error is `auth` or `transient` and says which sources there are and what to
// do.
Result<FetchedToken> fetch_token(const TokenParts& parts, const std::string& scope,
                                 const Context& context);

}  // namespace muster::azure
