#include "lib/hawk/hawk.hpp"

#include <cctype>
#include <charconv>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/hmac.hpp"

namespace muster::hawk {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// Line ends and backslashes in `ext` must not look like the next line.
std::string escaped(std::string_view ext) {
  std::string text;
  for (const char c : ext) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

std::string* member(Attributes& attributes, std::string_view name) {
  if (name == "id") return &attributes.id;
  if (name == "ts") return &attributes.ts;
  if (name == "nonce") return &attributes.nonce;
  if (name == "hash") return &attributes.hash;
  if (name == "ext") return &attributes.ext;
  if (name == "mac") return &attributes.mac;
  if (name == "app") return &attributes.app;
  if (name == "dlg") return &attributes.dlg;
  return nullptr;
}

// `name="value"` after `name="value"`, with commas between. `take` says what is wrong, or nothing.
template <class Take>
Result<void> each_attribute(std::string_view text, const Take& take) {
  const auto skip_spaces = [&] {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  };
  for (skip_spaces(); !text.empty(); skip_spaces()) {
    const auto equals = text.find("=\"");
    const auto end = equals == text.npos ? text.npos : text.find('"', equals + 2);
    if (end == text.npos) return Error::auth("Bad header format");
    const auto name = text.substr(0, equals), value = text.substr(equals + 2, end - equals - 2);
    for (const unsigned char c : value)
      if (c < ' ' || c > '~' || c == '\\')
        return Error::auth("Bad attribute value: " + std::string(name));
    if (std::string wrong = take(name, value); !wrong.empty()) return Error::auth(wrong);
    text.remove_prefix(end + 1);
    skip_spaces();
    if (text.empty()) break;
    if (text.front() != ',') return Error::auth("Bad header format");
    text.remove_prefix(1);
    skip_spaces();
    if (text.empty()) return Error::auth("Bad header format");
  }
  return {};
}

// What follows the scheme's name; nothing if it is another scheme.
std::optional<std::string_view> after_scheme(std::string_view header) {
  if (header.size() < 5 || to_lower(header.substr(0, 4)) != "hawk" ||
      (header[4] != ' ' && header[4] != '\t'))
    return std::nullopt;
  return header.substr(5);
}

}  // namespace

std::string normalized(std::string_view kind, const Attributes& attributes,
                       const Request& request) {
  std::string text = "hawk.1." + std::string(kind) + "\n";
  for (const std::string& line :
       {attributes.ts, attributes.nonce, upper(request.method), request.resource,
        to_lower(request.host), std::to_string(request.port), attributes.hash,
        escaped(attributes.ext)})
    text += line + "\n";
  if (!attributes.app.empty()) text += attributes.app + "\n" + attributes.dlg + "\n";
  return text;
}

std::string mac_of(const Secret& key, std::string_view text) {
  const Sha256 digest = hmac_sha256(key.reveal(), text);
  return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool same_mac(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string payload_hash(std::string_view content_type, std::string_view body) {
  std::string type = to_lower(content_type.substr(0, content_type.find(';')));
  const auto first = type.find_first_not_of(" \t"), last = type.find_last_not_of(" \t");
  type = first == type.npos ? "" : type.substr(first, last - first + 1);
  const Sha256 digest = sha256("hawk.1.payload\n" + type + "\n" + std::string(body) + "\n");
  return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string format_header(const Attributes& attributes) {
  std::string header = "Hawk id=\"" + attributes.id + "\", ts=\"" + attributes.ts + "\", nonce=\"" +
                       attributes.nonce + "\"";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) header += std::string(", ") + name + "=\"" + value + "\"";
  };
  add("hash", attributes.hash);
  add("ext", attributes.ext);
  add("mac", attributes.mac);
  add("app", attributes.app);
  add("dlg", attributes.dlg);
  return header;
}

Result<Attributes> parse_header(std::string_view header, std::size_t max_bytes) {
  if (header.size() > max_bytes) return Error::auth("Header length too long");
  const auto rest = after_scheme(header);
  if (!rest) return Error::auth(std::string(other_scheme));
  Attributes attributes;
  const auto read =
      each_attribute(*rest, [&](std::string_view name, std::string_view value) -> std::string {
        std::string* const into = member(attributes, name);
        if (!into) return "Unknown attribute: " + std::string(name.substr(0, 32));
        if (value.empty()) return "Bad attribute value: " + std::string(name);
        if (!into->empty()) return "Duplicate attribute: " + std::string(name);
        *into = value;
        return {};
      });
  if (!read) return read.error();
  if (attributes.id.empty() || attributes.ts.empty() || attributes.nonce.empty() ||
      attributes.mac.empty())
    return Error::auth("Missing attributes");
  return attributes;
}

std::string ext_of(const Credentials& credentials) {
  if (credentials.certificate.empty()) return {};
  return base64("{\"certificate\":" + credentials.certificate + "}");
}

std::string authorization(const Credentials& credentials, const Request& request,
                          std::int64_t seconds, const std::string& nonce, const std::string& hash) {
  Attributes attributes;
  attributes.id = credentials.client_id;
  attributes.ts = std::to_string(seconds);
  attributes.nonce = nonce;
  attributes.hash = hash;
  attributes.ext = ext_of(credentials);
  attributes.mac = mac_of(credentials.access_token, normalized("header", attributes, request));
  return format_header(attributes);
}

std::string authorization_for(const Credentials& credentials, const std::string& method,
                              const Url& url, Time server_time, const std::string& hash) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(server_time).time_since_epoch();
  return authorization(credentials, {method, url.target, url.host, url.port}, seconds.count(),
                       random_token().reveal().substr(0, 16), hash);
}

Result<std::int64_t> server_time(std::string_view www_authenticate, const Secret& key) {
  const auto rest = after_scheme(www_authenticate);
  std::string ts, tsm;
  const auto read =
      each_attribute(rest.value_or(""), [&](std::string_view name, std::string_view value) {
        if (name == "ts") ts = value;
        if (name == "tsm") tsm = value;
        return std::string();
      });
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(ts.data(), ts.data() + ts.size(), seconds);
  if (!read || ts.empty() || error != std::errc() || end != ts.data() + ts.size())
    return Error::auth("the server did not say its time");
  if (!same_mac(tsm, mac_of(key, "hawk.1.ts\n" + ts + "\n")))
    return Error::auth("the server's time has a wrong signature");
  return seconds;
}

std::string time_challenge(std::int64_t seconds, const Secret& key) {
  const std::string ts = std::to_string(seconds);
  return "Hawk ts=\"" + ts + "\", tsm=\"" + mac_of(key, "hawk.1.ts\n" + ts + "\n") +
         "\", error=\"Stale timestamp\"";
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  // OpenSSL writes a zero after the last character, for which std::string has room.
  ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
  return text;
}

Result<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > (std::size_t{1} << 24))
    return Error::invalid("this is not base64");
  std::string bytes(3 * (text.size() / 4), '\0');
  const int length = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
  if (length < 0) return Error::invalid("this is not base64");
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(bytes.size() - padding);
  if (base64(bytes) != text) return Error::invalid("this is not base64");
  return bytes;
}

Result<std::string> from_any_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string plain(text);
  for (char& c : plain) c = c == '-' ? '+' : c == '_' ? '/' : c;
  if (plain.size() % 4 == 1) return Error::invalid("this is not base64");
  plain.append((4 - plain.size() % 4) % 4, '=');
  return from_base64(plain);
}

}  // namespace muster::hawk
