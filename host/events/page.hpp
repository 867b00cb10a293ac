// Events for clients that ask now and then.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/events/event_log.hpp"
#include "host/events/filter.hpp"

namespace muster::events {

// What a request for events asks for.
struct EventQuery {
  Filter filter = {};
  std::optional<std::int64_t> after = {}, last = {};
  std::optional<std::int64_t> limit = {};

  struct Start {
    std::int64_t after = 0;
    bool unknown = false;  // this log has not come so far: it is another one
    bool oldest = false;   // what is kept no longer is not asked for
  };
  Start start(std::int64_t newest, std::int64_t otherwise) const;
};

// Of the query string; fails as `invalid` and names the parameter. `last_event_id` is the header.
Result<EventQuery> parse_event_query(std::string_view query,
                                     std::optional<std::string_view> last_event_id);

inline constexpr std::int64_t usual_limit = 100, largest_limit = 1000;

struct Page {
  std::string body = {};
  // The events that should come next are kept no longer; with this number `after` it can go on.
  std::optional<std::int64_t> gone = {};
};

// {"events": [...], "next": 1234, "newest": 1300, "more": true}: `next` is the `after` of the next
// page. It may have fewer events than the limit, even none, while there are more: a filter that
// little passes ends a page, too. Waits for the disk.
Result<Page> event_page(const EventLog& log, const EventQuery& query,
                        const EventQuery::Start& start);

}  // namespace muster::events
