#include "host/taskcluster_api/call.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "host/auth/authority.hpp"
#include "host/fleet/service.hpp"
#include "host/registration/refusal.hpp"
#include "host/taskcluster_api/pretty_text.hpp"
#include "lib/base/letter_case.hpp"
#include "lib/http/query_text.hpp"

namespace muster::taskcluster_api {
namespace {

constexpr std::string_view omitted = "(OMITTED)";
constexpr std::size_t longest_shown = 64 * 1024;  // nobody reads more of it, and it costs

bool is_json(const http::Request& request) {
  const std::string type = to_lower(request.header("content-type").value_or(""));
  const std::string_view word = std::string_view(type).substr(0, type.find(';'));
  const auto last = word.find_last_not_of(" \t");
  return last != std::string_view::npos && word.substr(0, last + 1) == "application/json";
}

std::string decode_query(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return http::percent_decode(spaced).value_or(spaced);
}

// "<name>" replaced by its value.
std::string rendered(std::string_view scope, const Values& values) {
  std::string text;
  for (std::size_t at = 0; at < scope.size();) {
    const auto open = std::min(scope.find('<', at), scope.size());
    text += scope.substr(at, open - at);
    if (open == scope.size()) break;
    const auto close = scope.find('>', open);
    const std::string_view name = scope.substr(open + 1, close - open - 1);
    const auto value = std::ranges::find(values, name, &Values::value_type::first);
    if (value == values.end()) throw std::logic_error("no value for " + std::string(name));
    text += value->second;
    at = close + 1;
  }
  return text;
}

}  // namespace

int status_of(std::string_view code) {
  static constexpr std::array<std::pair<std::string_view, int>, 14> statuses{
      {{"MalformedPayload", 400},
       {"InvalidRequestArguments", 400},
       {"InputValidationError", 400},
       {"InputError", 400},
       {"AuthenticationFailed", 401},
       {"InsufficientScopes", 403},
       {"ResourceNotFound", 404},
       {"RequestConflict", 409},
       {"ResourceExpired", 410},
       {"InputTooLarge", 413},
       {"TooManyRequests", 429},
       {"ProviderSetupFailed", 503},
       {"ReadOnly", 503},
       {"ServiceUnavailable", 503}}};
  const auto found = std::ranges::find(statuses, code, &std::pair<std::string_view, int>::first);
  return found == statuses.end() ? 500 : found->second;
}

Failure input_error(std::string message) {
  return {"InputError", std::move(message)};
}
Failure not_found(std::string message) {
  return {"ResourceNotFound", std::move(message)};
}
Failure conflict(std::string message) {
  return {"RequestConflict", std::move(message)};
}

Failure to_failure(const Error& error) {
  if (error.code == "gone") return {"ResourceExpired", error.message};
  if (error.code == "conflict") return conflict(error.message);
  if (error.code == "readOnly") return {"ReadOnly", error.message};
  switch (error.error_class) {
    case ErrorClass::invalid:
    case ErrorClass::auth:
    case ErrorClass::config:
    case ErrorClass::unsupported:
      return input_error(error.message);
    case ErrorClass::not_found:
      return not_found(error.message);
    default:
      return {"ServiceUnavailable", error.message};
  }
}

Failure to_failure(const registration::Refusal& refusal) {
  return {registration::code_of(refusal.reason), refusal.message, refusal.retry_after};
}

// -------------------------------------------------------------------------------------------------
// The call itself

Call::Call(std::shared_ptr<const Api> api, const Endpoint& endpoint, http::Request&& request,
           http::Reply reply)
    : api_(std::move(api)),
      endpoint_(endpoint),
      request_(std::move(request)),
      reply_(std::move(reply)),
      parameters_(request_.path_parameters),
      payload_(json::object()) {
  // Before 2023 some clients wrote /workers/<pool>:/<group>; no pool has a colon in its name.
  if (endpoint_.colon_alias && !parameters_.empty() && parameters_.front().second.ends_with(':'))
    parameters_.front().second.pop_back();
}

bool Call::passes_checks() {
  if (!parse_body() || !parse_query()) return false;
  if (!endpoint_.scopes.empty() && !endpoint_.authorizes_itself() && !authorize({})) return false;
  return check_parameters() && check_query() && check_input();
}

bool Call::parse_body() {
  if (request_.body.empty() || !is_json(request_)) return true;
  auto parsed = json::parse(request_.body);
  if (parsed && (parsed->is_object() || parsed->is_array())) {
    payload_ = std::move(*parsed);
    return true;
  }
  unreadable_ = true;
  fail({"MalformedPayload", "Failed to parse JSON: " +
                                (parsed ? "Must be an object or array" : parsed.error().message)});
  return false;
}

bool Call::check_parameters() {
  std::string mistakes;
  for (const auto& [name, value] : parameters_) {
    const Pattern* pattern = pattern_of_parameter(name);
    if (!pattern || pattern->matches(value)) continue;
    mistakes += "\nURL parameter '" + name + "' given as '" + value +
                "' must match regular expression: '" + std::string(pattern->text) + "'";
  }
  if (mistakes.empty()) return true;
  fail({"InvalidRequestArguments", "Invalid URL patterns:" + mistakes});
  return false;
}

bool Call::parse_query() {
  for (const auto& [name, value] : http::split_query(request_.query))
    query_.emplace_back(decode_query(name), decode_query(value));
  return true;
}

bool Call::check_query() {
  std::string mistakes;
  const auto mistake = [&](const std::string& text) {
    mistakes += (mistakes.empty() ? "" : "\n") + text;
  };
  for (std::size_t i = 0; i < query_.size(); ++i) {
    const auto& [name, value] = query_[i];
    const auto known = std::ranges::find(endpoint_.query, name, &QueryKey::name);
    const auto same_name = [&](const auto& pair) { return pair.first == name; };
    const auto first = std::ranges::find_if(query_, same_name) - query_.begin();
    if (static_cast<std::size_t>(first) != i) continue;  // what it is was said
    if (known == endpoint_.query.end()) {
      if (name != "bewit") mistake("Query-string parameter: " + name + " is not supported!");
    } else if (std::ranges::count_if(query_, same_name) > 1) {
      mistake("Query-string parameter: " + name + " must be a string!");
    } else if (!known->pattern->matches(value)) {
      mistake("Query-string parameter: " + name + "=\"" + value +
              "\" does not match expression: " + std::string(known->pattern->text));
    }
  }
  if (mistakes.empty()) return true;
  fail({"InvalidRequestArguments", std::move(mistakes)});
  return false;
}

bool Call::check_input() {
  if (endpoint_.input.empty()) return true;
  if (!is_json(request_)) {
    const auto type = request_.header("content-type");
    fail({"MalformedPayload",
          "Payload must be JSON with content-type: application/json got content-type: " +
              std::string(type.value_or("null"))});
    return false;
  }
  if (auto mistakes = api_->schemas.refuse(endpoint_.input, payload_)) {
    fail({"InputValidationError", std::move(*mistakes)});
    return false;
  }
  return true;
}

bool Call::authenticate() {
  if (caller_) return true;
  auto caller = parts().authority->authenticate(request_);
  if (caller) {
    caller_ = std::move(*caller);
    return true;
  }
  const Error& error = caller.error();
  if (error.error_class == ErrorClass::throttle)
    fail({"TooManyRequests", error.message, error.hold});
  else
    fail({"AuthenticationFailed", error.message},
         {{"WWW-Authenticate", auth::Authority::challenge(error)}});
  return false;
}

bool Call::authorize(const Values& values) {
  if (!authenticate()) return false;
  Values all = parameters_;
  all.insert(all.end(), values.begin(), values.end());
  std::vector<auth::Expression> scopes;
  for (const std::string_view scope : endpoint_.scopes)
    scopes.push_back(auth::scope(rendered(scope, all)));
  const auth::Expression wanted =
      scopes.size() == 1 ? scopes.front() : auth::all_of(std::move(scopes));
  auto refusal = auth::Authority::refuse(*caller_, wanted);
  if (!refusal) return true;
  fail({"InsufficientScopes", std::move(*refusal)});
  return false;
}

const std::string& Call::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Values::value_type::first);
  if (found == parameters_.end()) throw std::logic_error("no parameter " + std::string(name));
  return found->second;
}

std::optional<std::string_view> Call::query(std::string_view name) const {
  const auto found = std::ranges::find(query_, name, &Values::value_type::first);
  if (found == query_.end()) return std::nullopt;
  return found->second;
}

std::string Call::client_id() const {
  return caller_ ? caller_->client_id : "";
}

std::string Call::text(std::string_view name) const {
  return std::string(body().at(name).as_string());
}

// -------------------------------------------------------------------------------------------------
// Answers

void Call::answer(std::string body) const {
  http::Response response{.headers = {{"Content-Type", "application/json; charset=utf-8"}},
                          .body = std::move(body)};
  if (caller_) response.client_id = caller_->client_id;
  reply_(std::move(response));
}

json::value Call::shown_payload() const {
  if (endpoint_.payload == Payload::omitted || request_.body.size() > longest_shown)
    return json::value(omitted);
  if (unreadable_)
    return json::value(endpoint_.payload == Payload::shown ? std::string_view(request_.body)
                                                           : omitted);
  json::value shown = payload_;
  if (endpoint_.payload == Payload::secret_masked && shown.is_object())
    if (json::value* info = shown.get_object().if_contains("providerInfo"))
      if (info->is_object() && info->get_object().contains("staticSecret"))
        info->get_object()["staticSecret"] = omitted;
  return shown;
}

void Call::fail(const Failure& failure, std::vector<http::Header> headers) const {
  const int status = status_of(failure.code);
  std::string time;
  append_time(time, parts().clock->now());
  const std::string name(endpoint_.name);
  const std::string message = failure.message + "\n\n---\n\n* method:     " + name +
                              "\n* errorCode:  " + std::string(failure.code) +
                              "\n* statusCode: " + std::to_string(status) +
                              "\n* time:       " + time;
  PrettyText text;
  text.begin_object().key("code").string(failure.code).key("message").string(message);
  text.key("requestInfo").begin_object().key("method").string(name);
  text.key("params").begin_object();
  for (const auto& [key, value] : parameters_) text.key(key).string(value);
  text.end_object().key("payload").value(shown_payload());
  text.key("time").string(time).end_object().end_object();
  headers.push_back({"Content-Type", "application/json; charset=utf-8"});
  if (failure.retry_after)
    headers.push_back({"Retry-After", std::to_string(failure.retry_after->count())});
  http::Response response{.status = status, .headers = std::move(headers), .body = text.take()};
  if (caller_) response.client_id = caller_->client_id;
  reply_(std::move(response));
}

void Call::finish(Answer answer) const {
  if (answer)
    this->answer(std::move(*answer));
  else
    fail(answer.error());
}

// -------------------------------------------------------------------------------------------------
// Where the work is done

namespace {

bool has_fleet(const CallPtr& call) {
  if (call->parts().fleet) return true;
  call->fail({"ServiceUnavailable", call->parts().problem});
  return false;
}

// Handlers run on threads of others there, where an exception would end the host.
template <class Work>
Answer guarded(const CallPtr& call, Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    call->parts().log.error("a handler failed",
                            {{"request", call->request().id}, {"what", error.what()}});
    return Failure{"InternalServerError",
                   "Internal Server Error, the host's log has the reason under requestId " +
                       call->request().id};
  }
}

}  // namespace

bool can_change(const CallPtr& call) {
  if (!has_fleet(call)) return false;
  const store::Health health = call->parts().fleet->store_health();
  if (!health.ok) call->fail({"ReadOnly", health.sentence});
  return health.ok;
}

void look(const CallPtr& call, std::function<Answer(const fleet::Fleet&, fleet::Now)> look) {
  if (!has_fleet(call)) return;
  call->parts().fleet->look(
      [call, look = std::move(look)](const fleet::Fleet& fleet, fleet::Now now) {
        call->finish(guarded(call, [&] { return look(fleet, now); }));
      });
}

void change(const CallPtr& call, std::function<Answer(fleet::Fleet&, fleet::Now)> change) {
  if (!can_change(call)) return;
  auto made = std::make_shared<Answer>(Failure{"InternalServerError", "nothing was done"});
  call->parts().fleet->post(
      [call, made, change = std::move(change)](fleet::Fleet& fleet, fleet::Now now) {
        *made = guarded(call, [&] { return change(fleet, now); });
      },
      [call, made] { call->finish(std::move(*made)); });
}

void later(const CallPtr& call, std::function<void()> work) {
  const bool queued = call->parts().workers->run([call, work = std::move(work)] { work(); });
  if (!queued)
    call->fail({"ServiceUnavailable",
                "the host is busy with other requests of this kind; try again in a few seconds",
                std::chrono::seconds(2)});
}

}  // namespace muster::taskcluster_api
