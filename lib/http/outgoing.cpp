#include "lib/http/outgoing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "lib/http/gzip.hpp"

namespace muster::http {
namespace {

constexpr std::size_t worth_compressing = 1024;

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Cuts the next piece off a list.
std::string_view next_of(std::string_view& list, char separator) {
  const auto end = std::min(list.find(separator), list.size());
  const std::string_view piece = without_blanks(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return piece;
}

// Whether a weight such as "q=0.5" is more than nothing. What is no weight means "yes".
bool is_wanted(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = next_of(parameters, ';');
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) continue;
    parameter.remove_prefix(2);
    return parameter.find_first_of("123456789") != std::string_view::npos;
  }
  return true;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

bool is_compressible(const Response& response) {
  const std::string_view type = find_header(response.headers, "Content-Type").value_or("");
  return type.starts_with("application/json") || type.starts_with("text/") ||
         type.starts_with("application/javascript") || type.starts_with("image/svg+xml") ||
         type.find("+json") != std::string_view::npos;
}

// As weak: the same document may be sent compressed or not.
std::string tag_of(std::string_view body) {
  char text[48];
  const auto hash = static_cast<std::uint64_t>(std::hash<std::string_view>()(body));
  char* at = std::copy_n("W/\"", 3, text);
  at = std::to_chars(at, text + 24, body.size(), 16).ptr;
  *at++ = '-';
  at = std::to_chars(at, text + 47, hash, 16).ptr;
  *at++ = '"';
  return {text, at};
}

bool has_tag(std::string_view list, std::string_view tag) {
  const std::string_view opaque = tag.substr(tag.starts_with("W/") ? 2 : 0);
  while (!list.empty()) {
    std::string_view known = next_of(list, ',');
    if (known == "*") return true;
    if (known.starts_with("W/")) known.remove_prefix(2);
    if (known == opaque) return true;
  }
  return false;
}

void tag(Response& response, const Wishes& wishes) {
  auto known = find_header(response.headers, "ETag");
  std::string made;
  if (!known) {
    made = tag_of(response.body);
    response.headers.push_back({"ETag", made});
  }
  if (wishes.if_none_match.empty()) return;
  if (!has_tag(wishes.if_none_match, known ? std::string(*known) : made)) return;
  response.status = 304;
  response.body.clear();
}

bool is_safe(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

void append_number(std::string& out, std::size_t number) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

constexpr std::string_view for_any_origin =
    "\r\nAccess-Control-Allow-Origin: *"
    "\r\nAccess-Control-Max-Age: 900"
    "\r\nAccess-Control-Allow-Methods: OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"
    "\r\nAccess-Control-Allow-Headers: X-Requested-With,Content-Type,Authorization,Accept,Origin,"
    "Cache-Control,If-None-Match,Last-Event-ID,X-Taskcluster-Trace-Id"
    "\r\nAccess-Control-Expose-Headers: x-for-request-id,x-for-trace-id,ETag,Retry-After";

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  bool others = false;
  while (!accept_encoding.empty()) {
    std::string_view choice = next_of(accept_encoding, ',');
    const std::string_view coding = next_of(choice, ';');
    if (same_word(coding, "gzip") || same_word(coding, "x-gzip")) return is_wanted(choice);
    if (coding == "*") others = is_wanted(choice);
  }
  return others;
}

Wishes wishes_of(const Request& request) {
  Wishes wishes;
  const std::string_view path = request.path;
  wishes.api = path.starts_with("/api/") || path.starts_with("/references/") ||
               path.starts_with("/schemas/");
  wishes.read = request.method == "GET" || request.method == "HEAD";
  if (const auto encoding = request.header("Accept-Encoding"))
    wishes.gzip = accepts_gzip(*encoding);
  if (!wishes.read) return wishes;
  if (const auto tags = request.header("If-None-Match")) wishes.if_none_match = *tags;
  return wishes;
}

void shape(Response& response, const Wishes& wishes) {
  if (response.stream) return;
  if (wishes.api && wishes.read && response.status == 200) tag(response, wishes);
  if (response.body.size() < worth_compressing || !is_compressible(response) ||
      find_header(response.headers, "Content-Encoding"))
    return;
  response.headers.push_back({"Vary", "Accept-Encoding"});
  if (!wishes.gzip) return;
  std::string compressed = gzip(response.body);
  if (compressed.empty() || compressed.size() >= response.body.size()) return;
  response.body = std::move(compressed);
  response.headers.push_back({"Content-Encoding", "gzip"});
}

void write_head(std::string& head, const Response& response, const HeadFacts& facts) {
  head = "HTTP/1.1 ";
  append_number(head, static_cast<std::size_t>(response.status));
  head.append(" ").append(reason_phrase(response.status));
  head.append("\r\nDate: ").append(facts.date);
  head.append("\r\nx-for-request-id: ").append(facts.request_id);
  head.append("\r\nx-for-trace-id: ").append(facts.trace_id);
  head += "\r\nX-Content-Type-Options: nosniff";
  for (const Header& header : response.headers)
    if (is_safe(header.value) && is_safe(header.name))
      head.append("\r\n").append(header.name).append(": ").append(header.value);
  if (facts.api) {
    head += for_any_origin;
    if (!find_header(response.headers, "Cache-Control"))
      head += "\r\nCache-Control: no-store, no-cache, must-revalidate";
    if (!find_header(response.headers, "Content-Security-Policy"))
      head += "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'";
  }
  if (facts.body == HeadFacts::Body::chunked) head += "\r\nTransfer-Encoding: chunked";
  if (facts.body == HeadFacts::Body::sized) {
    head += "\r\nContent-Length: ";
    append_number(head, facts.length);
  }
  head += facts.keep_alive ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
}

}  // namespace muster::http
