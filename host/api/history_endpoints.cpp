// Capacity, demand and cost over time, and a stream that says which pools have changed.
#include "host/api/handlers.hpp"
#include "host/api/permitted_stream.hpp"
#include "host/api/query_parameters.hpp"
#include "host/events/service.hpp"
#include "host/history/history.hpp"

namespace muster::api {
namespace {

constexpr std::chrono::seconds longest_silence{15};

void add_figures(json::object& document, const history::Figures& figures) {
  document["pending"] = figures.pending;
  document["requested"] = figures.requested;
  document["running"] = figures.running;
  document["busy"] = figures.busy;
  document["draining"] = figures.draining;
  document["stopping"] = figures.stopping;
  document["maxCapacity"] = figures.max;
  document["pricePerHour"] = figures.price_per_hour;
}

json::array points_document(const std::vector<history::Point>& points) {
  json::array all;
  for (const history::Point& point : points) {
    json::object document{{"at", format_time(Time(std::chrono::seconds(point.second)))}};
    add_figures(document, point.figures);
    all.push_back(std::move(document));
  }
  return all;
}

Answer show_history(const Call& call) {
  return json_answer(
      json::object{{"points", points_document(services_of(call).history->series(""))}});
}

Answer show_pool_history(const Call& call) {
  const std::string pool = call.worker_pool_id().str();
  return json_answer(
      json::object{{"workerPoolId", pool},
                   {"points", points_document(services_of(call).history->series(pool))}});
}

// -------------------------------------------------------------------------------------------------
// The stream

std::string message_of(const history::Change& change) {
  json::object document{{"at", format_time(change.at)},
                        {"workerPools", codec::to_value(change.pools)},
                        {"more", change.more_pools}};
  add_figures(document, change.fleet);
  return "event: change\ndata: " + json::write(document) + "\n\n";
}

class ChangeStream final : public http::Stream {
 public:
  ChangeStream(const history::History& history, std::shared_ptr<const Clock> clock,
               Tally::Seat seat)
      : history_(history),
        clock_(std::move(clock)),
        seat_(std::move(seat)),
        last_(history.newest_change()),
        said_(clock_->steady()) {}

  More pull(std::string& out) override {
    const auto now = clock_->steady();
    if (history_.newest_change() != last_) {
      // What was missed meanwhile is in the newest figures; names of pools add up.
      for (const history::Change& change : history_.changes_after(last_)) {
        out += message_of(change);
        last_ = change.number;
      }
      said_ = now;
    } else if (now - said_ >= longest_silence) {
      out += ":\n\n";
      said_ = now;
    }
    return More::yes;
  }

 private:
  const history::History& history_;
  const std::shared_ptr<const Clock> clock_;
  const Tally::Seat seat_;
  std::int64_t last_;
  SteadyTime said_;
};

void stream_changes(const CallPtr& call) {
  if (!has_fleet(call)) return;
  auto seat = services_of(*call).events->open_seat(call->client_id(), "changes");
  if (!seat) return call->fail(to_failure(seat.error()));
  http::Response response{200,
                          {{"Content-Type", "text/event-stream"},
                           {"Cache-Control", "no-store"},
                           {"X-Accel-Buffering", "no"}},
                          "retry: 2000\n\n"};
  response.stream = while_permitted(
      *call, std::make_shared<ChangeStream>(*services_of(*call).history, services_of(*call).clock,
                                            std::move(*seat)));
  call->respond(std::move(response));
}

}  // namespace

std::vector<Endpoint> history_endpoints() {
  return {
      {.name = "getHistory",
       .method = "GET",
       .path = base + "/history",
       .scopes = all_of({"muster:get:pools"}),
       .handler = show_history,
       .output = "History",
       .category = "pools",
       .title = "Capacity, demand and cost of the fleet over time"},
      {.name = "getPoolHistory",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/history",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = show_pool_history,
       .output = "History",
       .category = "pools",
       .title = "Capacity, demand and cost of a pool over time"},
      {.name = "streamChanges",
       .method = "GET",
       .path = base + "/changes",
       .scopes = all_of({"muster:get:pools"}),
       .handler = stream_changes,
       .output = "FleetChange",
       .content_type = "text/event-stream",
       .errors = {"TooManyRequests", unavailable},
       .category = "pools",
       .title = "Server-sent events: which pools have other figures than two seconds ago"},
  };
}

}  // namespace muster::api
