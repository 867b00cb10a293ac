// What a client id and the `ext` that came with it are worth: whose key must have signed the
// request, and what its sender may do then. Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "host/auth/caller.hpp"
#include "host/auth/client.hpp"
#include "host/scopes/roles.hpp"

namespace muster::auth {

// Marks an Error of somebody who may be guessing.
inline constexpr const char* guess = "guess";

// A client, and what the roles of now make of it. Immutable, so that its holder can tell by its
// address whether the client was changed since.
struct Known {
  Client client;
  std::shared_ptr<const Roles> roles;
  ScopeSet scopes;                       // expanded
  std::shared_ptr<const Caller> caller;  // with the scopes of `anonymous`, too
};
std::shared_ptr<const Known> known(Client client, std::shared_ptr<const Roles> roles);

// Fails in Taskcluster's words if the client may not come in any more.
Result<void> check_client(const Client& client, Time now);
// Of its keys, those that count; none for a client that has to come with a token.
std::vector<const Client::Key*> valid_keys(const Client& client, Time now);

// Immutable. Valid as long as `issuer` is what the authority knows by that name.
struct Grant {
  std::shared_ptr<const Known> issuer;
  std::vector<Client::Key> keys;  // any of them may have signed
  std::shared_ptr<const Caller> caller;
  // Of the certificate, if there is one.
  std::optional<Time> start, expiry;
};

// Certificates count from 5 minutes before their start until 5 minutes after their expiry.
Result<void> check_times(const Grant& grant, Time now);

// What `ext` says; see Taskcluster's "temporary credentials" and "authorized scopes".
struct Ext {
  json::object document;
  std::string issuer;  // empty: the client itself
};
Result<Ext> parse_ext(std::string_view ext, const std::string& client_id);

// A certificate whose parts have the right types.
struct Certificate {
  std::string seed, signature, issuer;
  std::string start_text, expiry_text;  // as they were signed
  double start = 0, expiry = 0;         // milliseconds
  std::vector<std::string> scopes;
  bool has_client_id = false;
};

// What a request claims, and the keys one of which must have signed it. What its sender may do, and
// what it lacks, is told only after that.
struct UnprovedGrant {
  std::shared_ptr<const Known> issuer;
  std::vector<Client::Key> keys;
  std::optional<Certificate> certificate;
  std::optional<std::vector<std::string>> authorized_scopes;
};
// `issuer` is the client that the certificate names, or `client_id` itself. The certificate was
// signed by it and counts now.
Result<UnprovedGrant> read_grant(const std::string& client_id, const Ext& ext,
                                 std::shared_ptr<const Known> issuer, Time now);
// The request was signed with one of the keys.
Result<Grant> make_grant(const std::string& client_id, UnprovedGrant proved);

// A certificate for `client_id`, signed with the issuer's key, as JSON; and the key that its holder
// signs with.
struct IssuedCertificate {
  std::string certificate, access_token;
};
IssuedCertificate sign_certificate(const std::string& client_id, const std::string& issuer,
                                   const Secret& key, const std::string& seed,
                                   const std::vector<std::string>& scopes, Time start, Time expiry);

}  // namespace muster::auth
