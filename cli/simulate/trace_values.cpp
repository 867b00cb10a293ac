#include "cli/simulate/trace_values.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include <muster/codec.hpp>
#include <muster/rules/problem.hpp>

namespace muster::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr double longest_seconds = 366.0 * 24 * 3600;

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

milliseconds in_milliseconds(double seconds) {
  return milliseconds(std::llround(seconds * 1000));
}

// Hours may be more than a day has.
std::optional<double> clock_seconds(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(':');
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  if (parts.size() < 2 || parts.size() > 3 || parts[0].size() > 5) return std::nullopt;
  const auto hours = number_in<unsigned>(parts[0]), minutes = number_in<unsigned>(parts[1]);
  const auto seconds = parts.size() == 3 ? number_in<double>(parts[2]) : std::optional(0.0);
  if (!hours || !minutes || !seconds || parts[1].size() != 2 || *minutes > 59 ||
      !(*seconds >= 0 && *seconds < 60))
    return std::nullopt;
  if (parts.size() == 3 && (parts[2].size() < 2 || parts[2].find('.') == 1)) return std::nullopt;
  return *hours * 3600.0 + *minutes * 60.0 + *seconds;
}

}  // namespace

Result<TraceTime> parse_trace_time(std::string_view text) {
  const auto wrong = [&](const char* why) { return Error::invalid(rules::in_quotes(text) + why); };
  if (text.size() > 10 && text[4] == '-') {
    const auto date = parse_time(text);
    if (!date) return wrong(" is no RFC 3339 time; write 2026-03-01T08:15:00Z");
    return TraceTime{true, date->time_since_epoch()};
  }
  const auto seconds =
      text.find(':') != std::string_view::npos ? clock_seconds(text) : number_in<double>(text);
  if (!seconds || !(*seconds >= 0))
    return wrong(
        " is not a time; write an offset such as 00:15:00, seconds such as 900, or "
        "2026-03-01T08:15:00Z");
  if (*seconds > longest_seconds) return wrong(" is more than a year after the start");
  return TraceTime{false, in_milliseconds(*seconds)};
}

Result<std::int64_t> parse_task_count(std::string_view text, std::int64_t most) {
  const auto count = number_in<std::int64_t>(text);
  if (!count || *count < 1 || *count > most)
    return Error::invalid(rules::in_quotes(text) + " is not a whole number from 1 to " +
                          std::to_string(most));
  return *count;
}

Result<milliseconds> parse_task_seconds(std::string_view text) {
  const auto seconds = number_in<double>(text);
  if (!seconds || !(*seconds >= 0.001 && *seconds <= 30.0 * 24 * 3600))
    return Error::invalid(rules::in_quotes(text) +
                          " is not a number of seconds from 0.001 to 2592000 (30 days)");
  return in_milliseconds(*seconds);
}

Result<WorkerPoolId> parse_pool(std::string_view text) {
  const auto slash = text.find('/');
  if (text.empty() || text.size() > 200 || slash == 0 || slash == text.size() - 1)
    return Error::invalid(rules::in_quotes(text) +
                          " is not a worker pool; write worker-manager/build-opt, or build-opt");
  if (slash == std::string_view::npos) return WorkerPoolId("worker-manager/" + std::string(text));
  return WorkerPoolId(std::string(text));
}

}  // namespace muster::cli
