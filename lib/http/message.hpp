// A request and its answer, as values. Nothing here knows how they travel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/networks.hpp"

namespace muster::auth {
struct Caller;
}

namespace muster::http {

struct Header {
  std::string name, value;
};

// The first header of that name, whatever the case of its letters.
std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                            std::string_view name);

class BodyHold;
struct Response;

struct Request {
  std::string method;      // "GET"
  std::string path;        // "/api/muster/v1/status", as it was sent: still percent-encoded
  std::string query;       // what stood behind the first '?'
  bool has_query = false;  // there was a '?', perhaps with nothing behind it
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;
  bool http_1_0 = false;
  std::string id;        // of this request, unique in the life of this host
  std::string trace_id;  // of the caller's work that this request is a part of; new if it sent none
  std::string peer;      // of the connection: "127.0.0.1:54321"
  // Who sent it, also through proxies that are trusted; see client_address.hpp. Set by the
  // connection.
  std::optional<Address> client = {};
  bool forwarded = false;   // the connection comes from a trusted proxy
  std::string host_header;  // "fleet.example:8600" as it was sent; empty if it was not
  bool secure = false;      // it came by TLS
  std::vector<std::pair<std::string, std::string>> path_parameters;  // set by the router, decoded
  std::string_view route;  // the pattern that fits, which lives as long as the router; empty: none
  // Who asks, set by the guard: nobody yet, or on a route that is open.
  std::shared_ptr<const auth::Caller> caller = {};
  std::string client_id = {};
  // Set with the caller if what it signed says something of the body: asked when the body is there,
  // before anything reads it. Nothing: the body is what was signed.
  std::function<std::optional<Response>(const Request&)> verify_body = {};
  // What the body takes of the server's memory for bodies; see body_budget.hpp.
  std::shared_ptr<BodyHold> body_hold = {};

  // Nothing if neither the connection nor its proxy has an address that can be read.
  std::optional<Address> client_address() const { return client ? client : address_of_peer(peer); }
  std::optional<std::string_view> header(std::string_view name) const {
    return find_header(headers, name);
  }
  // What came before the body, for those who keep it or check it before the body is there.
  Request head() const;
  // "/api/muster/v1/status?a=b", as it was sent.
  std::string target() const { return has_query ? path + "?" + query : path; }
  // Of the route's own pattern; an unknown name is a bug of the handler and throws.
  const std::string& path_parameter(std::string_view name) const;
};

// An answer whose end is not known when it begins. The connection pulls from it: at once when the
// peer has taken a large piece, otherwise every few milliseconds. THREADS: pull() on the
// connection's lane only, so it must not wait for anything.
class Stream {
 public:
  virtual ~Stream() = default;  // when the peer has gone, the end was reached or the host stops
  enum class More { yes, end };
  // Appends what there is to say now to `out`, about 64 KiB at most; nothing if there is nothing.
  virtual More pull(std::string& out) = 0;
};

struct Response {
  int status = 200;
  std::vector<Header> headers;  // without those that the connection adds: Date, Content-Length, ...
  std::string body;
  // Chunked transfer, of which `body` is the beginning. The connection is closed behind it.
  std::shared_ptr<Stream> stream = {};
  std::string client_id = {};  // who asked, for the access log
};

// "Not Found"
std::string_view reason_phrase(int status);

// "%2F" → "/". Empty if an escape is broken or stands for a NUL.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace muster::http
