// Sessions of people who use the dashboard: a random number in a cookie stands for a client that
// has shown its secret. What the client may do is asked again at each request, so a session never
// outlives its client, the client's secret or a role.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "host/auth/client_row.hpp"
#include "host/store/store.hpp"
#include "lib/crypto/sha256.hpp"

namespace muster::auth {

// Has digests of cookies alone.
struct SessionRow {
  static constexpr std::string_view table = "sessions";
  static constexpr std::size_t key_columns = 1;
  std::string digest;  // of the cookie, in hex
  ClientKind kind = ClientKind::token;
  std::string client_id;
  std::string key;  // see Sessions::Owner, in hex
  Time expires{};

  static constexpr auto fields(auto visit) {
    return visit(required("digest", &SessionRow::digest), required("kind", &SessionRow::kind),
                 required("clientId", &SessionRow::client_id), required("key", &SessionRow::key),
                 required("expires", &SessionRow::expires));
  }
};

// THREADS: any. find() never waits for disk.
class Sessions {
 public:
  static constexpr std::chrono::hours lifetime{8};
  static constexpr std::size_t most = 10'000, most_of_client = 100;

  struct Owner {
    ClientKind kind = ClientKind::token;
    std::string client_id;
    Sha256 key{};  // digest of the secret that it showed: the session ends with that
  };
  struct Session {
    Owner owner;
    Time expires{};
  };

  // See store::Committer::submit.
  using Submit = std::function<bool(store::Batch, std::function<void()> durable)>;

  // Sessions live on in the store, also at another host that shares it and so has the same id.
  // Before the first request. On failure sessions end with this process.
  Result<void> keep(const store::Store& store, Submit submit, const std::string& host_id, Time now);

  // A new cookie's value. Ends the oldest ones beyond the limits.
  std::string open(Owner owner, Time now);
  std::optional<Session> find(std::string_view cookie, Time now) const;
  // Waits a while until that is durable. Idempotent.
  void close(std::string_view cookie);

  // All of a client, for it was disabled or removed. Idempotent.
  void close_all_of(ClientKind kind, const std::string& client_id);

  // The cookie's, which no host with another store has.
  const std::string& name() const { return name_; }

  // What a request that changes something has to say besides: a page of another site cannot know
  // it.
  static std::string csrf_token(std::string_view cookie);

 private:
  using ByDigest = std::map<Sha256, Session>;

  // Adds what it ends to the batch.
  void drop_surplus(const Owner& owner, Time now, store::Batch& ended);
  // What cannot be kept costs people a log-in after the next start, and nothing else.
  void submit(store::Batch batch) const;

  mutable std::mutex mutex_;  // of the next one
  ByDigest sessions_;
  Submit submit_;
  std::string name_ = "muster-session";
};

// Of the header `Cookie` the values of the cookies of that name.
struct CookieValue {
  std::string_view value;
  std::size_t count = 0;  // a value counts only if there is one
};
CookieValue find_cookie(std::string_view header, std::string_view name);

}  // namespace muster::auth
