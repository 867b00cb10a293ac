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

#include "lib/base/log.hpp"
#include "lib/base/secret.hpp"
#include "lib/http_client/client.hpp"
#include "relay/settings.hpp"

namespace muster::relay {

struct HostAnswer {
  long status = 0;        // 0: none came, and `error` says why
  std::string body = {};  // holds secrets if the status is 200
  std::string error = {};
  std::optional<std::chrono::seconds> retry_after = {};
};

inline constexpr std::string_view registrations_path = "/api/muster/v1/relay-registrations";

// THREADS: any; calls wait, for no longer than the settings' timeout twice.
class HostLink {
 public:
  // `read_token` reads the relay's access token; asked again when the host does not accept the one
  // in use, so that it can be replaced without a restart.
  HostLink(HostSettings settings, std::function<Result<Secret>()> read_token, Secret token,
           Log log);
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
  http_client::Answer send(http_client::Request request);
  http_client::Answer post(const std::string& body);
  std::unique_ptr<http_client::Client> make_client() const;

  const HostSettings settings_;
  const std::function<Result<Secret>()> read_token_;
  const Log log_;
  const std::shared_ptr<hawk::ServerClock> host_clock_ = std::make_shared<hawk::ServerClock>();
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  Secret token_;
  std::vector<std::unique_ptr<http_client::Client>> idle_;  // each keeps its connection
};

}  // namespace muster::relay
