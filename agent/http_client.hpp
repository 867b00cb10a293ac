// A small HTTP/1.1 client in the agent's event loop: one request for each connection, TLS with
// verified certificates for https, no redirects, no cookies, no proxies. Why the agent has a client
// of its own: docs/decisions/0015-http-in-the-agent.md
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

#include "agent/event_loop.hpp"
#include "lib/url/url.hpp"

namespace muster::agent {

// Fails with a sentence that names the URL, unless it holds a password.
Result<Url> parse_server_url(std::string_view text);

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<std::string> body = std::nullopt;
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // for all of it
  std::size_t max_bytes = 1024 * 1024;                           // of the answer's body
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of several the first
  std::string body;

  const std::string* header(const std::string& lower_case_name) const;
};

// THREADS: the loop's. A name is looked up by a thread of its own that ends with the lookup.
class HttpClient {
 public:
  // `ca_file`: trusted instead of the system's certificates; empty: the system's.
  HttpClient(EventLoop& loop, std::string ca_file);
  ~HttpClient();  // no `done` is called any more

  using Done = std::function<void(Result<HttpAnswer>)>;
  // `done` is called once, never before send() returns: with whatever the server answered, or a
  // `transient` error if it did not (not reachable, not trusted, too slow, too much, no HTTP).
  // Returns a number for cancel().
  std::uint64_t send(HttpRequest request, Done done);
  // Its `done` is not called any more. IDEMPOTENT.
  void cancel(std::uint64_t request);
  void cancel_all();

 private:
  friend class Exchange;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent
