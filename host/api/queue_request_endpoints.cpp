// Requests for a worker: made, waited for, extended and released.
#include <algorithm>
#include <charconv>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/api/handlers.hpp"
#include "host/api/payloads.hpp"
#include "host/api/query_parameters.hpp"
#include "host/api/queue_json.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::api {
namespace {

using namespace std::chrono_literals;
using fleet::Fleet;
using fleet::Now;

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
  std::optional<json::object> payload = {};  // only checked

  static constexpr auto fields(auto visit) {
    return visit(optional("workerPoolId", &Body::worker_pool_id), optional("tags", &Body::tags),
                 optional("resources", &Body::resources), optional("strategies", &Body::strategies),
                 optional("priority", &Body::priority), optional("deadline", &Body::deadline),
                 optional("durationSeconds", &Body::duration_seconds),
                 optional("heartbeatSeconds", &Body::heartbeat_seconds),
                 optional("cacheKey", &Body::cache_key), optional("token", &Body::token),
                 optional("payload", &Body::payload));
  }
};

queue::TeamId team_of(const Call& call) {
  return queue::TeamId(call.parameter("team"));
}

// 0 for what is no number: nobody has that.
std::int64_t request_number_of(const Call& call) {
  const std::string& text = call.parameter("requestId");
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

FleetChangeOrFailure read_ask(const Call& call) {
  const auto given = body_as<Body>(call);
  if (!given) return given.error();
  auto needs = queue::Resources::from(given->resources);
  if (!needs) return input_error(needs.error().message);
  queue::NewRequest ask{.team = team_of(call),
                        .pool = WorkerPoolId(given->worker_pool_id),
                        .tags = given->tags,
                        .needs = std::move(*needs),
                        .strategies = given->strategies,
                        .priority = given->priority,
                        .deadline = given->deadline,
                        .heartbeat = seconds(given->heartbeat_seconds),
                        .cache_key = given->cache_key,
                        .token = given->token,
                        .client = call.client_id()};
  if (given->duration_seconds) ask.duration = seconds(*given->duration_seconds);
  return FleetChange([ask](Fleet& fleet, Now now) -> Answer {
    const auto number = fleet.request_worker(ask, now);
    if (!number) return to_failure(number.error());
    const queue::Request& made = *fleet.queue().find(*number);
    if (made.state == queue::RequestState::ended)
      return json_answer(request_document(made, fleet, now));
    return json_answer(request_document(made, fleet.tell_verdict(made, now), fleet));
  });
}

// A payload is checked on a thread that may wait, before the request exists.
void request_worker(const CallPtr& call) {
  if (!can_change(call)) return;
  auto change = read_ask(*call);
  if (!change) return call->fail(change.error());
  const json::value* payload = call->body().if_contains("payload");
  if (!payload || !payload->is_object()) return change_fleet(call, std::move(*change));
  run_on_worker(call, [call, change = std::move(*change)] {
    const json::value* pool = call->body().if_contains("workerPoolId");
    const WorkerPoolId of(pool && pool->is_string() ? std::string(pool->get_string()) : "");
    if (const auto refusal =
            refuse_payload(*call->host().fleet, of, call->body().at("payload").get_object()))
      return call->fail(*refusal);
    change_fleet(call, change);
  });
}

// Calls it for the request of the path, if it is the team's.
template <class Change>
FleetChangeOrFailure about_one(const Call& call, Change change,
                               std::optional<events::Event> audit = std::nullopt) {
  return FleetChange([team = team_of(call), number = request_number_of(call), change,
                      by = call.client_id(),
                      audit = std::move(audit)](Fleet& fleet, Now now) -> Answer {
    const auto found = find(fleet, team, number);
    if (!found) return to_failure(found.error());
    const bool is_own = (*found)->client == by;
    if (const auto done = change(fleet.change_queue(now), number, now.wall); !done)
      return to_failure(done.error());
    if (audit && !is_own) fleet.emit_event(*audit, now);
    const queue::Request* after = fleet.queue().find(number);
    return json_answer(after ? request_document(*after, fleet, now) : json::object{});
  });
}

FleetChangeOrFailure read_release(const Call& call) {
  return about_one(
      call,
      [](queue::Queue& queue, std::int64_t number, Time now) { return queue.release(number, now); },
      endpoints::audit_event(call));
}

// While nothing can be written, a lease whose client knows its worker stays as it is. The client is
// told so: nothing of its heartbeat has to be written, and what it does not say now is not held
// against it.
void confirm_lease(const CallPtr& call) {
  read_fleet(call, [call](const Fleet& fleet, Now now) -> Answer {
    const auto found = find(fleet, team_of(*call), request_number_of(*call));
    if (!found) return to_failure(found.error());
    if ((*found)->state != queue::RequestState::held || !(*found)->confirmed)
      return Failure{"ReadOnly", call->host().fleet->store_health().sentence};
    return json_answer(request_document(**found, fleet, now));
  });
}

FleetChangeOrFailure read_heartbeat(const Call& call) {
  return about_one(call, [](queue::Queue& queue, std::int64_t number, Time now) {
    return queue.heartbeat(number, now);
  });
}

void heartbeat(const CallPtr& call) {
  if (!has_fleet(call)) return;
  if (!call->host().fleet->store_health().ok) return confirm_lease(call);
  auto change = read_heartbeat(*call);
  if (!change) return call->fail(change.error());
  change_fleet(call, std::move(*change));
}

FleetChangeOrFailure read_extend(const Call& call) {
  const json::value* until = call.body().if_contains("until");
  const auto time = until && until->is_string() ? parse_time(std::string_view(until->get_string()))
                                                : std::nullopt;
  if (!time || call.body().size() != 1)
    return input_error(
        "the body has `until`, and nothing else: a time such as "
        "2026-01-02T03:04:05Z");
  return about_one(call, [time = *time](queue::Queue& queue, std::int64_t number, Time now) {
    return queue.extend(number, time, now);
  });
}

// -------------------------------------------------------------------------------------------------
// Waiting for a worker

struct Poll {
  CallPtr call;
  std::int64_t wait = 0;                                // seconds
  std::optional<std::chrono::milliseconds> until = {};  // by the steady clock, known when it began
  Tally::Seat seat = {};
};

// Whether the client may wait for one more answer.
bool take_seat(Poll& poll, const Fleet& fleet) {
  if (!poll.seat)
    poll.seat = poll.call->host().fleet->request_waiters().seat(
        poll.call->client_id(), fleet.queue().settings().most_polls_of_client);
  return poll.seat != nullptr;
}

Failure too_many_polls(const Call& call, const Fleet& fleet) {
  return {"TooManyRequests",
          "client " + call.client_id() + " waits for " +
              std::to_string(fleet.queue().settings().most_polls_of_client) +
              " answers, which is the limit (queue.mostPollsOfClient of the host's "
              "configuration); ask without `wait`",
          std::chrono::seconds(longest_poll)};
}

// Answers when what it tells is durable: a worker that a crash would give to another was never
// told. While the poll lasts, its client lives.
void poll(const std::shared_ptr<Poll>& poll_) {
  const auto answer = std::make_shared<std::optional<Answer>>();
  post_to_fleet(
      poll_->call,
      [poll_, answer](Fleet& fleet, Now now) {
        const Call& call = *poll_->call;
        const auto found = find(fleet, team_of(call), request_number_of(call));
        if (!found) return void(answer->emplace(to_failure(found.error())));
        if (!poll_->until) poll_->until = now.steady + std::chrono::seconds(poll_->wait);
        const auto left = std::max(*poll_->until - now.steady, 0ms);
        fleet.change_queue(now).note_client_alive((*found)->number, now.wall + left);
        const bool waits = (*found)->state == queue::RequestState::waiting && left > 0ms;
        const bool untold =
            (*found)->state == queue::RequestState::waiting && (*found)->promised.p50 == Time{};
        if (untold) fleet.tell_verdict(**found, now);
        if (waits && !take_seat(*poll_, fleet))
          return void(answer->emplace(too_many_polls(call, fleet)));
        if (waits && call.host().fleet->request_waiters().wait((*found)->number, *poll_->until,
                                                               [poll_] { poll(poll_); }))
          return;
        answer->emplace(json_answer(request_document(**found, fleet, now)));
      },
      [poll_, answer] {
        if (*answer) poll_->call->finish(std::move(**answer));
      });
}

void show(const CallPtr& call) {
  const auto wait = call->query().number("wait", 0, 0, longest_poll);
  if (!wait) return call->fail(to_failure(wait.error()));
  if (can_change(call)) poll(std::make_shared<Poll>(Poll{call, *wait, {}}));
}

// In no order; `limit` bounds them.
Answer list_requests(const Call& call, const Fleet& fleet, Now now) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  json::array requests;
  http::PageBudget page;
  for (const queue::Request& each : fleet.queue().requests()) {
    if (requests.size() >= *limit || page.is_full()) break;
    if (each.number == 0 || fleet.queue().teams()[each.team].id != team_of(call)) continue;
    requests.push_back(request_document(each, fleet, now));
    page.take(requests.back());
  }
  return json_answer(json::object{{"requests", std::move(requests)}});
}

// Of all teams, or of one; `next` is the number of the last one that was shown.
Answer list_all_requests(const Call& call, const Fleet& fleet, Now now) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto after = call.query().number("after", 0, 0, INT64_MAX);
  if (!after) return to_failure(after.error());
  const std::string team = call.query().text("team"), state = call.query().text("state");
  const auto states = enum_names(queue::RequestState{});
  if (!state.empty() && std::ranges::find(states, state) == states.end())
    return input_error("`state` is one of waiting, held, ended");
  std::vector<const queue::Request*> chosen;
  for (const queue::Request& each : fleet.queue().requests())
    if (each.number > *after && (state.empty() || name_of(each.state) == state) &&
        (team.empty() || fleet.queue().teams()[each.team].id.str() == team))
      chosen.push_back(&each);
  std::ranges::sort(chosen, {}, &queue::Request::number);
  json::array requests;
  http::PageBudget page;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i == *limit || page.is_full()) {
      next = chosen[i - 1]->number;
      break;
    }
    requests.push_back(request_document(*chosen[i], fleet, now));
    page.take(requests.back());
  }
  json::object answer{{"requests", std::move(requests)}};
  if (next > 0) answer["next"] = std::to_string(next);
  return json_answer(answer);
}

// Whatever its team.
Answer show_any(const Call& call, const Fleet& fleet, Now now) {
  const queue::Request* found = fleet.queue().find(request_number_of(call));
  if (!found) return not_found("there is no such request; it was released, or it ended long ago");
  return json_answer(request_document(*found, fleet, now));
}

constexpr std::string_view of_team = "a team's own work: the request itself says what became of it";

}  // namespace

std::vector<Endpoint> queue_request_endpoints() {
  return {
      {.name = "listRequests",
       .method = "GET",
       .path = base + "/teams/{team}/requests",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = list_requests,
       .query = {parameter::limit},
       .output = "QueueRequestList",
       .errors = {bad_input, unavailable},
       .category = "queue",
       .title = "A team's requests"},
      {.name = "listAllRequests",
       .method = "GET",
       .path = base + "/requests",
       .scopes = all_of({"muster:get:requests"}),
       .handler = list_all_requests,
       .query = {parameter::limit, parameter::after, parameter::of_team, parameter::request_state},
       .output = "QueueRequestList",
       .errors = {bad_input, unavailable},
       .category = "queue",
       .title = "Requests of all teams, the oldest first"},
      {.name = "showAnyRequest",
       .method = "GET",
       .path = base + "/requests/{requestId}",
       .scopes = all_of({"muster:get:requests"}),
       .handler = show_any,
       .output = "QueueRequest",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "One request, whatever its team"},
      {.name = "requestWorker",
       .method = "POST",
       .path = base + "/teams/{team}/requests",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = request_worker,
       .input = "WorkerRequest",
       .audit = not_audited(of_team),
       .output = "QueueRequest",
       .errors = {bad_input, conflicting, unavailable},
       .category = "queue",
       .title = "Ask for a worker",
       .description = "The same `token` again is the same request. Wait for the worker with "
                      "showRequest, and say with heartbeat that you know it."},
      {.name = "showRequest",
       .method = "GET",
       .path = base + "/teams/{team}/requests/{requestId}",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = show,
       .query = {parameter::wait},
       .output = "QueueRequest",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "One request: its worker, or why it waits",
       .description = "While somebody waits for the answer, the request's client counts as alive."},
      {.name = "releaseWorker",
       .method = "DELETE",
       .path = base + "/teams/{team}/requests/{requestId}",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = read_release,
       .audit = audited_by_handler(),  // unless the client that asked gives it back
       .output = "Empty",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Give the worker back, or ask for it no longer",
       .description = "If another client than the one that asked does it, the audit log has it."},
      {.name = "heartbeat",
       .method = "POST",
       .path = base + "/teams/{team}/requests/{requestId}/heartbeat",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = heartbeat,
       .audit = not_audited(of_team),
       .output = "QueueRequest",
       .errors = {bad_input, missing, expired, unavailable},
       .category = "queue",
       .title = "The client lives, and knows its worker",
       .description = "While the host is read-only, it confirms a lease that its client has "
                      "confirmed before; that lease does not end for lack of heartbeats."},
      {.name = "extendLease",
       .method = "POST",
       .path = base + "/teams/{team}/requests/{requestId}/extend",
       .scopes = all_of({"muster:request-worker:<team>"}),
       .handler = read_extend,
       .input = "ExtendRequest",
       .audit = not_audited(of_team),
       .output = "QueueRequest",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Hold the worker until another time"},
  };
}

}  // namespace muster::api
