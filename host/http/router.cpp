#include "host/http/router.hpp"

#include <atomic>
#include <exception>
#include <stdexcept>

#include "host/http/answer.hpp"

namespace muster::http {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

using Parameters = std::vector<std::pair<std::string, std::string>>;

// Compared decoded: clients may escape any letter they like.
std::optional<Parameters> match(const std::vector<std::string>& pattern,
                                const std::vector<std::string>& decoded) {
  if (pattern.size() != decoded.size()) return std::nullopt;
  Parameters parameters;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (!is_parameter(pattern[i])) {
      if (pattern[i] != decoded[i]) return std::nullopt;
      continue;
    }
    if (decoded[i].empty()) return std::nullopt;
    parameters.emplace_back(pattern[i].substr(1, pattern[i].size() - 2), decoded[i]);
  }
  return parameters;
}

std::optional<std::vector<std::string>> decode(std::vector<std::string> segments) {
  for (std::string& segment : segments) {
    auto decoded = percent_decode(segment);
    if (!decoded) return std::nullopt;
    segment = std::move(*decoded);
  }
  return segments;
}

Response unexpected(const Request& request) {
  return error_answer(request, 500, "InternalServerError",
                      "the host failed to answer; its log has the reason under this requestId");
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
  if (!state_->answered.exchange(true)) state_->sink(std::move(response));
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
  auto segments = split(pattern);
  routes_.push_back(
      {std::move(method), std::move(pattern), std::move(segments), std::move(handler), access});
}

void Router::route(Request&& request, const Reply& reply) const {
  const auto segments = decode(split(request.path));
  std::vector<std::string> allowed;
  for (const Route& route : routes_) {
    auto parameters = segments ? match(route.segments, *segments) : std::nullopt;
    if (!parameters) continue;
    const bool head_of_get = request.method == "HEAD" && route.method == "GET";
    if (route.method != request.method && !head_of_get) {
      allowed.push_back(route.method);
      continue;
    }
    if (route.access == Access::guarded && turned_away(request, reply)) return;
    request.path_parameters = std::move(*parameters);
    return run(route, std::move(request), reply);
  }
  // Whoever may not come in does not learn what is inside.
  if (request.path.starts_with("/api") && turned_away(request, reply)) return;
  if (!segments)
    return reply(error_answer(request, 400, "InputError", "the path has a broken %-escape"));
  answer_unknown(request, reply, allowed);
}

bool Router::turned_away(const Request& request, const Reply& reply) const {
  if (!guard_) return false;
  auto refusal = guard_(request);
  if (refusal) reply(std::move(*refusal));
  return refusal.has_value();
}

void Router::answer_unknown(const Request& request, const Reply& reply,
                            const std::vector<std::string>& allowed) const {
  if (allowed.empty())
    return reply(error_answer(request, 404, "ResourceNotFound",
                              "there is nothing at this path; GET /api/muster/v1/status shows that "
                              "this is the right host"));
  std::string methods;
  for (const std::string& method : allowed) methods += (methods.empty() ? "" : ", ") + method;
  Response response =
      error_answer(request, 405, "MethodNotAllowed",
                   "this path answers to " + methods + ", not to " + request.method);
  response.headers.push_back({"Allow", methods});
  reply(std::move(response));
}

void Router::run(const Route& route, Request&& request, const Reply& reply) const {
  const std::string id = request.id;
  try {
    route.handler(std::move(request), reply);
    return;
  } catch (const std::exception& error) {
    log_.error("a handler failed",
               {{"request", id}, {"route", route.pattern}, {"what", error.what()}});
  } catch (...) {
    log_.error("a handler failed", {{"request", id}, {"route", route.pattern}});
  }
  Request about;
  about.id = id;
  about.method = route.method;
  about.path = route.pattern;
  reply(unexpected(about));
}

}  // namespace muster::http
