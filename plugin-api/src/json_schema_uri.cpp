#include "json_schema_uri.hpp"

#include <algorithm>
#include <charconv>

#include "json_schema_format.hpp"

namespace muster::json::schema_detail {
namespace {

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_scheme(std::string_view text) {
  return !text.empty() && is_alpha(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

// Everything before the first of `delimiters`; `rest` goes on with the delimiter.
std::string_view take_until(std::string_view& rest, std::string_view delimiters) {
  const auto part = rest.substr(0, rest.find_first_of(delimiters));
  rest.remove_prefix(part.size());
  return part;
}

std::string without_dot_segments(std::string_view path) {
  std::string out;
  const bool absolute = path.starts_with('/');
  while (!path.empty()) {
    const auto slash = path.find('/', 1);
    const std::string_view segment = path.substr(0, slash);
    path.remove_prefix(segment.size());
    const std::string_view name = segment.substr(segment.starts_with('/') ? 1 : 0);
    if (name == "." || name == "..") {
      if (name == "..") out.erase(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
      if (path.empty()) out += '/';
    } else {
      out += segment;
    }
  }
  return absolute && !out.starts_with('/') ? "/" + out : out;
}

std::string merged_path(const Uri& base, const std::string& path) {
  if (base.authority && base.path.empty()) return "/" + path;
  const auto slash = base.path.rfind('/');
  return (slash == std::string::npos ? "" : base.path.substr(0, slash + 1)) + path;
}

bool allowed(std::string_view text, std::string_view extra, bool unicode) {
  constexpr std::string_view marks = "-._~!$&'()*+,;=";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (!unicode) return false;
    } else if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if (!is_alpha(c) && !is_digit(c) && marks.find(c) == std::string_view::npos &&
               extra.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_authority(std::string_view text, bool unicode) {
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    if (!allowed(text.substr(0, at), ":", unicode)) return false;
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return false;
    const auto literal = text.substr(1, end - 1);
    if (!is_ipv6(literal) && !literal.starts_with('v')) return false;
    port = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    if (!allowed(text.substr(0, colon), "", unicode)) return false;
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  return port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(), is_digit));
}

}  // namespace

Uri split_uri(std::string_view text) {
  Uri uri;
  std::string_view rest = text;
  if (const auto colon = rest.find_first_of(":/?#");
      colon != std::string_view::npos && rest[colon] == ':' && is_scheme(rest.substr(0, colon))) {
    uri.scheme = std::string(rest.substr(0, colon));
    rest.remove_prefix(colon + 1);
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    uri.authority = std::string(take_until(rest, "/?#"));
  }
  uri.path = std::string(take_until(rest, "?#"));
  if (rest.starts_with('?')) {
    rest.remove_prefix(1);
    uri.query = std::string(take_until(rest, "#"));
  }
  if (rest.starts_with('#')) uri.fragment = std::string(rest.substr(1));
  return uri;
}

std::string join_uri(const Uri& uri) {
  std::string out;
  if (uri.scheme) out += *uri.scheme + ":";
  if (uri.authority) out += "//" + *uri.authority;
  out += uri.path;
  if (uri.query) out += "?" + *uri.query;
  if (uri.fragment) out += "#" + *uri.fragment;
  return out;
}

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  Uri target = split_uri(reference);
  if (target.scheme) return join_uri(target);
  const Uri base = split_uri(base_text);
  target.scheme = base.scheme;
  if (target.authority) return join_uri(target);
  target.authority = base.authority;
  if (target.path.empty()) {
    target.path = base.path;
    if (!target.query) target.query = base.query;
  } else if (!target.path.starts_with('/')) {
    target.path = without_dot_segments(merged_path(base, target.path));
  } else {
    target.path = without_dot_segments(target.path);
  }
  return join_uri(target);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool is_uri(std::string_view text, UriKind kind) {
  const bool unicode = kind == UriKind::iri || kind == UriKind::iri_reference;
  const bool relative_too = kind == UriKind::uri_reference || kind == UriKind::iri_reference;
  const Uri uri = split_uri(text);
  if (!uri.scheme && !relative_too) return false;
  if (uri.authority && !is_authority(*uri.authority, unicode)) return false;
  if (!uri.scheme && !uri.authority &&
      uri.path.substr(0, uri.path.find('/')).find(':') != std::string::npos)
    return false;
  return allowed(uri.path, "/:@", unicode) && allowed(uri.query.value_or(""), "/?:@", unicode) &&
         allowed(uri.fragment.value_or(""), "/?:@", unicode);
}

bool is_uri_template(std::string_view text) {
  bool inside = false;
  std::size_t length = 0;
  for (const char c : text) {
    if (c == '{') {
      if (inside) return false;
      inside = true;
      length = 0;
    } else if (c == '}') {
      if (!inside || length == 0) return false;
      inside = false;
    } else if (static_cast<unsigned char>(c) <= ' ' ||
               std::string_view("\"'<>\\^`|").find(c) != std::string_view::npos) {
      return false;
    } else {
      ++length;
    }
  }
  return !inside;
}

}  // namespace muster::json::schema_detail
