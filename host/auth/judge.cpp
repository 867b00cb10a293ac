#include "host/auth/judge.hpp"

#include <strings.h>

#include "host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

constexpr std::size_t longest_token = 4096;
constexpr std::string_view bearer = "Bearer ";

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  if (authorization.size() < bearer.size() ||
      ::strncasecmp(authorization.data(), bearer.data(), bearer.size()) != 0)
    return std::nullopt;
  authorization.remove_prefix(bearer.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

// A token and a Hawk client of the same name have different secrets.
std::string of_token(const std::string& client_id) {
  return "token " + client_id;  // no client's name has a blank
}

Error unknown_client(const std::string& client_id) {
  return Error::auth("Client with clientId '" + client_id + "' not found").with_code(guess);
}

}  // namespace

Judge::Judge(const Snapshot& known, Memory& memory, TimeWatch* watch, Time now, SteadyTime steady,
             std::optional<Address> sender)
    : known_(known),
      memory_(memory),
      times_(now, watch, memory.nonces, known.settings.most_nonces_per_client),
      now_(now),
      steady_(steady),
      sender_(sender),
      locked_(sender ? memory.senders.left(*sender, steady) : std::nullopt) {}

Error Judge::too_many() const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(*locked_);
  return Error::throttle("too many attempts to get in failed from this address; try again in " +
                         std::to_string(seconds.count()) + " seconds")
      .hold_for(seconds);
}

Result<Authority::VerifiedRequest> Judge::judge(const Authority::SignedRequest& request,
                                                const std::string& salt, bool again) {
  again_ = again;
  Result<Authority::VerifiedRequest> verified = Authority::VerifiedRequest{known_.anonymous, {}};
  if (const auto given = bearer_token(request.authorization))
    verified = token(*given, salt);
  else if (!request.authorization.empty())
    verified = header(request);
  else if (has_bewit(request.resource))
    verified = bewit(request);
  if (verified || again_ || verified.error().code != guess) return verified;
  const LockoutSettings& limits = known_.settings.lockout;
  if (tried_ && !memory_.pairs.left(*tried_, steady_))
    memory_.pairs.failed(*tried_, steady_, limits);
  if (locked_) return too_many();
  if (sender_) memory_.senders.failed(*sender_, steady_, limits);
  return verified;
}

// A sender that is locked out may use what has come in from there before, and may guess no more.
// With a limit of its own: that client's secret is still guessed at.
bool Judge::may_try(const std::string& client_id) {
  if (!locked_) return true;
  if (client_id == host_client_id) return true;  // nobody guesses a key of 256 random bits
  const Address pair = FamiliarSenders::pair_of(*sender_, client_id);
  if (!memory_.familiar.knows(pair) || memory_.pairs.left(pair, steady_)) return false;
  tried_ = pair;
  return true;
}

// A wrong token does not say whose it is, so all tokens of a sender have one limit.
bool Judge::may_try_token(const std::string& client_id) const {
  return !locked_ ||
         (memory_.familiar.knows(FamiliarSenders::pair_of(*sender_, of_token(client_id))) &&
          !memory_.pairs.left(*tried_, steady_));
}

// Of what was proved before, without any check of signatures.
std::shared_ptr<const Grant> Judge::cached(const Sha256& key) const {
  auto grant = memory_.grants.find(key);
  if (!grant) return nullptr;
  if (known_.find_hawk(grant->issuer->client.client_id) == grant->issuer) return grant;
  memory_.grants.erase(key);  // its issuer was changed or is gone
  return nullptr;
}

Result<Judge::Claim> Judge::claim_of(const std::string& id, const std::string& ext) {
  if (!ext.empty()) return with_ext(id, ext);
  auto client = known_.find_hawk(id);
  if (!client || !may_try(id)) return unknown_client(id);
  return Claim{std::move(client)};
}

Result<Judge::Claim> Judge::with_ext(const std::string& id, const std::string& ext) {
  const Sha256 key = GrantCache::key_of(id, ext);
  if (auto grant = cached(key)) {
    auto issuer = grant->issuer;
    return Claim{std::move(issuer), std::move(grant)};
  }
  const auto read = parse_ext(ext, id);
  if (!read) return read.error();
  const std::string& issuer_id = read->issuer.empty() ? id : read->issuer;
  auto issuer = known_.find_hawk(issuer_id);
  if (!issuer || !may_try(issuer_id)) return unknown_client(issuer_id);
  auto unproved =
      times_.at_a_time_that_was([&](Time moment) { return read_grant(id, *read, issuer, moment); });
  if (!unproved) return unproved.error();
  Claim claim{std::move(issuer)};
  claim.unproved = std::move(*unproved);
  claim.key = key;
  return claim;
}

Result<const Client::Key*> Judge::signer(const Claim& claim, std::string_view text,
                                         std::string_view mac) const {
  for (const Client::Key& key : claim.keys())
    if ((!key.until || *key.until > now_) && hawk::same_mac(hawk::mac_of(key.secret, text), mac))
      return &key;
  return Error::auth("Unauthorized: Bad mac").with_code(guess);
}

Result<std::shared_ptr<const Caller>> Judge::accept(const std::string& id, Claim claim) const {
  if (const auto may = check_client(claim.issuer->client, now_); !may) return may.error();
  if (claim.grant) {
    const auto in_time =
        times_.at_a_time_that_was([&](Time moment) { return check_times(*claim.grant, moment); });
    if (!in_time) return in_time.error();
  }
  if (claim.unproved) {
    auto made = make_grant(id, std::move(*claim.unproved));
    if (!made) return made.error();
    claim.grant = std::make_shared<const Grant>(std::move(*made));
    memory_.grants.put(claim.key, claim.grant);
  }
  const std::string& issuer = claim.issuer->client.client_id;
  if (sender_ && issuer != host_client_id)
    memory_.familiar.note(FamiliarSenders::pair_of(*sender_, issuer));
  return claim.grant ? claim.grant->caller : claim.issuer->caller;
}

Result<Authority::VerifiedRequest> Judge::header(const Authority::SignedRequest& request) {
  const auto attributes = hawk::parse_header(request.authorization);
  if (!attributes) {
    const std::string& why = attributes.error().message;
    return Error::auth(why == hawk::other_scheme ? "Unauthorized" : "Bad Request: " + why);
  }
  auto claim = claim_of(attributes->id, attributes->ext);
  if (!claim) return claim.error();
  const auto key =
      signer(*claim,
             hawk::normalized("header", *attributes,
                              {request.method, request.resource, request.host, request.port}),
             attributes->mac);
  if (!key) return key.error();
  if (!again_)
    if (const auto in_time = times_.check(claim->issuer->client, **key, *attributes); !in_time)
      return in_time.error();
  auto caller = accept(attributes->id, std::move(*claim));
  if (!caller) return caller.error();
  return Authority::VerifiedRequest{std::move(*caller), attributes->hash};
}

Result<Authority::VerifiedRequest> Judge::bewit(const Authority::SignedRequest& request) {
  const auto bewit = parse_bewit(request.method, request.resource);
  if (!bewit) return bewit.error();
  auto claim = claim_of(bewit->id, bewit->ext);
  if (!claim) return claim.error();
  hawk::Attributes attributes;
  attributes.ts = bewit->expiry;
  attributes.ext = bewit->ext;
  const auto key = signer(
      *claim,
      hawk::normalized("bewit", attributes, {"GET", bewit->resource, request.host, request.port}),
      bewit->mac);
  if (!key) return key.error();
  const auto expiry = seconds_of(std::string_view(bewit->expiry));
  if (!expiry || Time(std::chrono::seconds(*expiry)) <= now_)
    return Error::auth("Unauthorized: Access expired");
  auto caller = accept(bewit->id, std::move(*claim));
  if (!caller) return caller.error();
  return Authority::VerifiedRequest{std::move(*caller), {}};
}

Result<Authority::VerifiedRequest> Judge::token(std::string_view token, const std::string& salt) {
  const Sha256 digest = sha256(token.substr(0, longest_token + 1));
  if (locked_) tried_ = FamiliarSenders::pair_of(*sender_, of_token(""));
  const auto found = known_.tokens.find(token_place(digest, salt));
  if (token.empty() || token.size() > longest_token || found == known_.tokens.end() ||
      !equal_in_constant_time(digest_of(found->second.second->secret), digest) ||
      (found->second.second->until && *found->second.second->until <= now_) ||
      !may_try_token(found->second.first->client.client_id))
    return Error::auth(
               "the token in the Authorization header is not known here; the admin's is in the "
               "file admin-token of the host's data directory")
        .with_code(guess);
  const Known& client = *found->second.first;
  if (const auto may = check_client(client.client, now_); !may) return may.error();
  if (sender_)
    memory_.familiar.note(FamiliarSenders::pair_of(*sender_, of_token(client.client.client_id)));
  return Authority::VerifiedRequest{client.caller, {}};
}

}  // namespace muster::auth
