#include "lib/http/router.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>

#include <muster/utf8.hpp>

#include "lib/http/answer.hpp"
#include "lib/http/query_text.hpp"

namespace muster::http {
namespace {

Response unexpected(const Request& request) {
  return error_answer(request, 500, "InternalServerError",
                      "the host failed to answer; its log has the reason under this requestId");
}

// A broken escape is not meant: APIs differ in what they say of it.
std::string_view problem_of_query(std::string_view query) {
  const auto is_sound = [](std::string_view written) {
    const auto decoded = percent_decode(written);
    return is_plain_text(decoded ? *decoded : written);
  };
  for (const auto& [name, value] : split_query(query))
    if (!is_sound(name) || !is_sound(value))
      return "the query has, after decoding, bytes that are no UTF-8, or control characters";
  return {};
}

}  // namespace

struct Reply::State {
  Sink sink;
  Request about;  // just enough of the request for an error's body
  std::atomic<bool> answered = false;

  ~State() {
    if (!answered) sink(unexpected(about));
  }
};

Reply::Reply(Sink sink, const Request& request) : state_(std::make_shared<State>()) {
  state_->sink = std::move(sink);
  state_->about.method = request.method;
  state_->about.path = request.path;
  state_->about.id = request.id;
}

void Reply::operator()(Response response) const {
  if (state_->answered.exchange(true)) return;
  if (response.client_id.empty()) response.client_id = state_->about.client_id;
  state_->sink(std::move(response));
}

void Reply::asked_by(std::string client_id) const {
  state_->about.client_id = std::move(client_id);
}

const Request& Reply::about() const {
  return state_->about;
}

Handler now(std::function<Response(const Request&)> answer) {
  return [answer = std::move(answer)](Request&& request, const Reply& reply) {
    reply(answer(request));
  };
}

Handler later(WorkerThreads& workers, std::function<Response(const Request&)> answer) {
  auto shared = std::make_shared<std::function<Response(const Request&)>>(std::move(answer));
  return [&workers, shared](Request&& request, const Reply& reply) {
    const auto kept = std::make_shared<Request>(std::move(request));
    // Without an answer, because it threw, the reply itself says 500.
    const bool queued = workers.run([shared, kept, reply] { reply((*shared)(*kept)); });
    if (!queued)
      reply(error_answer(*kept, 503, "ServiceUnavailable",
                         "the host is busy with other requests of this kind; try again in a "
                         "few seconds"));
  };
}

void Router::add(std::string method, std::string pattern, Handler handler, Access access) {
  for (const Route& route : routes_)
    if (route.method == method && route.pattern == pattern)
      throw std::logic_error(method + " " + pattern + " has two handlers");
  PathPattern path(pattern);
  table_.add(path, routes_.size());
  routes_.push_back(
      {std::move(method), std::move(pattern), std::move(path), std::move(handler), access});
}

void Router::fallback(std::string prefix, Handler handler) {
  fallbacks_.push_back({std::move(prefix), std::move(handler)});
  std::stable_sort(fallbacks_.begin(), fallbacks_.end(), [](const Fallback& a, const Fallback& b) {
    return a.prefix.size() > b.prefix.size();
  });
}

Router::Found Router::find(Request& request) const {
  const PathSegments path(request.path);
  Found found;
  found.problem = path.problem().empty() ? problem_of_query(request.query) : path.problem();
  if (!found.problem.empty()) return found;
  const std::string_view wanted =
      request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  for (const std::size_t number : table_.candidates(path)) {
    const Route& route = routes_[number];
    if (!route.path.fits(path)) continue;
    if (route.method == wanted) {
      request.path_parameters = route.path.parameters(path);
      found.route = number;
      return found;
    }
    if (found.allowed.find(route.method) == std::string::npos)
      found.allowed += (found.allowed.empty() ? "" : ", ") + route.method;
  }
  return found;
}

void Router::answer(const Found& found, Request&& request, const Reply& reply) const {
  if (found.route == none) return answer_unknown(found, std::move(request), reply);
  const Route& route = routes_[found.route];
  request.route = route.pattern;
  if (route.access == Access::guarded && turned_away(request, reply)) return;
  run(route.handler, route.pattern, std::move(request), reply);
}

void Router::route(Request&& request, const Reply& reply) const {
  const Found found = find(request);
  answer(found, std::move(request), reply);
}

bool Router::turned_away(Request& request, const Reply& reply) const {
  if (!guard_) return false;
  auto refusal = guard_(request);
  reply.asked_by(request.client_id);
  if (refusal) reply(std::move(*refusal));
  return refusal.has_value();
}

void Router::answer_unknown(const Found& found, Request&& request, const Reply& reply) const {
  if (!found.problem.empty())  // it says nothing of what is there, so everybody may know
    return reply(error_answer(request, 400, "InputError", found.problem));
  if (request.method == "OPTIONS") {  // without credentials: browsers send none with it
    Response response{204, {}, ""};
    const bool hidden = request.path.starts_with("/api");
    if (!found.allowed.empty() && !hidden) response.headers.push_back({"Allow", found.allowed});
    return reply(std::move(response));
  }
  for (const Fallback& fallback : fallbacks_)
    if (request.path.starts_with(fallback.prefix))
      return run(fallback.handler, fallback.prefix, std::move(request), reply);
  // A caller without access does not learn which paths exist.
  if (request.path.starts_with("/api") && turned_away(request, reply)) return;
  if (found.allowed.empty())
    return reply(error_answer(request, 404, "ResourceNotFound",
                              "there is nothing at this path; GET /api/muster/v1 lists what there "
                              "is"));
  Response response =
      error_answer(request, 405, "MethodNotAllowed",
                   "this path answers to " + found.allowed + ", not to " + request.method);
  response.headers.push_back({"Allow", found.allowed});
  reply(std::move(response));
}

void Router::run(const Handler& handler, const std::string& name, Request&& request,
                 const Reply& reply) const {
  try {
    handler(std::move(request), reply);
    return;
  } catch (const std::exception& error) {
    log_.error("a handler failed",
               {{"request", reply.about().id}, {"route", name}, {"what", error.what()}});
  } catch (...) {
    log_.error("a handler failed", {{"request", reply.about().id}, {"route", name}});
  }
  reply(unexpected(reply.about()));
}

}  // namespace muster::http
