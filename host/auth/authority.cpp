#include "host/auth/authority.hpp"

#include <mutex>
#include <string_view>
#include <utility>

#include "host/auth/judge.hpp"
#include "host/auth/signed_request.hpp"
#include "lib/base/letter_case.hpp"

namespace muster::auth {
namespace {

// 44 characters, as Taskcluster's clients make them from two slugs.
std::string random_seed() {
  return random_token().reveal().substr(0, 22) + random_token().reveal().substr(0, 22);
}

}  // namespace

struct Authority::Impl {
  const Clock& clock;
  TimeWatch* const watch;
  const std::string salt = random_token().reveal();
  Memory memory;
  Sessions sessions;
  std::mutex changing;       // one change at a time
  mutable std::mutex mutex;  // of the pointer, held for as long as it takes to copy it
  std::shared_ptr<const Snapshot> snapshot_;

  Impl(const Clock& time, const AuthoritySettings& settings, TimeWatch* time_watch)
      : clock(time), watch(time_watch), memory(settings.most_cached_bytes) {}

  std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard guard(mutex);
    return snapshot_;
  }
  void publish(Snapshot next);
  Result<VerifiedRequest> judge(const Snapshot& known, const SignedRequest& request,
                                bool again = false) {
    return Judge(known, memory, watch, clock.now(), clock.steady(), request.sender)
        .judge(request, salt, again);
  }
  Result<VerifiedRequest> authenticate(const http::Request& request, bool again);
  CookieValue session_cookie(const http::Request& request) const;
  Result<VerifiedRequest> by_session(const Snapshot& known, const http::Request& request,
                                     const CookieValue& cookie) const;
};

// A snapshot has everything that is needed to verify requests.
void Authority::Impl::publish(Snapshot next) {
  next.tokens.clear();
  for (const Clients* clients : {&next.put.tokens, &next.configured.tokens})  // the latter win
    for (const auto& [id, entry] : *clients)
      for (const Client::Key& key : entry->client.keys)
        next.tokens[token_place(digest_of(key.secret), salt)] = {entry, &key};
  next.anonymous = std::make_shared<const Caller>(
      Caller{"", ScopeSet(next.roles->expanded({"assume:anonymous"})), never});
  auto fresh = std::make_shared<const Snapshot>(std::move(next));
  const std::lock_guard guard(mutex);
  snapshot_ = std::move(fresh);
}

Authority::Authority(const Clock& clock, AuthoritySettings settings, TimeWatch* watch)
    : impl_(std::make_unique<Impl>(clock, settings, watch)) {
  Snapshot first;
  first.roles = std::make_shared<const Roles>();
  first.settings = settings;
  impl_->publish(std::move(first));
  put({host_client_id, ClientKind::hawk, {{random_token()}}, {"*"}});
}

Authority::~Authority() = default;

void Authority::configure(std::vector<Client> clients, Roles roles, AuthoritySettings settings) {
  const std::lock_guard one(impl_->changing);
  Snapshot next = *impl_->snapshot();
  next.settings = settings;
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
  // A session that only rested while its client was disabled could be a stolen one.
  if (client.disabled) impl_->sessions.close_all_of(kind, id);
  next.put.of(kind)[id] = known(std::move(client), next.roles);
  impl_->publish(std::move(next));
}

void Authority::remove(const std::string& client_id) {
  const std::lock_guard one(impl_->changing);
  Snapshot next = *impl_->snapshot();
  if (next.put.hawk.erase(client_id) + next.put.tokens.erase(client_id) == 0) return;
  for (const ClientKind kind : {ClientKind::hawk, ClientKind::token})
    impl_->sessions.close_all_of(kind, client_id);
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

Result<Authority::VerifiedRequest> Authority::Impl::authenticate(const http::Request& request,
                                                                 bool again) {
  const auto known = snapshot();
  const bool header = request.header("Authorization").has_value();
  const bool bewit = request.query.find("bewit=") != std::string::npos;
  if (!header && !bewit) {
    const CookieValue cookie = session_cookie(request);
    if (cookie.count == 0) return VerifiedRequest{known->anonymous, {}};
    return by_session(*known, request, cookie);
  }
  const auto what = signed_request_of(request);
  if (!what) return what.error();
  if (header && has_bewit(what->resource))
    return Error::auth(
        "Cannot use two authentication schemes at once this request has both bewit in querystring "
        "and 'authorization' header");
  return judge(*known, *what, again);
}

Result<Authority::VerifiedRequest> Authority::authenticate_head(
    const http::Request& request) const {
  return impl_->authenticate(request, false);
}

Result<std::shared_ptr<const Caller>> Authority::authenticate_again(
    const http::Request& request) const {
  auto verified = impl_->authenticate(request, true);
  if (!verified) return verified.error();
  return std::move(verified->caller);
}

// -------------------------------------------------------------------------------------------------
// Sessions

namespace {

constexpr std::string_view own_api = "/api/muster/";
constexpr std::string_view secure_prefix = "__Host-";

// By TLS, to this host or to the proxy before it.
bool is_secure(const http::Request& request) {
  if (request.secure) return true;
  const auto protocol = request.header("X-Forwarded-Proto");
  return request.forwarded && protocol && protocol->substr(0, protocol->find(',')) == "https";
}

// A browser takes a cookie with this prefix only by TLS, for all paths, and from this very host.
std::string cookie_name(const http::Request& request, const Sessions& sessions) {
  return std::string(is_secure(request) ? secure_prefix : "") + sessions.name();
}

std::string set_cookie(const http::Request& request, const Sessions& sessions,
                       const std::string& value, std::chrono::seconds lifetime) {
  return cookie_name(request, sessions) + "=" + value + "; Path=/; HttpOnly; SameSite=Strict" +
         "; Max-Age=" + std::to_string(lifetime.count()) + (is_secure(request) ? "; Secure" : "");
}

// Of a client whose secrets are these: the digest of the one that was shown.
bool still_has(const Client& client, const Sha256& key, Time now) {
  for (const Client::Key& each : client.keys)
    if ((!each.until || *each.until > now) &&
        equal_in_constant_time(sha256(each.secret.reveal()), key))
      return true;
  return false;
}

std::shared_ptr<const Known> find_known(const Snapshot& known, ClientKind kind,
                                        const std::string& client_id) {
  if (kind == ClientKind::hawk) return known.find_hawk(client_id);
  for (const Clients* clients : {&known.configured.tokens, &known.put.tokens})
    if (const auto found = clients->find(client_id); found != clients->end()) return found->second;
  return nullptr;
}

}  // namespace

bool Authority::is_from_own_page(const http::Request& request) {
  const auto site = request.header("Sec-Fetch-Site");
  return !site || *site == "same-origin" || *site == "none";
}

CookieValue Authority::Impl::session_cookie(const http::Request& request) const {
  CookieValue found;
  if (!request.path.starts_with(own_api)) return found;
  const std::string name = cookie_name(request, sessions);
  // Browsers send one such header; what comes in a second one counts all the same.
  for (const http::Header& header : request.headers) {
    if (to_lower(header.name) != "cookie") continue;
    const CookieValue here = find_cookie(header.value, name);
    if (here.count > 0) found.value = here.value;
    found.count += here.count;
  }
  return found;
}

Result<Authority::VerifiedRequest> Authority::Impl::by_session(const Snapshot& known,
                                                               const http::Request& request,
                                                               const CookieValue& cookie) const {
  if (cookie.count > 1)
    return Error::auth(
        "this request has two cookies of a session; delete the cookies of this host, and log in");
  const Time now = clock.now();
  const auto session = sessions.find(cookie.value, now);
  const auto client =
      session ? find_known(known, session->owner.kind, session->owner.client_id) : nullptr;
  if (!client || !still_has(client->client, session->owner.key, now))
    return Error::auth("this session has ended; log in again");
  if (const auto may = check_client(client->client, now); !may) return may.error();
  if (request.method != "GET" && request.method != "HEAD") {
    const auto token = request.header("X-Muster-Csrf");
    if (!token || !hawk::same_mac(*token, Sessions::csrf_token(cookie.value)) ||
        !is_from_own_page(request))
      return Error::auth(
          "a request of a session that changes something needs the header X-Muster-Csrf with the "
          "csrfToken of GET session, and comes from a page of this host");
  }
  return VerifiedRequest{client->caller, {}};
}

Result<Authority::OpenedSession> Authority::open_session(const http::Request& request,
                                                         const Login& login) const {
  const auto known = impl_->snapshot();
  const Time now = impl_->clock.now();
  SignedRequest as_signed{
      .method = "POST", .resource = "/", .host = "session", .authorization = {}};
  as_signed.sender = request.client_address();
  Sessions::Owner owner;
  if (login.client_id.empty()) {
    as_signed.authorization = "Bearer " + login.token;
  } else {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    as_signed.authorization =
        hawk::authorization({login.client_id, login.access_token},
                            {as_signed.method, as_signed.resource, as_signed.host, as_signed.port},
                            seconds, random_token().reveal().substr(0, 12));
    owner = {ClientKind::hawk, login.client_id, sha256(login.access_token.reveal())};
  }
  auto verified = impl_->judge(*known, as_signed);
  if (!verified) return verified.error();
  if (login.client_id.empty()) {
    const Sha256 digest = sha256(login.token);
    const auto found = known->tokens.find(token_place(digest, impl_->salt));
    if (found == known->tokens.end()) return Error::auth("the token is not known here");
    owner = {ClientKind::token, found->second.first->client.client_id,
             sha256(found->second.second->secret.reveal())};
  }
  if (const CookieValue before = impl_->session_cookie(request); before.count == 1)
    impl_->sessions.close(before.value);
  const std::string cookie = impl_->sessions.open(std::move(owner), now);
  return OpenedSession{set_cookie(request, impl_->sessions, cookie, Sessions::lifetime),
                       Sessions::csrf_token(cookie), now + Sessions::lifetime,
                       std::move(verified->caller)};
}

std::string Authority::close_session(const http::Request& request) const {
  if (const CookieValue cookie = impl_->session_cookie(request); cookie.count == 1)
    impl_->sessions.close(cookie.value);
  return set_cookie(request, impl_->sessions, "", std::chrono::seconds(0));
}

std::string Authority::csrf_token(const http::Request& request) const {
  const CookieValue cookie = impl_->session_cookie(request);
  return session_expires(request) ? Sessions::csrf_token(cookie.value) : std::string();
}

std::optional<Time> Authority::session_expires(const http::Request& request) const {
  const CookieValue cookie = impl_->session_cookie(request);
  if (cookie.count != 1 || request.header("Authorization")) return std::nullopt;
  const auto session = impl_->sessions.find(cookie.value, impl_->clock.now());
  return session ? std::optional(session->expires) : std::nullopt;
}

Result<void> Authority::keep_sessions(const store::Store& store, Sessions::Submit submit,
                                      const std::string& host_id) {
  return impl_->sessions.keep(store, std::move(submit), host_id, impl_->clock.now());
}

Result<void> Authority::check_body(const http::Request& request, const std::string& hash) {
  const std::string computed =
      hawk::payload_hash(request.header("Content-Type").value_or(""), request.body);
  if (hawk::same_mac(computed, hash)) return {};
  return Error::auth("Invalid payload hash: " + hash + "\nComputed payload hash: " + computed +
                     "\nThis happens when your request carries a signed hash of the payload and "
                     "the hash doesn't match the hash we've computed on the server-side.");
}

Result<std::shared_ptr<const Caller>> Authority::authenticate(const http::Request& request) const {
  auto verified = authenticate_head(request);
  if (!verified) return verified.error();
  if (!verified->hash.empty())
    if (const auto same = check_body(request, verified->hash); !same) return same.error();
  return std::move(verified->caller);
}

Result<void> Authority::keep_seen_times(const std::filesystem::path& file) {
  const auto now = std::chrono::floor<std::chrono::seconds>(impl_->clock.now());
  return impl_->memory.nonces.keep_times(file, now.time_since_epoch().count());
}

std::string Authority::challenge(const Error& error) {
  return error.code.starts_with("Hawk ") ? error.code : "hawk";
}

Result<Authority::VerifiedRequest> Authority::judge(const SignedRequest& request) const {
  return impl_->judge(*impl_->snapshot(), request);
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

std::shared_ptr<const Roles> Authority::roles() const {
  return impl_->snapshot()->roles;
}

ScopeSet Authority::expand(const std::vector<std::string>& scopes) const {
  std::vector<std::string> all = scopes;
  all.emplace_back("assume:anonymous");
  return ScopeSet(impl_->snapshot()->roles->expanded(all));
}

}  // namespace muster::auth
