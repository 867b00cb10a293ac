// What the API shows of events, and what it lets people do about dead letters.
#include <algorithm>
#include <charconv>

#include <muster/codec.hpp>

#include "host/events/running.hpp"
#include "lib/http/answer.hpp"

namespace muster::events {
namespace {

constexpr std::size_t most_counted = 1000;  // dead letters, for a list of webhooks

void put_problem(json::object& document, const std::string& problem,
                 const std::optional<Time>& problem_at, const std::optional<Time>& retry_at) {
  if (!problem.empty()) document["problem"] = problem;
  if (problem_at) document["problemAt"] = format_time(*problem_at);
  if (retry_at) document["retryAt"] = format_time(*retry_at);
}

json::object to_json(const WebhookStatus& status) {
  json::object document{
      {"name", status.name},           {"url", status.url.substr(0, status.url.find('?'))},
      {"delivered", status.delivered}, {"lag", status.lag},
      {"sent", status.sent},           {"failed", status.failed},
      {"givenUp", status.given_up},    {"lost", status.lost},
      {"attempts", status.attempts}};
  put_problem(document, status.problem, status.problem_at, status.retry_at);
  return document;
}

json::object to_json(const AmqpStatus& status) {
  json::object document{{"url", status.url},
                        {"connected", status.connected},
                        {"delivered", status.delivered},
                        {"lag", status.lag},
                        {"published", status.published},
                        {"refused", status.refused},
                        {"notTold", status.not_told},
                        {"lost", status.lost},
                        {"connections", status.connections}};
  if (!status.blocked.empty()) document["blocked"] = status.blocked;
  put_problem(document, status.problem, status.problem_at, status.retry_at);
  return document;
}

bool wants_a_page(const http::Request& request, const EventQuery& query) {
  if (query.limit) return true;
  const auto accept = request.header("Accept");
  return accept && accept->find("application/json") != std::string_view::npos &&
         accept->find("text/event-stream") == std::string_view::npos;
}

std::optional<std::int64_t> number_of(const http::Request& request) {
  const std::string& text = request.path_parameter("number");
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

http::Response not_there(const http::Request& request, const std::string& what) {
  return http::error_answer(request, 404, "ResourceNotFound", what);
}

http::Response no_such_letter(const http::Request& request) {
  return not_there(request,
                   "webhook " + request.path_parameter("name") +
                       " has no dead letter of that number; GET its dead-letters lists them");
}

}  // namespace

json::value Service::webhooks_json() const {
  json::array all;
  for (const WebhookStatus& status : numbers().webhooks) all.push_back(to_json(status));
  return all;
}

json::value Service::amqp_json() const {
  const auto status = numbers().amqp;
  return status ? json::value(to_json(*status)) : json::value(nullptr);
}

json::value Service::status_json() const {
  return json::object{{"newest", log_.newest()},
                      {"listeners", listeners_.load()},
                      {"webhooks", webhooks_json()},
                      {"amqp", amqp_json()}};
}

void Service::add_routes(http::Router& router) {
  const std::string base = "/api/muster/v1/";
  const auto read = [&](const std::string& path, auto answer) {
    router.add("GET", base + path,
               http::later(readers_, [this, answer](const http::Request& request) {
                 return (this->*answer)(request);
               }));
  };
  router.add("GET", base + "events", [this](http::Request&& request, const http::Reply& reply) {
    answer_events(std::move(request), reply);
  });
  router.add("GET", base + "amqp", http::now([this](const http::Request&) {
               return http::json_answer(json::object{{"amqp", amqp_json()}});
             }));
  router.add("GET", base + "webhooks", http::now([this](const http::Request&) {
               return http::json_answer(json::object{{"webhooks", webhooks_json()}});
             }));
  read("webhooks/{name}", &Service::answer_webhook);
  read("webhooks/{name}/dead-letters", &Service::answer_dead_letters);
  router.add("POST", base + "webhooks/{name}/dead-letters/{number}/retry",
             http::later(readers_,
                         [this](const http::Request& request) { return answer_retry(request); }));
  router.add("DELETE", base + "webhooks/{name}/dead-letters/{number}",
             [this](http::Request&& request, const http::Reply& reply) {
               if (!readers_.run([this, request = std::move(request), reply] {
                     answer_delete(request, reply);
                   }))
                 reply(http::error_answer({}, 503, "ServiceUnavailable",
                                          "too much is being read; try again"));
             });
}

void Service::answer_events(http::Request&& request, const http::Reply& reply) {
  const auto query = parse_event_query(request.query, request.header("Last-Event-ID"));
  if (!query) return reply(http::error_answer(request, query.error()));
  if (wants_a_page(request, *query))
    return http::later(readers_, [this](const http::Request& page) { return answer_page(page); })(
        std::move(request), reply);
  const std::int64_t newest = log_.newest();
  http::Response response{200,
                          {{"Content-Type", "text/event-stream"},
                           {"Cache-Control", "no-store"},
                           {"X-Accel-Buffering", "no"}},
                          "retry: 2000\n\n"};
  response.stream =
      std::make_shared<EventStream>(StreamParts{&log_, &readers_, parts_.clock.get(), &listeners_},
                                    query->filter, query->start(newest, newest));
  reply(std::move(response));
}

http::Response Service::answer_page(const http::Request& request) const {
  const auto query = parse_event_query(request.query, request.header("Last-Event-ID"));
  if (!query) return http::error_answer(request, query.error());
  const EventQuery::Start start = query->start(log_.newest(), 0);
  const auto gone = [&](const std::string& why, std::int64_t next) {
    return http::error_answer(
        request, 410, "EventsGone",
        why + "; read the state anew and go on with after=" + std::to_string(next),
        {{"next", next}, {"newest", log_.newest()}});
  };
  if (start.unknown)
    return gone("event " + std::to_string(start.after) + " has not happened yet", log_.newest());
  auto page = event_page(log_, *query, start);
  if (!page) return http::error_answer(request, page.error());
  if (page->gone)
    return gone("events up to " + std::to_string(*page->gone) + " are no longer kept", *page->gone);
  return {200, {{"Content-Type", "application/json; charset=utf-8"}}, std::move(page->body)};
}

http::Response Service::answer_webhook(const http::Request& request) const {
  const std::string& name = request.path_parameter("name");
  const auto running = find_webhook(name);
  if (!running) return not_there(request, "no webhook is configured under the name " + name);
  const auto letters = book_.dead_letters(Webhook::consumer_of(name), 0, most_counted);
  if (!letters) return http::error_answer(request, letters.error());
  json::object document = to_json(running->webhook->status());
  document["deadLetters"] = letters->size();
  return http::json_answer(document);
}

http::Response Service::answer_dead_letters(const http::Request& request) const {
  const auto query = parse_event_query(request.query, {});
  if (!query) return http::error_answer(request, query.error());
  if (!query->filter.passes_all() || query->last)
    return http::error_answer(request,
                              Error::invalid("dead letters have the parameters after and limit"));
  const std::string& name = request.path_parameter("name");
  const auto limit = static_cast<std::size_t>(query->limit.value_or(usual_limit));
  const auto letters =
      book_.dead_letters(Webhook::consumer_of(name), query->after.value_or(0), limit);
  if (!letters) return http::error_answer(request, letters.error());
  if (letters->empty() && !find_webhook(name))
    return not_there(request, "no webhook is configured under the name " + name +
                                  ", and none of that name has left dead letters");
  json::array all;
  for (const DeadLetterRow& letter : *letters)
    all.push_back(json::object{{"number", letter.number},
                               {"at", format_time(letter.at)},
                               {"attempts", letter.attempts},
                               {"problem", letter.problem},
                               {"event", letter.event}});
  json::object document{{"deadLetters", std::move(all)}};
  if (letters->size() == limit) document["next"] = letters->back().number;
  return http::json_answer(document);
}

http::Response Service::answer_retry(const http::Request& request) {
  const std::string& name = request.path_parameter("name");
  const auto number = number_of(request);
  if (!number) return no_such_letter(request);
  const auto letter = book_.dead_letter(Webhook::consumer_of(name), *number);
  if (!letter) return http::error_answer(request, letter.error());
  if (!*letter) return no_such_letter(request);
  const auto running = find_webhook(name);
  if (!running)
    return http::error_answer(request, 409, "RequestConflict",
                              "no webhook is configured under the name " + name +
                                  "; configure it again, or delete the letter");
  running->webhook->retry_dead_letter(*number);
  return http::json_answer(json::object{{"number", *number}, {"attempts", (*letter)->attempts}},
                           202);
}

void Service::answer_delete(const http::Request& request, const http::Reply& reply) {
  const std::string consumer = Webhook::consumer_of(request.path_parameter("name"));
  const auto number = number_of(request);
  if (!number) return reply(no_such_letter(request));
  const auto letter = book_.dead_letter(consumer, *number);
  if (!letter) return reply(http::error_answer(request, letter.error()));
  if (!*letter) return reply(no_such_letter(request));
  if (!book_.erase(consumer, *number, [reply] { reply({204, {}, ""}); }))
    reply(http::error_answer(request, 503, "ServiceUnavailable", "the host is stopping"));
}

}  // namespace muster::events
