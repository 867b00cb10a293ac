// Where credentials come from, and how a request is signed with them: the seam behind which the AWS
// SDK for C++ is used where it was found (credentials_sdk.cpp), and our own code otherwise
// (credentials_own.cpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/refreshed_value.hpp"
#include "plugins/provider/aws/connection.hpp"
#include "plugins/provider/aws/signing.hpp"

namespace muster::aws {

using CredentialsCache = cloud::RefreshedValue<Credentials>;
using FetchedCredentials = CredentialsCache::Fetched;

// Reads variables of the environment; an argument, so that tests have one of their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

class Wire;

// What fetching credentials rests on. Everything is borrowed and outlives what is made from it.
struct CredentialsParts {
  const ConnectionSettings& settings;
  const std::string region;  // where STS is asked
  Environment environment = process_environment();
  Wire& wire;                // for STS
  cloud::Session& metadata;  // for the metadata of machines and containers: near, without a proxy
};

// How credentials are fetched, as the settings say. An error of it is `auth` or `transient` and
// says which sources there are and what to do.
CredentialsCache::Fetch credentials_fetch(const CredentialsParts& parts);

// Signs the request at the server's time. The answer's headers replace the request's.
Result<std::vector<http_client::Header>> sign_request(const http_client::Request& request,
                                                      const Credentials& credentials,
                                                      const SigningScope& scope, Time server_time);

}  // namespace muster::aws
