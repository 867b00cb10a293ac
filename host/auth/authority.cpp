#include "host/auth/authority.hpp"

#include <mutex>
#include <utility>

#include "host/auth/judge.hpp"
#include "host/auth/signed_request.hpp"

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
  Result<VerifiedRequest> judge(const Snapshot& known, const SignedRequest& request) {
    return Judge(known, memory, watch, clock.now(), clock.steady(), request.sender)
        .judge(request, salt);
  }
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

Result<Authority::VerifiedRequest> Authority::authenticate_head(
    const http::Request& request) const {
  const auto known = impl_->snapshot();
  const bool header = request.header("Authorization").has_value();
  const bool bewit = request.query.find("bewit=") != std::string::npos;
  if (!header && !bewit) return VerifiedRequest{known->anonymous, {}};
  const auto what = signed_request_of(request);
  if (!what) return what.error();
  if (header && has_bewit(what->resource))
    return Error::auth(
        "Cannot use two authentication schemes at once this request has both bewit in querystring "
        "and 'authorization' header");
  return impl_->judge(*known, *what);
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

ScopeSet Authority::expand(const std::vector<std::string>& scopes) const {
  std::vector<std::string> all = scopes;
  all.emplace_back("assume:anonymous");
  return ScopeSet(impl_->snapshot()->roles->expanded(all));
}

}  // namespace muster::auth
