#include "lib/mail/message.hpp"

#include <array>
#include <ctime>

#include <muster/utf8.hpp>

#include "lib/mail/address.hpp"

namespace muster::mail {
namespace {

constexpr std::size_t longest_subject = 200;  // bytes, before it is encoded
constexpr std::size_t encoded_line = 76;

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < have ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= have ? digits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

// One line of at most so many bytes, cut between characters.
std::string one_line(std::string_view text) {
  std::string line = valid_utf8(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  if (line.size() <= longest_subject) return line;
  std::size_t end = longest_subject;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

// RFC 2047: encoded words of 75 characters at most, none of which cuts a character.
std::string encoded_subject(const std::string& line) {
  if (is_plain(line) && line.size() <= encoded_line - 2 && line.find("=?") == std::string::npos)
    return line;
  constexpr std::size_t bytes_of_word = 42;
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = std::min(line.size(), at + bytes_of_word);
    while (end < line.size() && end > at &&
           (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U)
      --end;
    text +=
        (text.empty() ? "" : "\r\n ") + ("=?UTF-8?B?" + base64(line.substr(at, end - at))) + "?=";
    at = end;
  }
  return text;
}

std::string date(Time at) {
  constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "%s, %02d %s %04d %02d:%02d:%02d +0000",
                days[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                utc.tm_min, utc.tm_sec);
  return numbers.data();
}

std::string joined(const std::vector<std::string>& addresses) {
  std::string text;
  for (const std::string& address : addresses) text += (text.empty() ? "" : ",\r\n ") + address;
  return text;
}

}  // namespace

std::string to_text(const Message& message) {
  std::string text;
  const auto header = [&](const char* name, const std::string& value) {
    text += std::string(name) + ": " + value + "\r\n";
  };
  header("Date", date(message.at));
  header("From", message.from);
  header("To", joined(message.to));
  header("Message-ID", "<" + message.id + "@" + std::string(domain_of(message.from)) + ">");
  header("Subject", encoded_subject(one_line(message.subject)));
  header("MIME-Version", "1.0");
  header("Content-Type", "text/plain; charset=utf-8");
  header("Content-Transfer-Encoding", "base64");
  header("Auto-Submitted", "auto-generated");
  text += "\r\n";
  const std::string body = base64(valid_utf8(message.text));
  for (std::size_t at = 0; at < body.size(); at += encoded_line)
    text += body.substr(at, encoded_line) + "\r\n";
  return text;
}

}  // namespace muster::mail
