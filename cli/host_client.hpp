// The client of a running musterd's API.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "cli/host_address.hpp"
#include "lib/url/url.hpp"

namespace muster::cli {

// Where all of the host's own API is.
inline const std::string api_path = "/api/muster/v1/";

// One connection, kept open between calls. Every call has a deadline and is tried
// once; only when a signed request meets a host whose clock differs it is signed anew with the
// host's time. THREADS: one at a time.
class HostClient {
 public:
  static constexpr std::chrono::seconds usual_deadline{60};

  explicit HostClient(HostAddress address, std::chrono::seconds deadline = usual_deadline);
  ~HostClient();
  HostClient(HostClient&&) noexcept;

  // The answer's JSON. An error answer of the host becomes an Error with its message and what to do
  // about it; its `code` is the host's, and `error_class` is `notFound` for a 404, `auth` for 401
  // and 403, `invalid` for other 4xx. A host that cannot be reached is `transient`.
  Result<json::value> get(const std::string& path);
  Result<json::value> post(const std::string& path, const json::object& body = {});
  Result<json::value> put(const std::string& path, const json::object& body);
  Result<json::value> remove(const std::string& path);

  // Bodies that are no JSON: the bytes of an answer, and a body with its type. `if_match` is a
  // condition of the change, empty: none.
  Result<std::string> get_bytes(const std::string& path);
  Result<json::value> put_bytes(const std::string& path, std::string body, std::string content_type,
                                const std::string& if_match = {});

  // Server-sent events: hands over their bytes as they come, until the host ends the stream, until
  // nothing came for a minute, or until `stop` (a file descriptor, -1: none) becomes readable,
  // which is no error. Fails like get() if there is no stream at all.
  Result<void> stream(const std::string& path, const std::string& last_event_id, int stop,
                      const std::function<void(std::string_view)>& take);

  const HostAddress& address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One segment of a path or a value of a query.
inline std::string path_segment(std::string_view text) {
  return encode_segment(text);
}

}  // namespace muster::cli
