// Whoever needs a worker asks here, and waits.
#include <charconv>

#include <muster/codec.hpp>

#include "host/api/fleet_api.hpp"
#include "host/api/queue_json.hpp"

namespace muster::api {
namespace {

using namespace std::chrono_literals;
using fleet::Fleet;
using fleet::Now;
using http::error_answer;
using http::Reply;
using http::Request;
using http::Response;

// Less than what clients and proxies wait for an answer.
constexpr std::int64_t longest_poll = 55;  // seconds

struct Body {
  std::string worker_pool_id = {};
  std::vector<std::string> tags = {};
  std::map<std::string, std::int64_t> resources = {};
  std::vector<queue::Strategy> strategies = {};
  std::int64_t priority = 0;
  std::optional<Time> deadline = {};
  std::optional<std::int64_t> duration_seconds = {};
  std::int64_t heartbeat_seconds = 60;
  std::string cache_key = {};
  std::string token = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("workerPoolId", &Body::worker_pool_id), optional("tags", &Body::tags),
                 optional("resources", &Body::resources), optional("strategies", &Body::strategies),
                 optional("priority", &Body::priority), optional("deadline", &Body::deadline),
                 optional("durationSeconds", &Body::duration_seconds),
                 optional("heartbeatSeconds", &Body::heartbeat_seconds),
                 optional("cacheKey", &Body::cache_key), optional("token", &Body::token));
  }
};

queue::TeamId team_of(const Request& request) {
  return queue::TeamId(request.path_parameter("team"));
}

// 0 for what is no number: nobody has that.
std::int64_t number_of(const Request& request) {
  const std::string text = request.path_parameter("requestId");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

// Nobody learns of the requests of another team.
Result<const queue::Request*> find(const Fleet& fleet, const queue::TeamId& team,
                                   std::int64_t number) {
  const queue::Request* found = fleet.queue().find(number);
  if (found && fleet.queue().teams()[found->team].id == team) return found;
  return Error::not_found("team " + team.str() + " has no request " + std::to_string(number) +
                          "; it was released, or it ended long ago");
}

std::chrono::milliseconds seconds(std::int64_t count) {
  // Beyond a thousand years the queue's own limits speak.
  return std::chrono::seconds(std::clamp<std::int64_t>(count, -1, 31'536'000'000));
}

Paths::AnsweringRead read_ask(const Request& request, const Query&) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  if (const std::string unknown = unknown_key<Body>(*body); !unknown.empty())
    return error_answer(request, 400, "InputError", "`" + unknown + "` is not known here");
  const auto given = from_value<Body>(json::value(*body));
  if (!given) return error_answer(request, 400, "InputError", given.error().message);
  auto needs = queue::Resources::from(given->resources);
  if (!needs) return error_answer(request, 400, "InputError", needs.error().message);
  queue::Ask ask{.team = team_of(request),
                 .pool = WorkerPoolId(given->worker_pool_id),
                 .tags = given->tags,
                 .needs = std::move(*needs),
                 .strategies = given->strategies,
                 .priority = given->priority,
                 .deadline = given->deadline,
                 .heartbeat = seconds(given->heartbeat_seconds),
                 .cache_key = given->cache_key,
                 .token = given->token,
                 .client = request.client_id};
  if (given->duration_seconds) ask.duration = seconds(*given->duration_seconds);
  return Paths::Answering([ask](Fleet& fleet, Now now) -> Result<json::value> {
    const auto number = fleet.request_worker(ask, now);
    if (!number) return number.error();
    const queue::Request& made = *fleet.queue().find(*number);
    if (made.state == queue::RequestState::ended) return request_document(made, fleet, now);
    return request_document(made, fleet.tell_verdict(made, now), fleet);
  });
}

// Calls it for the request of the path, if it is the team's.
template <class Change>
Paths::AnsweringRead about_one(const Request& request, Change change) {
  return Paths::Answering([team = team_of(request), number = number_of(request), change](
                              Fleet& fleet, Now now) -> Result<json::value> {
    const auto found = find(fleet, team, number);
    if (!found) return found.error();
    if (const auto done = change(fleet.change_queue(now), number, now.wall); !done)
      return done.error();
    const queue::Request* after = fleet.queue().find(number);
    return after ? request_document(*after, fleet, now) : json::object{};
  });
}

Paths::AnsweringRead read_release(const Request& request, const Query&) {
  return about_one(request, [](queue::Queue& queue, std::int64_t number, Time now) {
    return queue.release(number, now);
  });
}

Paths::AnsweringRead read_heartbeat(const Request& request, const Query&) {
  return about_one(request, [](queue::Queue& queue, std::int64_t number, Time now) {
    return queue.heartbeat(number, now);
  });
}

Paths::AnsweringRead read_extend(const Request& request, const Query&) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const json::value* until = body->if_contains("until");
  const auto time = until && until->is_string() ? parse_time(std::string_view(until->get_string()))
                                                : std::nullopt;
  if (!time || body->size() != 1)
    return error_answer(request, 400, "InputError",
                        "the body has `until`, and nothing else: a time such as "
                        "2026-01-02T03:04:05Z");
  return about_one(request, [time = *time](queue::Queue& queue, std::int64_t number, Time now) {
    return queue.extend(number, time, now);
  });
}

// -------------------------------------------------------------------------------------------------
// Waiting for a worker

struct Poll {
  std::shared_ptr<const Request> asked;
  Reply reply;
  std::int64_t wait = 0;  // seconds
  Time until{};           // known when it began
};

// Answers when what it tells is durable: a worker that a crash would give to another was never
// told. While the poll lasts, its client lives.
void poll(fleet::Service& service, const std::shared_ptr<Poll>& poll_) {
  const auto answer = std::make_shared<std::optional<Result<json::object>>>();
  service.post(
      [&service, poll_, answer](Fleet& fleet, Now now) {
        const auto found = find(fleet, team_of(*poll_->asked), number_of(*poll_->asked));
        if (!found) return void(answer->emplace(found.error()));
        if (poll_->until == Time{}) poll_->until = now.wall + std::chrono::seconds(poll_->wait);
        fleet.change_queue(now).note_client_alive((*found)->number,
                                                  std::max(poll_->until, now.wall));
        const bool waits =
            (*found)->state == queue::RequestState::waiting && now.wall < poll_->until;
        const bool untold =
            (*found)->state == queue::RequestState::waiting && (*found)->promised.p50 == Time{};
        if (untold) fleet.tell_verdict(**found, now);
        if (waits && service.request_waiters().wait((*found)->number, poll_->until,
                                                    [&service, poll_] { poll(service, poll_); }))
          return;
        answer->emplace(request_document(**found, fleet, now));
      },
      [poll_, answer] {
        if (!*answer) return;
        poll_->reply(**answer ? http::json_answer(***answer)
                              : refusal(*poll_->asked, (*answer)->error()));
      });
}

void show(const FleetAccess& access, Request&& request, const Reply& reply) {
  if (!access.fleet) return reply(error_answer(request, 503, "NoFleet", access.problem));
  static constexpr std::array<std::string_view, 1> known{"wait"};
  const auto query = Query::parse(request.query, known);
  if (!query) return reply(error_answer(request, query.error()));
  const auto wait = query->number("wait", 0, 0, longest_poll);
  if (!wait) return reply(error_answer(request, wait.error()));
  const store::Health health = access.fleet->fleet().store_health();
  if (!health.ok) return reply(error_answer(request, 503, "ReadOnly", health.sentence));
  const auto asked = std::make_shared<const Request>(std::move(request));
  poll(access.fleet->fleet(), std::make_shared<Poll>(Poll{asked, reply, *wait, {}}));
}

// In no order; `limit` bounds them.
Response list_requests(const Request& request, const Query& query, const Fleet& fleet, Now now) {
  const auto limit = query.limit();
  if (!limit) return error_answer(request, limit.error());
  json::array requests;
  for (const queue::Request& each : fleet.queue().requests()) {
    if (requests.size() >= *limit) break;
    if (each.number != 0 && fleet.queue().teams()[each.team].id == team_of(request))
      requests.push_back(request_document(each, fleet, now));
  }
  return http::json_answer(json::object{{"requests", std::move(requests)}});
}

// Whatever its team.
Response show_any(const Request& request, const Query&, const Fleet& fleet, Now now) {
  const queue::Request* found = fleet.queue().find(number_of(request));
  if (!found)
    return error_answer(request, 404, "ResourceNotFound",
                        "there is no such request; it was released, or it ended long ago");
  return http::json_answer(request_document(*found, fleet, now));
}

}  // namespace

void add_queue_requests(Paths& paths) {
  const std::string requests = "teams/{team}/requests";
  const std::string one = requests + "/{requestId}";
  paths.view(requests, {"limit"}, list_requests);
  paths.view("requests/{requestId}", {}, show_any);
  paths.ask("POST", requests, {}, read_ask);
  paths.handle("GET", one, show);
  paths.ask("DELETE", one, {}, read_release);
  paths.ask("POST", one + "/heartbeat", {}, read_heartbeat);
  paths.ask("POST", one + "/extend", {}, read_extend);
}

}  // namespace muster::api
