// Sessions of people who use the dashboard: a random number in a cookie stands for a client that
// has shown its secret. What the client may do is asked again at each request, so a session never
// outlives its client, the client's secret or a role.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "host/auth/client_row.hpp"
#include "lib/crypto/sha256.hpp"

namespace muster::auth {

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

  // The file in which sessions live on when the host is started again; it has digests of cookies
  // alone. Before the first request. On failure sessions end with this process.
  Result<void> keep(const std::filesystem::path& file, Time now);

  // A new cookie's value. Waits for disk. Ends the oldest ones beyond the limits.
  std::string open(Owner owner, Time now);
  std::optional<Session> find(std::string_view cookie, Time now) const;
  // Waits for disk. Idempotent.
  void close(std::string_view cookie);

  // All of a client, for it was disabled or removed. Waits for disk. Idempotent.
  void close_all_of(ClientKind kind, const std::string& client_id);

  // The cookie's name, which no other host on the same machine has.
  const std::string& name() const { return name_; }

  // What a request that changes something has to say besides: a page of another site cannot know
  // it.
  static std::string csrf_token(std::string_view cookie);

 private:
  using ByDigest = std::map<Sha256, Session>;

  void drop_surplus(const Owner& owner, Time now);
  // Without mutex_, so that find() does not wait for it.
  void write() const;

  mutable std::mutex writing_;  // before mutex_
  mutable std::mutex mutex_;    // of what follows
  ByDigest sessions_;
  std::filesystem::path file_;
  std::string name_ = "muster-session";
};

// Of the header `Cookie` the values of the cookies of that name.
struct CookieValue {
  std::string_view value;
  std::size_t count = 0;  // a value counts only if there is one
};
CookieValue find_cookie(std::string_view header, std::string_view name);

}  // namespace muster::auth
