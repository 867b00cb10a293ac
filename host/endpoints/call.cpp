#include "host/endpoints/call.hpp"

#include <algorithm>
#include <stdexcept>

#include "host/auth/authority.hpp"

namespace muster::endpoints {
namespace {

// "<name>" replaced by its value.
template <class ValueOf>
std::string rendered(std::string_view scope, ValueOf value_of) {
  std::string text;
  for (std::size_t at = 0; at < scope.size();) {
    const auto open = std::min(scope.find('<', at), scope.size());
    text += scope.substr(at, open - at);
    if (open == scope.size()) break;
    const auto close = scope.find('>', open);
    text += value_of(scope.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return text;
}

}  // namespace

Call::Call(std::shared_ptr<const Api> api, const Endpoint& endpoint, http::Request&& request,
           http::Reply reply)
    : api_(std::move(api)),
      endpoint_(endpoint),
      request_(std::move(request)),
      reply_(std::move(reply)),
      parameters_(request_.path_parameters),
      query_(request_.query),
      payload_(json::object()),
      caller_(request_.caller) {
  // Before 2023 some clients wrote /workers/<pool>:/<group>; no pool has a colon in its name.
  if (endpoint_.colon_alias && !parameters_.empty() && parameters_.front().second.ends_with(':'))
    parameters_.front().second.pop_back();
}

bool Call::authenticate() {
  if (caller_) return true;
  auto caller = host().authority->authenticate(request_);
  if (caller) {
    caller_ = std::move(*caller);
    return true;
  }
  fail_authentication(caller.error());
  return false;
}

bool Call::authenticate_head() {
  if (caller_) return true;
  auto verified = host().authority->authenticate_head(request_);
  if (!verified) return fail_authentication(verified.error()), false;
  caller_ = std::move(verified->caller);
  signed_hash_ = std::move(verified->hash);
  return true;
}

void Call::fail_authentication(const Error& error) const {
  if (error.error_class == ErrorClass::throttle) {
    host().authority->refusals().count(auth::Refusals::Reason::lockout);
    return fail({"TooManyRequests", error.message, error.hold});
  }
  fail({"AuthenticationFailed", error.message},
       {{"WWW-Authenticate", auth::Authority::challenge(error)}});
}

std::string Call::scope_value(std::string_view name, const Values& values) const {
  for (const Values* known : {&values, &parameters_})
    if (const auto found = std::ranges::find(*known, name, &Values::value_type::first);
        found != known->end())
      return found->second;
  if (const auto* body = payload_.if_object())
    if (const json::value* member = body->if_contains(name); member && member->is_string())
      return std::string(member->get_string());
  const std::string asked = query_.text(name);
  return asked.empty() ? "*" : asked;
}

std::optional<Failure> Call::refuse(const Values& values) const {
  std::vector<auth::Expression> scopes;
  for (const std::string_view scope : endpoint_.scopes.list())
    scopes.push_back(auth::scope(
        rendered(scope, [&](std::string_view name) { return scope_value(name, values); })));
  const auth::Expression wanted =
      scopes.size() == 1 ? scopes.front() : auth::all_of(std::move(scopes));
  auto refusal = auth::Authority::refuse(*caller_, wanted);
  if (!refusal) return std::nullopt;
  return Failure{"InsufficientScopes", std::move(*refusal)};
}

bool Call::authorize() {
  if (!authenticate()) return false;
  const auto refusal = refuse({});
  if (refusal) fail(*refusal);
  return !refusal;
}

const std::string& Call::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Values::value_type::first);
  if (found == parameters_.end()) throw std::logic_error("no parameter " + std::string(name));
  return found->second;
}

const std::string& Call::client_id() const {
  static const std::string nobody;
  return caller_ ? caller_->client_id : nobody;
}

std::string Call::text(std::string_view name) const {
  return std::string(body().at(name).as_string());
}

// -------------------------------------------------------------------------------------------------
// Answers

void Call::respond(http::Response response) const {
  if (caller_) response.client_id = caller_->client_id;
  reply_(std::move(response));
}

void Call::answer(std::string body) const {
  respond(api_->answer(*this, std::move(body)));
}

void Call::count_refusal(const Failure& failure) const {
  using auth::Refusals;
  Refusals& refusals = host().authority->refusals();
  if (failure.code == "InsufficientScopes") refusals.count(Refusals::Reason::scopes);
  if (failure.code == "AuthenticationFailed") refusals.count(Refusals::Reason::credentials);
}

void Call::fail(const Failure& failure, std::vector<http::Header> headers) const {
  if (host().authority) count_refusal(failure);
  http::Response response = api_->failure(*this, failure, std::move(headers));
  if (failure.retry_after)
    response.headers.push_back({"Retry-After", std::to_string(failure.retry_after->count())});
  respond(std::move(response));
}

void Call::finish(Answer answer) const {
  if (answer)
    this->answer(std::move(*answer));
  else
    fail(answer.error());
}

void Call::fail_unexpectedly(std::string_view what) const {
  host().log.error("a handler failed", {{"request", request_.id},
                                        {"endpoint", std::string(endpoint_.name)},
                                        {"what", std::string(what)}});
  fail({"InternalServerError",
        "the host failed to answer; its log has the reason under requestId " + request_.id});
}

}  // namespace muster::endpoints
