// Who may come in, and what may they do: Hawk (permanent and temporary credentials, bewit) and
// bearer tokens, judged as Taskcluster's auth service judges them, in its words.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "host/auth/caller.hpp"
#include "host/auth/client.hpp"
#include "host/auth/lockout.hpp"
#include "host/auth/refusals.hpp"
#include "host/auth/sessions.hpp"
#include "host/scopes/roles.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/networks.hpp"
#include "lib/base/time_watch.hpp"
#include "lib/http/message.hpp"

namespace muster::auth {

// The host itself, as the client that signs the credentials of workers.
inline constexpr const char* host_client_id = "muster/host";

struct AuthoritySettings {
  LockoutSettings lockout = {};
  std::size_t most_cached_bytes = 64 << 20;     // of verified certificates
  std::size_t most_nonces_per_client = 50'000;  // of clients with replay protection
};

// THREADS: any. Never waits for disk or network. A change is seen by every request that begins
// after it; what was cached of a client that changed counts no more.
class Authority {
 public:
  // The clock is borrowed. Until put() brings a client `muster/host`, credentials are signed with a
  // key that dies with this object.
  //
  // The watch is borrowed, too. With it a request that was good at the last moment before the host
  // did not run, or before its clock was set, is good for a while after that: a worker whose
  // certificate expired in an hour that nobody could use, or that never passed, can renew it.
  explicit Authority(const Clock& clock, AuthoritySettings settings = {},
                     TimeWatch* watch = nullptr);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  // From the host's configuration: replaces the clients, roles and settings that came from there.
  // They win over clients of the same name that were put(); `most_cached_bytes` stays what it was.
  void configure(std::vector<Client> clients, Roles roles, AuthoritySettings settings);
  // Made by the API or by the host: adds, or replaces the one of the same name.
  void put(Client client);
  void remove(const std::string& client_id);
  // Whether the configuration has a client or token of that name.
  bool is_configured(const std::string& client_id) const;
  std::vector<Client> configured() const;  // with their keys: not for showing

  // No credentials at all are not an error: a Caller without client_id, with the scopes of the role
  // `anonymous`. Error::auth is a 401 with Taskcluster's message and `WWW-Authenticate:
  // challenge(error)`; Error::throttle a 429 with `Retry-After: error.hold`.
  Result<std::shared_ptr<const Caller>> authenticate(const http::Request& request) const;
  // The same in two steps, so that the body need not be there for the first. Only the first one
  // counts as an attempt; check_body() is for a hash that is not empty.
  struct VerifiedRequest {
    std::shared_ptr<const Caller> caller;
    std::string hash;  // that the payload must have; empty: any
  };
  Result<VerifiedRequest> authenticate_head(const http::Request& request) const;
  // Who asks now, of a request that was let in and goes on, such as a stream. Fails if it would not
  // come in any more: its client or secret is gone, its session or certificate has ended. Counts as
  // no attempt.
  Result<std::shared_ptr<const Caller>> authenticate_again(const http::Request& request) const;
  static Result<void> check_body(const http::Request& request, const std::string& hash);
  static std::string challenge(const Error& error);

  // The file with which a restarted host still knows requests that it has taken, of clients with
  // replay protection. Before the first request. On failure, requests from before now are refused.
  Result<void> keep_seen_times(const std::filesystem::path& file);

  // -----------------------------------------------------------------------------------------------
  // Sessions of a browser, for paths under /api/muster/. A request with their cookie and without an
  // Authorization header counts as their client's; one that may change something needs the header
  // `X-Muster-Csrf`, too.

  // What a person enters: a token, or a client that signs and its access token.
  struct Login {
    std::string token;
    std::string client_id;
    Secret access_token{""};
  };
  struct OpenedSession {
    std::string set_cookie;  // the header's value
    std::string csrf_token;
    Time expires{};
    std::shared_ptr<const Caller> caller;
  };
  // Fails as authenticate() does, with the same limits for guesses. The session that the request
  // came with ends. Waits for disk.
  Result<OpenedSession> open_session(const http::Request& request, const Login& login) const;
  // The cookie that makes the browser forget it. Waits for disk. Idempotent.
  std::string close_session(const http::Request& request) const;
  // Of the session that the request came with; empty: there is none.
  std::string csrf_token(const http::Request& request) const;
  std::optional<Time> session_expires(const http::Request& request) const;
  // See Sessions::keep.
  Result<void> keep_sessions(const store::Store& store, Sessions::Submit submit,
                             const std::string& host_id);
  // Whether a page of this host may have sent it, as far as the browser says so.
  static bool is_from_own_page(const http::Request& request);

  // A request as another service describes it that was asked to let it in.
  struct SignedRequest {
    std::string method, resource, host, authorization;
    std::uint16_t port = 0;
    std::optional<Address> sender = {};  // whose failures these are
  };
  Result<VerifiedRequest> judge(const SignedRequest& request) const;

  // Nothing if satisfied; else the exact 403 text of Taskcluster.
  static std::optional<std::string> refuse(const Caller& caller, const Expression& wanted);

  // Counted by those who answer with the refusal.
  Refusals& refusals() const { return refusals_; }

  // Named temporary credentials signed by the host's own client.
  struct TemporaryCredentials {
    std::string client_id, access_token, certificate /* JSON text */;
  };
  TemporaryCredentials issue(const std::string& client_id, const std::vector<std::string>& scopes,
                             Time start, Time expiry) const;

  std::shared_ptr<const Roles> roles() const;  // of now
  // What these scopes are worth with the roles of now, `anonymous` included.
  ScopeSet expand(const std::vector<std::string>& scopes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  mutable Refusals refusals_;
};

}  // namespace muster::auth
