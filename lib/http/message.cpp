#include "lib/http/message.hpp"

#include <array>
#include <charconv>
#include <stdexcept>
#include <strings.h>

namespace muster::http {

std::optional<std::string_view> find_header(const std::vector<Header>& headers,
                                            std::string_view name) {
  for (const Header& header : headers)
    if (header.name.size() == name.size() &&
        ::strncasecmp(header.name.data(), name.data(), name.size()) == 0)
      return header.value;
  return std::nullopt;
}

Request Request::head() const {
  Request head;
  head.method = method;
  head.path = path;
  head.query = query;
  head.has_query = has_query;
  head.headers = headers;
  head.id = id;
  head.peer = peer;
  head.client = client;
  head.forwarded = forwarded;
  head.host_header = host_header;
  head.secure = secure;
  head.path_parameters = path_parameters;
  return head;
}

const std::string& Request::path_parameter(std::string_view name) const {
  for (const auto& [known, value] : path_parameters)
    if (known == name) return value;
  throw std::logic_error("the route has no path parameter {" + std::string(name) + "}");
}

std::string_view reason_phrase(int status) {
  static constexpr std::array<std::pair<int, std::string_view>, 23> phrases{{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {424, "Failed Dependency"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  for (const auto& [known, phrase] : phrases)
    if (known == status) return phrase;
  return "Unknown";
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
    if (error != std::errc() || end != digits + 2 || byte == 0) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

}  // namespace muster::http
