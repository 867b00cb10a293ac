#include "host/auth/authority.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <strings.h>
#include <unordered_map>
#include <utility>

#include "host/auth/grant_cache.hpp"
#include "host/auth/request_times.hpp"
#include "host/auth/signed_request.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {
namespace {

constexpr std::size_t longest_token = 4096;
constexpr std::string_view bearer = "Bearer ";

using Callers = Result<std::shared_ptr<const Caller>>;

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  if (authorization.size() < bearer.size() ||
      ::strncasecmp(authorization.data(), bearer.data(), bearer.size()) != 0)
    return std::nullopt;
  authorization.remove_prefix(bearer.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

// A token is found by a digest of its digest that nobody outside can compute, so that the time of
// the search tells nothing.
struct TokenHash {
  std::size_t operator()(const Sha256& key) const {
    std::size_t part;
    std::memcpy(&part, key.data(), sizeof part);
    return part;
  }
};

Sha256 digest_of(const Secret& secret) {
  Sha256 digest{};
  std::memcpy(digest.data(), secret.reveal().data(),
              std::min(digest.size(), secret.reveal().size()));
  return digest;
}

using Clients = std::unordered_map<std::string, std::shared_ptr<const Known>>;

// By where they come from. A token and a Hawk client of the same name may be two ways of one
// person.
struct Origin {
  Clients hawk, tokens;
  Clients& of(ClientKind kind) { return kind == ClientKind::hawk ? hawk : tokens; }
};

// Everything that is needed to verify requests, at one time. Replaced as a whole.
struct Snapshot {
  std::shared_ptr<const Roles> roles;
  AuthoritySettings settings;
  Origin configured, put;
  std::unordered_map<Sha256, std::pair<std::shared_ptr<const Known>, const Client::Key*>, TokenHash>
      tokens;
  std::shared_ptr<const Caller> anonymous;

  std::shared_ptr<const Known> find_hawk(const std::string& client_id) const {
    for (const Clients* clients : {&configured.hawk, &put.hawk})
      if (const auto found = clients->find(client_id); found != clients->end())
        return found->second;
    return nullptr;
  }
};

Error unknown_client(const std::string& client_id) {
  return Error::auth("Client with clientId '" + client_id + "' not found").with_code(guess);
}

// 44 characters, as Taskcluster's clients make them from two slugs.
std::string random_seed() {
  return random_token().reveal().substr(0, 22) + random_token().reveal().substr(0, 22);
}

}  // namespace

struct Authority::Impl {
  const Clock& clock;
  TimeWatch* const watch;
  const std::string salt = random_token().reveal();
  GrantCache grants;
  Lockout lockout;
  NonceWindows nonces;
  std::mutex changing;       // one change at a time
  mutable std::mutex mutex;  // of the pointer, held for as long as it takes to copy it
  std::shared_ptr<const Snapshot> snapshot_;

  Impl(const Clock& time, const AuthoritySettings& settings, TimeWatch* time_watch)
      : clock(time), watch(time_watch), grants(settings.most_cached) {}

  std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard guard(mutex);
    return snapshot_;
  }
  void publish(Snapshot next);
  Sha256 token_key(const Sha256& digest) const {
    return sha256(salt + std::string(reinterpret_cast<const char*>(digest.data()), digest.size()));
  }

  Result<VerifiedRequest> guarded(const Snapshot& known, const SignedRequest& request,
                                  const std::optional<Address>& sender);
};

// A snapshot has everything that is needed to verify requests.
void Authority::Impl::publish(Snapshot next) {
  next.tokens.clear();
  for (const Clients* clients : {&next.put.tokens, &next.configured.tokens})  // the latter win
    for (const auto& [id, entry] : *clients)
      for (const Client::Key& key : entry->client.keys)
        next.tokens[token_key(digest_of(key.secret))] = {entry, &key};
  next.anonymous = std::make_shared<const Caller>(
      Caller{"", ScopeSet(next.roles->expanded({"assume:anonymous"})), never});
  auto fresh = std::make_shared<const Snapshot>(std::move(next));
  const std::lock_guard guard(mutex);
  snapshot_ = std::move(fresh);
}

namespace {

// What a request says it may do, to be proved by its signature.
struct Claim {
  std::shared_ptr<const Known> issuer;
  std::shared_ptr<const Grant> grant = {};  // empty: all that the client itself may

  const std::vector<Client::Key>& keys() const { return grant ? grant->keys : issuer->client.keys; }
  std::shared_ptr<const Caller> caller() const { return grant ? grant->caller : issuer->caller; }
};

// Judges one request by one snapshot.
struct Judge {
  const Snapshot& known;
  GrantCache& grants;
  RequestTimes times;
  Time now;
  bool locked;  // the sender may use what it has proved before, and guess no more

  // Of what was proved before, without any check of signatures.
  std::shared_ptr<const Grant> cached(const Sha256& key) const {
    auto grant = grants.find(key);
    if (!grant) return nullptr;
    if (known.find_hawk(grant->issuer->client.client_id) == grant->issuer) return grant;
    grants.erase(key);  // its issuer was changed or is gone
    return nullptr;
  }

  Result<Claim> permanent(const std::string& id) const {
    auto client = known.find_hawk(id);
    if (!client) return unknown_client(id);
    if (locked && !client->proved) return unknown_client(id);
    if (const auto may = check_client(client->client, now); !may) return may.error();
    return Claim{std::move(client)};
  }

  Result<Claim> with_ext(const std::string& id, const std::string& ext) const {
    return times.at_a_time_that_was([&](Time moment) { return with_ext(id, ext, moment); });
  }

  Result<Claim> with_ext(const std::string& id, const std::string& ext, Time moment) const {
    const Sha256 key = GrantCache::key_of(id, ext);
    if (auto grant = cached(key)) {
      if (const auto may = check_client(grant->issuer->client, now); !may) return may.error();
      if (const auto in_time = check_times(*grant, moment); !in_time) return in_time.error();
      return Claim{grant->issuer, grant};
    }
    if (locked) return unknown_client(id);
    const auto read = parse_ext(ext, id);
    if (!read) return read.error();
    const std::string& issuer_id = read->issuer.empty() ? id : read->issuer;
    const auto issuer = known.find_hawk(issuer_id);
    if (!issuer) return unknown_client(issuer_id);
    if (const auto may = check_client(issuer->client, now); !may) return may.error();
    auto made = make_grant(id, *read, issuer, moment);
    if (!made) return made.error();
    auto grant = std::make_shared<const Grant>(std::move(*made));
    grants.put(key, grant);
    return Claim{issuer, std::move(grant)};
  }

  Result<Claim> claim_of(const std::string& id, const std::string& ext) const {
    return ext.empty() ? permanent(id) : with_ext(id, ext);
  }

  Result<const Client::Key*> signer(const Claim& claim, std::string_view text,
                                    std::string_view mac) const {
    for (const Client::Key& key : claim.keys())
      if ((!key.until || *key.until > now) && hawk::same_mac(hawk::mac_of(key.secret, text), mac)) {
        if (!claim.issuer->proved) claim.issuer->proved = true;
        return &key;
      }
    return Error::auth("Unauthorized: Bad mac").with_code(guess);
  }

  Result<Authority::VerifiedRequest> header(const Authority::SignedRequest& request) const {
    const auto attributes = hawk::parse_header(request.authorization);
    if (!attributes) {
      const std::string& why = attributes.error().message;
      return Error::auth(why == hawk::other_scheme ? "Unauthorized" : "Bad Request: " + why);
    }
    const auto claim = claim_of(attributes->id, attributes->ext);
    if (!claim) return claim.error();
    const auto key =
        signer(*claim,
               hawk::normalized("header", *attributes,
                                {request.method, request.resource, request.host, request.port}),
               attributes->mac);
    if (!key) return key.error();
    if (const auto in_time = times.check(claim->issuer->client, **key, *attributes); !in_time)
      return in_time.error();
    return Authority::VerifiedRequest{claim->caller(), attributes->hash};
  }

  Result<Authority::VerifiedRequest> bewit(const Authority::SignedRequest& request) const {
    const auto bewit = parse_bewit(request.method, request.resource);
    if (!bewit) return bewit.error();
    const auto claim = claim_of(bewit->id, bewit->ext);
    if (!claim) return claim.error();
    hawk::Attributes attributes;
    attributes.ts = bewit->expiry;
    attributes.ext = bewit->ext;
    const auto key = signer(
        *claim,
        hawk::normalized("bewit", attributes, {"GET", bewit->resource, request.host, request.port}),
        bewit->mac);
    if (!key) return key.error();
    const auto expiry = seconds_of(bewit->expiry);
    if (!expiry || Time(std::chrono::seconds(*expiry)) <= now)
      return Error::auth("Unauthorized: Access expired");
    return Authority::VerifiedRequest{claim->caller(), {}};
  }

  Result<Authority::VerifiedRequest> token(std::string_view token, const Sha256& digest,
                                           const Sha256& place) const {
    const auto found = known.tokens.find(place);
    if (token.empty() || token.size() > longest_token || found == known.tokens.end() ||
        !equal_in_constant_time(digest_of(found->second.second->secret), digest) ||
        (found->second.second->until && *found->second.second->until <= now))
      return Error::auth(
                 "the token in the Authorization header is not known here; the admin's is in the "
                 "file admin-token of the host's data directory")
          .with_code(guess);
    const Known& client = *found->second.first;
    if (const auto may = check_client(client.client, now); !may) return may.error();
    return Authority::VerifiedRequest{client.caller, {}};
  }
};

Error too_many(std::chrono::milliseconds left) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
  return Error::throttle("too many attempts to get in failed from this address; try again in " +
                         std::to_string(seconds.count()) + " seconds")
      .hold_for(seconds);
}

}  // namespace

Result<Authority::VerifiedRequest> Authority::Impl::guarded(const Snapshot& known,
                                                            const SignedRequest& request,
                                                            const std::optional<Address>& sender) {
  const SteadyTime steady = clock.steady();
  const auto left = sender ? lockout.left(*sender, steady) : std::nullopt;
  const Time now = clock.now();
  const RequestTimes times(now, watch, nonces, known.settings.most_nonces_per_client);
  const Judge judge{known, grants, times, now, left.has_value()};
  Result<VerifiedRequest> verified = VerifiedRequest{known.anonymous, {}};
  if (const auto token = bearer_token(request.authorization)) {
    const Sha256 digest = sha256(token->substr(0, longest_token + 1));
    verified = judge.token(*token, digest, token_key(digest));
  } else if (!request.authorization.empty()) {
    verified = judge.header(request);
  } else if (has_bewit(request.resource)) {
    verified = judge.bewit(request);
  }
  if (verified || verified.error().code != guess) return verified;
  if (left) return too_many(*left);
  if (sender) lockout.failed(*sender, steady, known.settings.lockout);
  return verified;
}

Authority::Authority(const Clock& clock, AuthoritySettings settings, TimeWatch* watch)
    : impl_(std::make_unique<Impl>(clock, settings, watch)) {
  Snapshot first;
  first.roles = std::make_shared<const Roles>();
  first.settings = std::move(settings);
  impl_->publish(std::move(first));
  put({host_client_id, ClientKind::hawk, {{random_token()}}, {"*"}});
}

Authority::~Authority() = default;

void Authority::configure(std::vector<Client> clients, Roles roles, AuthoritySettings settings) {
  const std::lock_guard one(impl_->changing);
  Snapshot next = *impl_->snapshot();
  next.settings = std::move(settings);
  const bool same_roles = roles == *next.roles;
  if (!same_roles) next.roles = std::make_shared<const Roles>(std::move(roles));
  auto before = std::exchange(next.configured, {});
  for (Client& client : clients) {
    const std::string id = client.client_id;
    const ClientKind kind = client.kind;
    const auto found = before.of(kind).find(id);
    // One that did not change stays what it is, with all that is cached of it.
    const bool same =
        same_roles && found != before.of(kind).end() && found->second->client == client;
    next.configured.of(kind)[id] = same ? found->second : known(std::move(client), next.roles);
  }
  if (!same_roles)
    for (Clients* put_ones : {&next.put.hawk, &next.put.tokens})
      for (auto& [id, entry] : *put_ones) entry = known(entry->client, next.roles);
  impl_->publish(std::move(next));
}

void Authority::put(Client client) {
  const std::lock_guard one(impl_->changing);
  Snapshot next = *impl_->snapshot();
  const std::string id = client.client_id;
  const ClientKind kind = client.kind;
  next.put.of(kind)[id] = known(std::move(client), next.roles);
  impl_->publish(std::move(next));
}

void Authority::remove(const std::string& client_id) {
  const std::lock_guard one(impl_->changing);
  Snapshot next = *impl_->snapshot();
  if (next.put.hawk.erase(client_id) + next.put.tokens.erase(client_id) != 0)
    impl_->publish(std::move(next));
}

bool Authority::is_configured(const std::string& client_id) const {
  const auto known = impl_->snapshot();
  return known->configured.hawk.contains(client_id) || known->configured.tokens.contains(client_id);
}

std::vector<Client> Authority::configured() const {
  std::vector<Client> all;
  const auto known = impl_->snapshot();
  for (const Clients* clients : {&known->configured.hawk, &known->configured.tokens})
    for (const auto& [id, entry] : *clients) all.push_back(entry->client);
  return all;
}

Result<std::shared_ptr<const Caller>> Authority::authenticate(const http::Request& request) const {
  const auto known = impl_->snapshot();
  const bool header = request.header("Authorization").has_value();
  const bool bewit = request.query.find("bewit=") != std::string::npos;
  if (!header && !bewit) return known->anonymous;
  const auto what = signed_request_of(request, known->settings.trusted_proxies);
  if (!what) return what.error();
  if (header && has_bewit(what->resource))
    return Error::auth(
        "Cannot use two authentication schemes at once this request has both bewit in querystring "
        "and 'authorization' header");
  auto verified =
      impl_->guarded(*known, *what, sender_of(request, known->settings.trusted_proxies));
  if (!verified) return verified.error();
  if (verified->hash.empty()) return verified->caller;
  const std::string computed =
      hawk::payload_hash(request.header("Content-Type").value_or(""), request.body);
  if (hawk::same_mac(computed, verified->hash)) return verified->caller;
  return Error::auth("Invalid payload hash: " + verified->hash +
                     "\nComputed payload hash: " + computed +
                     "\nThis happens when your request carries a signed hash of the payload and "
                     "the hash doesn't match the hash we've computed on the server-side.");
}

std::string Authority::challenge(const Error& error) {
  return error.code.starts_with("Hawk ") ? error.code : "hawk";
}

Result<Authority::VerifiedRequest> Authority::judge(const SignedRequest& request) const {
  return impl_->guarded(*impl_->snapshot(), request, address_of_peer(request.peer));
}

std::optional<std::string> Authority::refuse(const Caller& caller, const Expression& wanted) {
  if (satisfies(caller.scopes, wanted)) return std::nullopt;
  const std::string required = "\n\n```\n" + shown(to_json(wanted)) + "\n```";
  if (caller.client_id.empty())
    return "This request requires Taskcluster credentials that satisfy the following scope "
           "expression:" +
           required;
  return "Client ID " + caller.client_id +
         " does not have sufficient scopes and is missing the following scopes:\n\n```\n" +
         shown(missing(caller.scopes, wanted)) +
         "\n```\n\nThis request requires the client to satisfy the following scope expression:" +
         required;
}

Authority::TemporaryCredentials Authority::issue(const std::string& client_id,
                                                 const std::vector<std::string>& scopes, Time start,
                                                 Time expiry) const {
  const auto host = impl_->snapshot()->put.hawk.at(host_client_id);
  auto signed_by_us = sign_certificate(client_id, host_client_id, host->client.keys.front().secret,
                                       random_seed(), scopes, start, expiry);
  return {client_id, std::move(signed_by_us.access_token), std::move(signed_by_us.certificate)};
}

ScopeSet Authority::expand(const std::vector<std::string>& scopes) const {
  std::vector<std::string> all = scopes;
  all.emplace_back("assume:anonymous");
  return ScopeSet(impl_->snapshot()->roles->expanded(all));
}

}  // namespace muster::auth
