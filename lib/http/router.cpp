#include "lib/http/router.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <utility>

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

void Router::add(std::string method, std::string pattern, Handler handler, RouteRules rules) {
  for (const Route& route : routes_)
    if (route.method == method && route.pattern == pattern)
      throw std::logic_error(method + " " + pattern + " has two handlers");
  PathPattern path(pattern);
  table_.add(path, routes_.size());
  routes_.push_back({std::move(method), std::move(pattern), std::move(path), std::move(handler),
                     std::move(rules)});
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
      request.route = route.pattern;
      found.route = number;
      return found;
    }
    if (found.allowed.find(route.method) == std::string::npos)
      found.allowed += (found.allowed.empty() ? "" : ", ") + route.method;
  }
  return found;
}

bool Router::has_fallback(const Request& request) const {
  return std::any_of(fallbacks_.begin(), fallbacks_.end(), [&](const Fallback& fallback) {
    return request.path.starts_with(fallback.prefix);
  });
}

std::optional<Response> Router::check_head(const Found& found, Request& request, bool small) const {
  if (!found.problem.empty()) return std::nullopt;  // everybody may know of it
  if (found.route == none) {
    // A caller without access does not learn which paths exist. Browsers send no credentials with
    // OPTIONS.
    const bool hidden = request.path.starts_with("/api") && request.method != "OPTIONS";
    return guard_ && hidden && !has_fallback(request) ? guard_(request) : std::nullopt;
  }
  const RouteRules& rules = routes_[found.route].rules;
  if (rules.access == Access::guarded) return guard_ ? guard_(request) : std::nullopt;
  return rules.check_head && !small ? rules.check_head(request) : std::nullopt;
}

Router::Admission Router::admit(const Found& found, Request& request,
                                std::optional<std::uint64_t> announced,
                                const RequestLimits& limits) const {
  Admission admission;
  const std::uint64_t open = std::min(limits.max_body_bytes, limits.max_open_body_bytes);
  try {
    admission.refusal = check_head(found, request, announced && *announced <= open);
  } catch (const std::exception& error) {
    log_.error("a check of credentials failed", {{"request", request.id}, {"what", error.what()}});
    admission.refusal = unexpected(request);
  }
  const bool guarded = found.route != none && routes_[found.route].rules.access == Access::guarded;
  admission.known_caller = !request.client_id.empty() || (guarded && !guard_);
  admission.max_body_bytes = admission.known_caller ? limits.max_body_bytes : open;
  const std::uint64_t of_route =
      found.route == none ? 0 : routes_[found.route].rules.max_body_bytes;
  if (of_route > 0) admission.max_body_bytes = std::min(admission.max_body_bytes, of_route);
  return admission;
}

void Router::answer(const Found& found, Request&& request, const Reply& reply) const {
  reply.asked_by(request.client_id);
  if (large_bodies_ && request.body.size() > large_body)
    return answer_large(found, std::move(request), reply);
  answer_here(found, std::move(request), reply);
}

void Router::answer_large(const Found& found, Request&& request, const Reply& reply) const {
  const auto kept = std::make_shared<Request>(std::move(request));
  const bool queued = large_bodies_->run(
      [this, found, kept, reply] { answer_here(found, std::move(*kept), reply); });
  if (queued) return;
  Response busy = error_answer(*kept, 503, "ServiceUnavailable",
                               "the host reads other large requests; try again in a few seconds");
  busy.headers.push_back({"Retry-After", "2"});
  reply(std::move(busy));
}

void Router::answer_here(const Found& found, Request&& request, const Reply& reply) const {
  if (request.verify_body)
    if (auto refusal = std::exchange(request.verify_body, {})(request))
      return reply(std::move(*refusal));
  if (found.route == none) return answer_unknown(found, std::move(request), reply);
  const Route& route = routes_[found.route];
  run(route.handler, route.pattern, std::move(request), reply);
}

void Router::route(Request&& request, const Reply& reply) const {
  const Found found = find(request);
  auto admission = admit(found, request, request.body.size(), {});
  if (!admission.refusal) return answer(found, std::move(request), reply);
  reply.asked_by(request.client_id);
  reply(std::move(*admission.refusal));
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
