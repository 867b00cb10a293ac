// Events as a stream or in pages, webhooks and their dead letters, the message broker.
#include <charconv>

#include <muster/codec.hpp>

#include "host/api/handlers.hpp"
#include "host/api/permitted_stream.hpp"
#include "host/api/query_parameters.hpp"
#include "host/events/page.hpp"
#include "host/events/service.hpp"
#include "lib/http/page_budget.hpp"

namespace muster::api {
namespace {

using events::EventQuery;

constexpr std::size_t most_counted = 1000;  // dead letters, for one webhook

events::Service& events_of(const Call& call) {
  return *services_of(call).events;
}

// On the threads that read events: the store's answer may take a while.
template <Answer (*read)(const Call&)>
void on_reader(const CallPtr& call) {
  run_on_worker(call, events_of(*call).readers(), [call] { finish_audited(call, read(*call)); });
}

// -------------------------------------------------------------------------------------------------
// Events

bool wants_a_page(const Call& call, const EventQuery& query) {
  if (query.limit) return true;
  const auto accept = call.request().header("Accept");
  return accept && accept->find("application/json") != std::string_view::npos &&
         accept->find("text/event-stream") == std::string_view::npos;
}

Result<EventQuery> query_of(const Call& call) {
  return events::parse_event_query(call.request().query, call.request().header("Last-Event-ID"));
}

Answer show_page(const Call& call) {
  const auto query = query_of(call);
  if (!query) return to_failure(query.error());
  const events::EventLog& log = events_of(call).log();
  const EventQuery::Start start = query->start(log.newest(), 0);
  const auto gone = [&](const std::string& why, std::int64_t next) {
    Failure failure("EventsGone",
                    why + "; read the state anew and go on with after=" + std::to_string(next));
    failure.more = {{"next", next}, {"newest", log.newest()}};
    return failure;
  };
  if (start.unknown)
    return gone("event " + std::to_string(start.after) + " has not happened yet", log.newest());
  auto page = events::event_page(log, *query, start);
  if (!page) return to_failure(page.error());
  if (page->gone)
    return gone("events up to " + std::to_string(*page->gone) + " are no longer kept", *page->gone);
  return std::move(page->body);
}

void show_events(const CallPtr& call) {
  const auto query = query_of(*call);
  if (!query) return call->fail(to_failure(query.error()));
  if (wants_a_page(*call, *query)) return on_reader<show_page>(call);
  auto stream = events_of(*call).open_stream(*query, call->client_id());
  if (!stream) return call->fail(to_failure(stream.error()));
  http::Response response{200,
                          {{"Content-Type", "text/event-stream"},
                           {"Cache-Control", "no-store"},
                           {"X-Accel-Buffering", "no"}},
                          "retry: 2000\n\n"};
  response.stream = while_permitted(*call, std::move(*stream));
  call->respond(std::move(response));
}

// -------------------------------------------------------------------------------------------------
// Webhooks

Answer list_webhooks(const Call& call) {
  return json_answer(json::object{{"webhooks", events_of(call).webhooks_json()}});
}

Answer show_amqp(const Call& call) {
  return json_answer(json::object{{"amqp", events_of(call).amqp_json()}});
}

Failure no_webhook(const std::string& name) {
  return not_found("no webhook is configured under the name " + name);
}

Answer show_webhook(const Call& call) {
  const std::string& name = call.parameter("name");
  const auto status = events_of(call).webhook_status(name);
  if (!status) return no_webhook(name);
  const auto letters = events_of(call).dead_letters(name, 0, most_counted);
  if (!letters) return to_failure(letters.error());
  json::object document = events::to_json(*status);
  document["deadLetters"] = letters->size();
  return json_answer(document);
}

// -------------------------------------------------------------------------------------------------
// Dead letters

std::optional<std::int64_t> number_of(const Call& call) {
  const std::string& text = call.parameter("number");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

// The letter of the path, or why there is none.
boost::system::result<events::DeadLetterRow, Failure> letter_of(const Call& call) {
  const std::string& name = call.parameter("name");
  Failure missing_letter = not_found("webhook " + name +
                                     " has no dead letter of that number; GET its dead-letters "
                                     "lists them");
  const auto number = number_of(call);
  if (!number) return missing_letter;
  const auto letter = events_of(call).dead_letter(name, *number);
  if (!letter) return to_failure(letter.error());
  if (!*letter) return missing_letter;
  return **letter;
}

Answer list_dead_letters(const Call& call) {
  const auto query = events::parse_event_query(call.request().query, {});
  if (!query) return to_failure(query.error());
  if (!query->filter.passes_all() || query->last)
    return input_error("dead letters have the parameters after and limit");
  const std::string& name = call.parameter("name");
  const auto limit = static_cast<std::size_t>(query->limit.value_or(events::usual_limit));
  const auto letters = events_of(call).dead_letters(name, query->after.value_or(0), limit);
  if (!letters) return to_failure(letters.error());
  if (letters->empty() && !events_of(call).webhook_status(name))
    return not_found(no_webhook(name).message + ", and none of that name has left dead letters");
  json::array all;
  http::PageBudget page;
  for (const events::DeadLetterRow& letter : *letters) {
    if (page.is_full()) break;
    all.push_back(json::object{{"number", letter.number},
                               {"at", format_time(letter.at)},
                               {"attempts", letter.attempts},
                               {"problem", letter.problem},
                               {"event", letter.event}});
    page.take(all.back());
  }
  json::object document{{"deadLetters", std::move(all)}};
  if (letters->size() == limit || page.is_full())
    document["next"] = document["deadLetters"].as_array().back().at("number");
  return json_answer(document);
}

Answer retry_dead_letter(const Call& call) {
  const auto letter = letter_of(call);
  if (!letter) return letter.error();
  const std::string& name = call.parameter("name");
  if (!events_of(call).retry_dead_letter(name, letter->number))
    return conflict(no_webhook(name).message + "; configure it again, or delete the letter");
  return json_answer(json::object{{"number", letter->number}, {"attempts", letter->attempts}});
}

void delete_dead_letter(const CallPtr& call) {
  run_on_worker(call, events_of(*call).readers(), [call] {
    const auto letter = letter_of(*call);
    if (!letter) return call->fail(letter.error());
    if (!events_of(*call).erase_dead_letter(call->parameter("name"), letter->number,
                                            [call] { finish_audited(call, std::string()); }))
      call->fail({"ServiceUnavailable", "the host is stopping"});
  });
}

}  // namespace

std::vector<Endpoint> event_endpoints() {
  return {
      {.name = "events",
       .method = "GET",
       .path = base + "/events",
       .scopes = all_of({"muster:get:events"}),
       .handler = show_events,
       .query = {parameter::after_event, parameter::last_events, parameter::event_limit,
                 parameter::event_kind, parameter::of_pool, parameter::of_provider,
                 parameter::of_launch_config, parameter::of_worker, parameter::last_event_id},
       .output = "EventPage",
       .content_type = "application/json; charset=utf-8",
       .errors = {bad_input, "EventsGone", "TooManyRequests", unavailable},
       .category = "events",
       .title = "What happened: a page as JSON, or a stream of server-sent events",
       .handler_reads_query = true},
      {.name = "listWebhooks",
       .method = "GET",
       .path = base + "/webhooks",
       .scopes = all_of({"muster:get:events"}),
       .handler = list_webhooks,
       .output = "WebhookList",
       .category = "events",
       .title = "The configured webhooks"},
      {.name = "getWebhook",
       .method = "GET",
       .path = base + "/webhooks/{name}",
       .scopes = all_of({"muster:get:events"}),
       .handler = on_reader<show_webhook>,
       .output = "WebhookDetail",
       .errors = {missing, unavailable},
       .category = "events",
       .title = "A webhook"},
      {.name = "listDeadLetters",
       .method = "GET",
       .path = base + "/webhooks/{name}/dead-letters",
       .scopes = all_of({"muster:get:events"}),
       .handler = on_reader<list_dead_letters>,
       .query = {parameter::after_letter, parameter::limit},
       .output = "DeadLetterList",
       .errors = {bad_input, missing, unavailable},
       .category = "events",
       .title = "Events that a webhook did not take however often they were sent",
       .handler_reads_query = true},
      {.name = "retryDeadLetter",
       .method = "POST",
       .path = base + "/webhooks/{name}/dead-letters/{number}/retry",
       .scopes = all_of({"muster:manage-dead-letters:<name>"}),
       .handler = on_reader<retry_dead_letter>,
       .audit = audited(),
       .output = "DeadLetterRetry",
       .status = 202,
       .errors = {missing, conflicting, unavailable},
       .category = "events",
       .title = "Send it again"},
      {.name = "deleteDeadLetter",
       .method = "DELETE",
       .path = base + "/webhooks/{name}/dead-letters/{number}",
       .scopes = all_of({"muster:manage-dead-letters:<name>"}),
       .handler = delete_dead_letter,
       .audit = audited(),
       .status = 204,
       .errors = {missing, unavailable},
       .category = "events",
       .title = "Forget it"},
      {.name = "getAmqp",
       .method = "GET",
       .path = base + "/amqp",
       .scopes = all_of({"muster:get:events"}),
       .handler = show_amqp,
       .output = "AmqpStatus",
       .category = "events",
       .title = "The message broker that hears of events; null if none is configured"},
  };
}

}  // namespace muster::api
