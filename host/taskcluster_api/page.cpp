#include "host/taskcluster_api/page.hpp"

#include <algorithm>
#include <charconv>

namespace muster::taskcluster_api {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view mark = "m1";  // of this form of tokens
constexpr std::size_t longest_token = 512;

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto high = digits.find(hex[i]), low = digits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

Failure bad_token() {
  return input_error("Invalid continuation token");
}

}  // namespace

std::size_t limit_of(const Call& call, std::size_t most) {
  const auto text = call.query().find("limit");
  if (!text) return most;
  const auto number = to_number(*text);  // one that is too large for a number is large
  return number ? static_cast<std::size_t>(
                      std::min<std::uint64_t>(static_cast<std::uint64_t>(*number), most))
                : most;
}

std::string make_token(char kind, std::string_view key) {
  std::string token(mark);
  const auto append = [&](char byte) {
    const auto bits = static_cast<unsigned char>(byte);
    token += digits[bits >> 4];
    token += digits[bits & 15];
  };
  append(kind);
  for (const char byte : key) append(byte);
  return token;
}

boost::system::result<std::optional<std::string>, Failure> key_of_token(const Call& call,
                                                                        char kind) {
  const auto token = call.query().find("continuationToken");
  if (!token) return std::optional<std::string>();
  if (token->size() > longest_token || !token->starts_with(mark)) return bad_token();
  const auto bytes = from_hex(token->substr(mark.size()));
  if (!bytes || bytes->size() < 2 || bytes->front() != kind) return bad_token();
  return std::optional(bytes->substr(1));
}

boost::system::result<std::optional<std::int64_t>, Failure> number_of_token(const Call& call,
                                                                            char kind) {
  const auto key = key_of_token(call, kind);
  if (!key) return key.error();
  if (!*key) return std::optional<std::int64_t>();
  const auto number = to_number(**key);
  if (!number) return bad_token();
  return number;
}

}  // namespace muster::taskcluster_api
