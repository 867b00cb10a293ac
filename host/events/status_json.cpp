// What the service says of itself, as documents.
#include <muster/codec.hpp>

#include "host/events/running.hpp"

namespace muster::events {
namespace {

void put_problem(json::object& document, const std::string& problem,
                 const std::optional<Time>& problem_at, const std::optional<Time>& retry_at) {
  if (!problem.empty()) document["problem"] = problem;
  if (problem_at) document["problemAt"] = format_time(*problem_at);
  if (retry_at) document["retryAt"] = format_time(*retry_at);
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

}  // namespace

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

}  // namespace muster::events
