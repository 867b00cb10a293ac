#include "host/events/page.hpp"

#include <algorithm>
#include <charconv>

#include "lib/http/message.hpp"
#include "lib/http/page_budget.hpp"
#include "lib/http/query_text.hpp"

namespace muster::events {
namespace {

constexpr std::int64_t most_checked = 20'000;  // for one page

Result<std::int64_t> number(std::string_view name, std::string_view text, std::int64_t least,
                            std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  return Error::invalid(std::string(name) + " must be a number from " + std::to_string(least) +
                        " to " + std::to_string(most));
}

Result<void> set(EventQuery& query, const std::string& name, std::string value) {
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  const auto take = [&](std::optional<std::int64_t>& into, std::int64_t least,
                        std::int64_t most) -> Result<void> {
    const auto read = number(name, value, least, most);
    if (!read) return read.error();
    into = *read;
    return {};
  };
  if (name == "after") return take(query.after, 0, largest);
  if (name == "last") return take(query.last, 0, largest);
  if (name == "limit") return take(query.limit, 1, largest_limit);
  Filter& filter = query.filter;
  if (name == "kind") {
    if (!is_kind_pattern(value) || filter.kinds.size() >= 50)
      return Error::invalid(
          "kind must be a kind of event like worker-running, or worker-* for all that begin so; "
          "at "
          "most 50 of them");
    filter.kinds.push_back(std::move(value));
    return {};
  }
  for (auto [key, into] : {std::pair{"workerPoolId", &filter.worker_pool_id},
                           {"providerId", &filter.provider_id},
                           {"launchConfigId", &filter.launch_config_id},
                           {"workerId", &filter.worker_id}})
    if (name == key) {
      if (value.empty()) return Error::invalid(name + " is empty; leave it out to hear of all");
      *into = std::move(value);
      return {};
    }
  return Error::invalid("there is no parameter " + name +
                        "; those that are: after, last, limit, kind, workerPoolId, providerId, "
                        "launchConfigId, workerId");
}

std::optional<std::string> decoded(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '+', ' ');
  return http::percent_decode(plain);
}

}  // namespace

Result<EventQuery> parse_event_query(std::string_view query,
                                     std::optional<std::string_view> last_event_id) {
  EventQuery parsed;
  for (const auto& [written_name, written_value] : http::split_query(query)) {
    const auto name = decoded(written_name);
    auto value = decoded(written_value);
    if (!name || !value) return Error::invalid("the query has a broken %-escape");
    if (const auto good = set(parsed, *name, std::move(*value)); !good) return good.error();
  }
  // A client that comes back knows better than the address that it was first given.
  if (last_event_id && !last_event_id->empty()) {
    const auto after = number("Last-Event-ID", *last_event_id, 0, std::int64_t{1} << 53);
    if (!after) return after.error();
    parsed.after = *after;
    parsed.last.reset();
  }
  if (parsed.after && parsed.last)
    return Error::invalid("after and last exclude each other; give one of them");
  return parsed;
}

EventQuery::Start EventQuery::start(std::int64_t newest, std::int64_t otherwise) const {
  if (last) return {.after = std::max<std::int64_t>(0, newest - *last), .oldest = true};
  const std::int64_t from = after.value_or(otherwise);
  return {.after = from, .unknown = from > newest, .oldest = from == 0};
}

Result<Page> event_page(const EventLog& log, const EventQuery& query,
                        const EventQuery::Start& start) {
  const std::int64_t limit = query.limit.value_or(usual_limit);
  Cursor cursor(log, start.after);
  std::int64_t found = 0, next = start.after;
  std::string out = "{\"events\":[";
  for (std::int64_t checked = 0;
       found < limit && checked < most_checked && out.size() < http::largest_page_bytes;) {
    const Cursor::Next next_events = cursor.peek();
    if (next_events == Cursor::Next::none) break;
    if (next_events == Cursor::Next::older) {
      if (const auto loaded = cursor.load(); !loaded) return loaded.error();
      if (!cursor.lost_some() || (start.oldest && checked == 0)) continue;
      if (checked == 0) return Page{.gone = cursor.after()};
      break;  // the next page reports it
    }
    if (query.filter.passes(cursor.event())) {
      if (found++ > 0) out += ',';
      out += cursor.block().json(cursor.index());
    }
    cursor.advance();
    next = cursor.after();
    ++checked;
  }
  const std::int64_t newest = log.newest();
  return Page{.body = out + "],\"next\":" + std::to_string(next) +
                      ",\"newest\":" + std::to_string(newest) +
                      ",\"more\":" + (next < newest ? "true" : "false") + "}"};
}

}  // namespace muster::events
