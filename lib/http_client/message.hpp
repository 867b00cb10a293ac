// What an HTTP client sends and what it gets back.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/system/result.hpp>

#include "lib/hawk/hawk.hpp"
#include "lib/http_client/failure.hpp"

namespace muster::http_client {

struct Header {
  std::string name, value;
  friend bool operator==(const Header&, const Header&) = default;
};

struct BearerToken {
  Secret token;
};

// Signs the request, with a hash of its body if it has one.
struct HawkSignature {
  hawk::Credentials credentials;
  // Servers that do not sign their time (Taskcluster's) say it only in the Date header of a
  // refusal. Believe that, too.
  bool trust_date = false;
};

using Authorization = std::variant<std::monostate, BearerToken, HawkSignature>;

// Attempts within the request's timeout, for requests that a server may meet twice.
struct Retry {
  int attempts = 1;  // 1: the first one only
  std::chrono::milliseconds first_delay{200}, longest_delay{5000};
};

struct Request {
  std::string url;  // sent as it is written: no path is normalized, no escape is changed
  std::string method = "GET";
  std::vector<Header> headers = {};
  std::optional<std::string> body = {};
  Authorization authorization = {};
  std::optional<std::chrono::milliseconds> timeout = {};  // instead of the client's
  Retry retry = {};                                       // only by send(), not by send_all()
  bool discard_body = false;                              // of the answer: only its status matters
  // False: goes over a connection of its own, because one that was kept may turn out dead after the
  // request was sent, and then it is sent again.
  bool kept_connection = true;

  // A stream: gets the parts of a good answer's body as they come, instead of Response::body. There
  // is no limit on its size or on the whole time. The request ends after `silence` (at least a
  // second) in which nothing came. What it throws comes out of the call.
  std::function<void(std::string_view)> on_body = {};
  std::chrono::seconds silence{60};
};

struct Response {
  int status = 0;  // any: also 401 and 500 are answers
  std::vector<Header> headers = {};
  std::string body = {};
  std::optional<std::chrono::seconds> retry_after = {};  // at most an hour

  bool is_success() const { return status >= 200 && status < 300; }
  // The first of that name, whatever its case; empty if there is none.
  std::string_view header(std::string_view name) const;
};

using Answer = boost::system::result<Response, Failure>;

// What is wrong with a header that would be sent: line ends that would begin another header, a name
// that is none. Empty if nothing is.
std::string mistake_in_header(const Header& header);

}  // namespace muster::http_client
