// How the relay asks the host: one request, signed with the relay's own credentials, which are good
// for nothing else.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/secret.hpp"
#include "lib/hawk/hawk.hpp"
#include "relay/settings.hpp"

namespace muster {
class Fetcher;
struct Fetched;
}  // namespace muster

namespace muster::relay {

struct HostAnswer {
  long status = 0;        // 0: none came, and `error` says why
  std::string body = {};  // holds secrets if the status is 200
  std::string error = {};
  std::optional<std::chrono::seconds> retry_after = {};
};

inline constexpr std::string_view registrations_path = "/api/muster/v1/relay-registrations";

// The Authorization header of a POST with this body, hashed and signed.
std::string signed_post(const hawk::Credentials& credentials, const hawk::Request& request,
                        std::string_view body, std::int64_t seconds, const std::string& nonce);
// Of "https://muster.example.com:8443/base": host, port and the path of `path` below it.
hawk::Request request_of(const std::string& root_url, std::string_view method,
                         std::string_view path);

// THREADS: any; calls wait, for no longer than the settings' timeout twice.
class HostLink {
 public:
  // `read_token` reads the relay's access token; asked again when the host does not accept the one
  // in use, so that it can be replaced without a restart. The clock is borrowed.
  HostLink(HostSettings settings, std::function<Result<Secret>()> read_token, Secret token,
           const Clock& clock, Log log);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  HostAnswer register_machine(const json::object& body);
  // Whether it answers at all; if not, why.
  Result<void> reach();

  // True: the file holds another one than before.
  bool reread_token();
  // Requests under way end at once.
  void stop() { stopping_ = true; }

 private:
  struct Call;
  Fetched post(const std::string& body);
  Fetched fetch(Call call);

  const HostSettings settings_;
  const std::function<Result<Secret>()> read_token_;
  const Clock& clock_;
  const Log log_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::int64_t> clock_difference_ = 0;  // seconds that the host is ahead
  std::mutex mutex_;
  Secret token_;
  std::vector<std::unique_ptr<Fetcher>> idle_;
};

}  // namespace muster::relay
