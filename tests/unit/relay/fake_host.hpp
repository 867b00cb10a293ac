// A host for one test: checks the signature of what it is sent and answers what the test wants.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>

#include "lib/hawk/hawk.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"
#include "relay/host_link.hpp"

namespace muster::relay {

class FakeHost {
 public:
  explicit FakeHost(std::optional<http::TlsFiles> tls = {}) {
    router_.add("POST", std::string(registrations_path),
                http::now([this](const auto& request) { return answer(request); }));
    router_.add("GET", "/healthz", http::now([](const auto&) {
                  return http::Response{200, {}, "ok"};
                }));
    http::ServerSettings settings;
    settings.tls = std::move(tls);
    settings.access_log = false;
    auto made = http::Server::listen(settings, router_, clock_, Log());
    if (!made) throw std::runtime_error(made.error().message);
    server_ = std::move(*made);
    server_->start();
  }

  std::string url(const char* scheme = "http") const {
    return std::string(scheme) + "://127.0.0.1:" + std::to_string(server_->port());
  }

  // Before any request.
  std::string client_id = "relay/dc1", token = "the-relays-own-token";
  std::int64_t seconds_ahead = 0;
  http::Response good{200, {}, R"({"credentials":{"accessToken":"worker-secret"}})"};

  std::vector<json::object> bodies() const {
    const std::lock_guard guard(mutex_);
    return bodies_;
  }
  std::size_t connections() const {
    const std::lock_guard guard(mutex_);
    return peers_.size();
  }

 private:
  http::Response refuse(const http::Request& request, const std::string& why, bool with_time) {
    http::Response response = http::error_answer(request, 401, "AuthenticationFailed", why);
    const auto now = seconds();
    if (with_time)
      response.headers.push_back({"WWW-Authenticate", hawk::time_challenge(now, Secret(token))});
    return response;
  }
  std::int64_t seconds() const {
    return seconds_ahead +
           std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch())
               .count();
  }

  http::Response answer(const http::Request& request) {
    const auto header = hawk::parse_header(request.header("Authorization").value_or(""));
    if (!header) return refuse(request, header.error().message, false);
    const hawk::Request described{request.method, request.target(), "127.0.0.1", server_->port()};
    if (header->id != client_id ||
        !hawk::same_mac(header->mac, hawk::mac_of(Secret(token),
                                                  hawk::normalized("header", *header, described))))
      return refuse(request, "a wrong signature", false);
    if (std::abs(std::stoll(header->ts) - seconds()) > hawk::max_skew_seconds)
      return refuse(request, "a wrong clock", true);
    if (header->hash != hawk::payload_hash("application/json", request.body))
      return refuse(request, "another body than was signed", false);
    const std::lock_guard guard(mutex_);
    bodies_.push_back(json::parse_object(request.body).value());
    peers_.insert(request.peer);
    return good;
  }

  SystemClock clock_;
  http::Router router_{Log()};
  mutable std::mutex mutex_;
  std::vector<json::object> bodies_;
  std::set<std::string> peers_;  // one for each connection
  std::unique_ptr<http::Server> server_;
};

}  // namespace muster::relay
