#include "host/api/query.hpp"

#include <algorithm>
#include <charconv>

#include "lib/base/log_line.hpp"
#include "lib/http/message.hpp"
#include "lib/http/query_text.hpp"

namespace muster::api {
namespace {

// '+' is what forms make of a blank.
std::optional<std::string> decoded(std::string_view text) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), '+', ' ');
  auto plain = http::percent_decode(blanks);
  if (plain && valid_utf8(*plain) != *plain) return std::nullopt;
  return plain;
}

std::string in_words(std::span<const std::string_view> known) {
  if (known.empty()) return "this path has no parameters";
  std::string text = "this path knows ";
  for (std::string_view name : known) {
    if (name.ends_with("[]")) name.remove_suffix(2);
    text += (text.ends_with("knows ") ? "`" : ", `") + std::string(name) + "`";
  }
  return text;
}

}  // namespace

Result<Query> Query::parse(std::string_view text, std::span<const std::string_view> known) {
  Query query;
  for (const auto& [written_name, written_value] : http::split_query(text)) {
    const auto name = decoded(written_name), value = decoded(written_value);
    if (!name || !value)
      return Error::invalid("the query has a broken escape: " + std::string(written_name) + "=" +
                            std::string(written_value));
    const bool many = std::ranges::find(known, *name + "[]") != known.end();
    if (!many && std::ranges::find(known, *name) == known.end())
      return Error::invalid("the parameter `" + *name + "` is not known; " + in_words(known));
    if (!many && query.find(*name))
      return Error::invalid("the parameter `" + *name + "` occurs twice");
    query.parameters_.emplace_back(*name, *value);
  }
  return query;
}

std::optional<std::string> Query::find(std::string_view name) const {
  for (const auto& [key, value] : parameters_)
    if (key == name) return value;
  return std::nullopt;
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters_)
    if (key == name) values.push_back(value);
  return values;
}

Result<bool> Query::flag(std::string_view name) const {
  const auto given = find(name);
  if (!given || *given == "false") return false;
  if (*given == "true") return true;
  return Error::invalid("`" + std::string(name) + "` is true or false");
}

Result<std::int64_t> Query::number(std::string_view name, std::int64_t fallback, std::int64_t low,
                                   std::int64_t high) const {
  const auto given = find(name);
  if (!given) return fallback;
  std::int64_t number = 0;
  const char* const end = given->data() + given->size();
  const auto [stopped, wrong] = std::from_chars(given->data(), end, number);
  if (wrong == std::errc() && stopped == end && number >= low && number <= high) return number;
  return Error::invalid("`" + std::string(name) + "` is a number from " + std::to_string(low) +
                        " to " + std::to_string(high) + ", not " + *given);
}

Result<std::size_t> Query::limit() const {
  const auto given = number("limit", 100, 1, 1000);
  if (!given) return given.error();
  return static_cast<std::size_t>(*given);
}

}  // namespace muster::api
