#include "host/endpoints/query.hpp"

#include <algorithm>
#include <charconv>

#include <muster/utf8.hpp>

#include "lib/http/message.hpp"
#include "lib/http/query_text.hpp"

namespace muster::endpoints {
namespace {

// Forms write '+' for a blank.
std::string with_blanks(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  return blanks;
}

}  // namespace

Query::Query(std::string_view text) {
  for (const auto& [written_name, written_value] : http::split_query(text)) {
    const auto decoded = [&, name = written_name, value = written_value](std::string_view written) {
      std::string blanks = with_blanks(written);
      auto plain = http::percent_decode(blanks);
      if ((!plain || !is_utf8(*plain)) && !broken_)
        broken_ = std::string(name) + "=" + std::string(value);
      return plain ? std::move(*plain) : std::move(blanks);
    };
    std::string name = decoded(written_name);
    parameters_.emplace_back(std::move(name), decoded(written_value));
  }
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : parameters_)
    if (key == name) return value;
  return std::nullopt;
}

std::optional<std::string> Query::optional_text(std::string_view name) const {
  return std::optional<std::string>(find(name));
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
                        " to " + std::to_string(high) + ", not " + std::string(*given));
}

Result<std::size_t> Query::limit() const {
  const auto given = number("limit", 100, 1, 1000);
  if (!given) return given.error();
  return static_cast<std::size_t>(*given);
}

}  // namespace muster::endpoints
