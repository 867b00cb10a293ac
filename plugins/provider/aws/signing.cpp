#include "plugins/provider/aws/signing.hpp"

#include <algorithm>
#include <map>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/hmac.hpp"
#include "lib/url/url.hpp"

namespace muster::aws {
namespace {

constexpr const char* algorithm = "AWS4-HMAC-SHA256";

// "20150830T123600Z"
std::string basic_time(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  char text[40];
  std::snprintf(text, sizeof text, "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// "%20" → " "; what is no escape stays.
std::string decode(std::string_view text) {
  const auto digit = [](char c) -> int {
    const char small = to_lower(c);
    if (small >= '0' && small <= '9') return small - '0';
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

// Of the path as it is sent each segment is encoded once more, as AWS wants it.
std::string canonical_path(std::string_view path, bool normalize) {
  std::vector<std::string> segments = split(path, '/');
  const bool ends_with_slash =
      path.size() > 1 && (path.ends_with('/') || path.ends_with("/.") || path.ends_with("/.."));
  if (normalize) {
    std::vector<std::string> kept;
    for (std::string& segment : segments) {
      if (segment == ".." && !kept.empty()) kept.pop_back();
      if (segment.empty() || segment == "." || segment == "..") continue;
      kept.push_back(std::move(segment));
    }
    segments = std::move(kept);
  } else {
    segments.erase(segments.begin());  // what is before the first slash
  }
  std::string canonical;
  for (const std::string& segment : segments) canonical += "/" + encode_segment(segment);
  if (normalize && ends_with_slash) canonical += "/";
  return canonical.empty() ? "/" : canonical;
}

std::string canonical_query(std::string_view query) {
  if (query.empty()) return {};
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& part : split(query, '&')) {
    const auto equals = part.find('=');
    pairs.emplace_back(encode_segment(decode(part.substr(0, equals))),
                       equals == part.npos ? "" : encode_segment(decode(part.substr(equals + 1))));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string canonical;
  for (const auto& [name, value] : pairs)
    canonical += (canonical.empty() ? "" : "&") + name + "=" + value;
  return canonical;
}

// Without white space at both ends; that in the middle becomes one space.
std::string canonical_value(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (is_space && (text.empty() || text.back() == ' ')) continue;
    text += is_space ? ' ' : c;
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

struct SignedHeaders {
  std::string lines, names;
};

SignedHeaders canonical_headers(const std::vector<http_client::Header>& headers) {
  std::map<std::string, std::string> sorted;
  for (const http_client::Header& header : headers) {
    const auto [at, is_first] = sorted.try_emplace(to_lower(header.name));
    at->second += (is_first ? "" : ",") + canonical_value(header.value);
  }
  SignedHeaders result;
  for (const auto& [name, value] : sorted) {
    result.lines += name + ":" + value + "\n";
    result.names += (result.names.empty() ? "" : ";") + name;
  }
  return result;
}

bool has_header(const std::vector<http_client::Header>& headers, const std::string& name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return to_lower(header.name) == name; });
}

std::string bytes_of(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

Signature sign(const RequestToSign& request, const Credentials& credentials,
               const SigningScope& scope, Time server_time) {
  const std::string time = basic_time(server_time), day = time.substr(0, 8);
  const std::string body_hash = sha256_hex(request.body);
  Signature result{.headers = request.headers};
  const auto add = [&](const char* name, const std::string& value) {
    if (!has_header(result.headers, to_lower(name))) result.headers.push_back({name, value});
  };
  add("X-Amz-Date", time);
  if (!credentials.session_token.reveal().empty())
    add("X-Amz-Security-Token", credentials.session_token.reveal());
  if (scope.add_body_hash) add("X-Amz-Content-Sha256", body_hash);

  const SignedHeaders headers = canonical_headers(result.headers);
  result.canonical_request = request.method + "\n" +
                             canonical_path(request.path, scope.normalize_path) + "\n" +
                             canonical_query(request.query) + "\n" + headers.lines + "\n" +
                             headers.names + "\n" + body_hash;
  const std::string within = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  result.string_to_sign = std::string(algorithm) + "\n" + time + "\n" + within + "\n" +
                          sha256_hex(result.canonical_request);
  std::string key = "AWS4" + credentials.secret_access_key.reveal();
  for (const std::string& part : {day, scope.region, scope.service, std::string("aws4_request")})
    key = bytes_of(hmac_sha256(key, part));
  result.signature = to_hex(hmac_sha256(key, result.string_to_sign));
  result.headers.push_back({"Authorization", std::string(algorithm) +
                                                 " Credential=" + credentials.access_key_id + "/" +
                                                 within + ", SignedHeaders=" + headers.names +
                                                 ", Signature=" + result.signature});
  return result;
}

}  // namespace muster::aws
