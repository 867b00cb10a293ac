// A request and its answer, as values. Nothing here knows how they travel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

struct Header {
  std::string name, value;
};

// The first header of that name, whatever the case of its letters.
std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                            std::string_view name);

struct Request {
  std::string method;  // "GET"
  std::string path;    // "/api/muster/v1/status", as it was sent: still percent-encoded
  std::string query;   // what stood behind the first '?'
  bool has_query = false;   // there was a '?', perhaps with nothing behind it
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;
  std::string id;    // of this request, unique in the life of this host
  std::string peer;  // "127.0.0.1:54321"
  bool secure = false;      // it came by TLS
  std::vector<std::pair<std::string, std::string>> path_parameters;  // set by the router, decoded

  std::optional<std::string_view> header(std::string_view name) const {
    return find_header(headers, name);
  }
  // "/api/muster/v1/status?a=b", as it was sent.
  std::string target() const { return has_query ? path + "?" + query : path; }
  // Of the route's own pattern; an unknown name is a bug of the handler and throws.
  const std::string& path_parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::vector<Header> headers;  // without those that the connection adds: Date, Content-Length, ...
  std::string body;
};

// "Not Found"
std::string_view reason_phrase(int status);

// "%2F" → "/". Empty if an escape is broken or stands for a NUL.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace muster::http
