// Our own sources of credentials, one function for each. All read and fetch anew with each call.
#pragma once

#include "plugins/provider/aws/credentials.hpp"
#include "plugins/provider/aws/shared_files.hpp"

namespace muster::aws {

// How long what was read from a file or the environment is used before it is read again.
inline constexpr std::chrono::minutes file_life{10};

// AWS_ACCESS_KEY_ID and its like; nothing if they are not set.
std::optional<FetchedCredentials> from_environment(const Environment& environment);

// What a metadata service answers: {"AccessKeyId": ..., "SecretAccessKey": ..., "Token": ...,
// "Expiration": ...}. `where` names it in messages.
Result<FetchedCredentials> read_credentials(const json::object& document, const std::string& where);

// Nothing if no container says where its credentials are.
std::optional<Result<FetchedCredentials>> from_container(const CredentialsParts& parts,
                                                         const Context& context);
// The role of the EC2 instance that muster runs on, by IMDSv2.
Result<FetchedCredentials> from_instance(const CredentialsParts& parts, const Context& context);

Result<FetchedCredentials> from_web_identity(const CredentialsParts& parts,
                                             const WebIdentity& identity, const Context& context);
// `base` signs the call.
Result<FetchedCredentials> from_role(const CredentialsParts& parts, const AssumeRole& role,
                                     CredentialsCache::Fetch base, const Context& context);

Result<FetchedCredentials> from_static_keys(const CredentialsParts& parts, const StaticKeys& keys,
                                            const Context& context);
Result<FetchedCredentials> from_profile(const CredentialsParts& parts, const std::string& name,
                                        const Context& context);

// Environment, web identity, shared files, container, instance. The first source that is configured
// counts, whether it works or not: falling through to another account would be worse than an error.
Result<FetchedCredentials> from_own_chain(const CredentialsParts& parts, const Context& context);

// -------------------------------------------------------------------------------------------------
// What the SDK does if there is one (credentials_sdk.cpp), and our own code otherwise
// (credentials_own.cpp); sign_request() of credentials.hpp, too.

Result<FetchedCredentials> from_default_chain(const CredentialsParts& parts,
                                              const Context& context);
// Of a profile with credential_process or a login of a person; nothing if it has neither.
std::optional<Result<FetchedCredentials>> from_process_or_login(const Profile& profile,
                                                                const std::string& name,
                                                                const Context& context);
// STS's AssumeRole: parameters and answer as in Api::call. `base` signs it.
Result<json::object> assume_role(const CredentialsParts& parts, const json::object& parameters,
                                 CredentialsCache& base, const Context& context);

}  // namespace muster::aws
