#include "json_schema_format.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <string>

#include "json_schema_pattern.hpp"
#include "json_schema_uri.hpp"
#include "json_schema_value.hpp"

namespace muster::json::schema_detail {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Takes exactly `digits` digits off the front of `text`; -1 if they are not there.
int take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits || !std::all_of(text.begin(), text.begin() + digits, is_digit))
    return -1;
  int number = 0;
  for (const char c : text.substr(0, digits)) number = number * 10 + (c - '0');
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool take_date(std::string_view& text) {
  const int year = take_number(text, 4);
  const bool first = take(text, "-");
  const int month = take_number(text, 2);
  const bool second = take(text, "-");
  const int day = take_number(text, 2);
  if (year < 0 || !first || !second || month < 1 || month > 12 || day < 1) return false;
  constexpr std::array days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= days[static_cast<std::size_t>(month - 1)] + (leap && month == 2 ? 1 : 0);
}

bool take_time(std::string_view& text) {
  const int hour = take_number(text, 2);
  const bool first = take(text, ":");
  const int minute = take_number(text, 2);
  const bool second_colon = take(text, ":");
  const int second = take_number(text, 2);
  if (!first || !second_colon || hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  if (second < 0 || second > 60) return false;
  if (take(text, ".")) {
    if (take_number(text, 1) < 0) return false;
    while (take_number(text, 1) >= 0) continue;
  }
  int offset = 0;
  if (!take(text, "zZ")) {
    const bool west = text.starts_with('-');
    if (!take(text, "+-")) return false;
    const int hours = take_number(text, 2);
    const bool colon = take(text, ":");
    const int minutes = take_number(text, 2);
    if (!colon || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    offset = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  // A leap second is the last one of a day in UTC.
  constexpr int day = 24 * 60;
  return second < 60 || (hour * 60 + minute - offset + day) % day == day - 1;
}

bool is_date(std::string_view text) {
  return take_date(text) && text.empty();
}
bool is_time(std::string_view text) {
  return take_time(text) && text.empty();
}
bool is_date_time(std::string_view text) {
  return take_date(text) && take(text, "tT") && take_time(text) && text.empty();
}

// Some of `units`, in their order, each with a number before it.
bool take_duration_parts(std::string_view& text, std::string_view units) {
  bool any = false;
  while (!text.empty() && is_digit(text[0])) {
    while (!text.empty() && is_digit(text[0])) text.remove_prefix(1);
    const auto at = text.empty() ? std::string_view::npos : units.find(text[0]);
    if (at == std::string_view::npos) return false;
    units.remove_prefix(at + 1);
    text.remove_prefix(1);
    any = true;
  }
  return any;
}

bool is_duration(std::string_view text) {
  if (!take(text, "P") || text.empty()) return false;
  if (auto weeks = text; take_duration_parts(weeks, "W") && weeks.empty()) return true;
  if (!text.starts_with('T') && !take_duration_parts(text, "YMD")) return false;
  if (text.empty()) return true;
  return take(text, "T") && take_duration_parts(text, "HMS") && text.empty();
}

bool is_ipv4(std::string_view text) {
  in_addr address;
  return inet_pton(AF_INET, std::string(text).c_str(), &address) == 1 &&
         text.find('\0') == std::string_view::npos;
}

bool is_label(std::string_view label, bool unicode) {
  if (label.empty() || label.front() == '-' || label.back() == '-') return false;
  if ((unicode ? code_points(label) : label.size()) > 63) return false;
  return std::all_of(label.begin(), label.end(), [&](char c) {
    return is_alnum(c) || c == '-' || (unicode && static_cast<unsigned char>(c) >= 0x80);
  });
}

bool is_host(std::string_view text, bool unicode) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!is_label(text.substr(0, dot), unicode)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_quoted_local_part(std::string_view text, bool unicode) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < ' ' || byte == 0x7F || byte == '"' || (byte >= 0x80 && !unicode)) return false;
    if (byte == '\\' && ++i == text.size()) return false;
  }
  return true;
}

bool is_local_part(std::string_view text, bool unicode) {
  if (text.starts_with('"')) return is_quoted_local_part(text, unicode);
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  if (text.find("..") != std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alnum(c) || std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) != std::string::npos ||
           (unicode && static_cast<unsigned char>(c) >= 0x80);
  });
}

bool is_mail(std::string_view text, bool unicode) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos || !is_local_part(text.substr(0, at), unicode)) return false;
  const auto domain = text.substr(at + 1);
  if (!domain.starts_with('[')) return is_host(domain, unicode);
  if (!domain.ends_with(']')) return false;
  const auto address = domain.substr(1, domain.size() - 2);
  return address.starts_with("IPv6:") ? is_ipv6(address.substr(5)) : is_ipv4(address);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')))
      return false;
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || (text[0] == '0' && digits > 1)) return false;
  text.remove_prefix(digits);
  return text == "#" || is_json_pointer(text);
}

constexpr std::array formats{
    Format{"date-time", "a date and time such as 2024-02-29T12:00:00Z", is_date_time},
    Format{"date", "a date such as 2024-02-29", is_date},
    Format{"time", "a time with its offset such as 12:00:00Z", is_time},
    Format{"duration", "a duration such as P1DT12H", is_duration},
    Format{"email", "a mail address", [](std::string_view text) { return is_mail(text, false); }},
    Format{"idn-email", "a mail address",
           [](std::string_view text) { return is_mail(text, true); }},
    Format{"hostname", "a host name", [](std::string_view text) { return is_host(text, false); }},
    Format{"idn-hostname", "a host name",
           [](std::string_view text) { return is_host(text, true); }},
    Format{"ipv4", "an IPv4 address", is_ipv4},
    Format{"ipv6", "an IPv6 address", is_ipv6},
    Format{"uri", "an absolute URI such as https://example.com/a",
           [](std::string_view text) { return is_uri(text, UriKind::uri); }},
    Format{"uri-reference", "a URI or a relative reference",
           [](std::string_view text) { return is_uri(text, UriKind::uri_reference); }},
    Format{"iri", "an absolute IRI",
           [](std::string_view text) { return is_uri(text, UriKind::iri); }},
    Format{"iri-reference", "an IRI or a relative reference",
           [](std::string_view text) { return is_uri(text, UriKind::iri_reference); }},
    Format{"uri-template", "a URI template", is_uri_template},
    Format{"uuid", "a UUID", is_uuid},
    Format{"json-pointer", "a JSON pointer", is_json_pointer},
    Format{"relative-json-pointer", "a relative JSON pointer", is_relative_json_pointer},
    Format{"regex", "a regular expression", is_regex},
};

}  // namespace

const Format* find_format(std::string_view name) {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& format) { return format.name == name; });
  return found == formats.end() ? nullptr : &*found;
}

bool is_ipv6(std::string_view text) {
  in6_addr address;
  return inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1 &&
         text.find('\0') == std::string_view::npos;
}

}  // namespace muster::json::schema_detail
