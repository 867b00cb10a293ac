#include "plugins/provider/google/wire.hpp"

#include <algorithm>

#include "lib/url/url.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/google_errors.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::text_of;
using Next = cloud::Reading::Next;

// Google counts calls of a project by the minute: those that read lists, others that read, and
// those that change something. These are half of what it allows, to leave room for others.
cloud::BucketSettings rate_of(const Method& method) {
  if (method.only_reads) return {.per_second = 12, .burst = 100};
  return {.per_second = 12, .burst = 200};
}

bool flag(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_bool() && found->get_bool();
}

// Trouble on the way concerns no single machine type.
ErrorScope place_of(const ErrorScope& about) {
  ErrorScope scope;
  scope.region = about.region;
  scope.zone = about.zone;
  return scope;
}

void add_methods(std::map<std::string, Method>& methods, const char* document) {
  const json::value table = documents.read(document);
  for (const auto& entry : table.as_object()) {
    const json::object& about = entry.value().as_object();
    const bool is_compute = !about.contains("service");
    Method method{.service = is_compute ? "compute" : text_of(about, "service"),
                  .verb = text_of(about, "verb"),
                  .path = (is_compute ? "compute/v1/" : "") + text_of(about, "path"),
                  .query = {},
                  .only_reads = text_of(about, "verb") == "GET" || flag(about, "reads"),
                  .is_public = flag(about, "public")};
    for (const json::value& name : about.at("query").as_array())
      method.query.emplace_back(name.as_string());
    methods.emplace(entry.key(), std::move(method));
  }
}

}  // namespace

// One call on its way.
struct Wire::Sent {
  const Call& call;
  const Method& method;
  TokenCache* tokens;
  const Context& context;
  const std::string url, name;
  std::shared_ptr<const AccessToken> sent_with = {};
  json::object answer = {};
};

Wire::Wire(cloud::Session& session, const Endpoints& endpoints, std::string project)
    : session_(session),
      endpoints_(endpoints),
      project_(std::move(project)),
      errors_(error_table()) {
  add_methods(methods_, "methods");
  add_methods(methods_, "other_methods");
}

Result<std::string> Wire::url_of(const Call& call, const Method& method) const {
  std::string url = endpoints_.url(method.service) + "/";
  for (std::string_view rest = method.path; !rest.empty();) {
    const auto open = rest.find('{');
    url += rest.substr(0, open);
    if (open == rest.npos) break;
    const auto close = rest.find('}', open);
    const std::string key(rest.substr(open + 1, close - open - 1));
    const auto given = call.path.find(key);
    const std::string value = key == "project" ? (call.project.empty() ? project_ : call.project)
                              : given == call.path.end() ? std::string()
                                                         : given->second;
    if (value.empty() || value == "." || value == "..")
      return Error::invalid("the path of " + call.method + " lacks a good " + key);
    url += encode_segment(value);
    rest.remove_prefix(close + 1);
  }
  char separator = '?';
  for (const auto& [key, value] : call.query) {
    if (std::ranges::find(method.query, key) == method.query.end())
      return Error::invalid(call.method + " has no parameter \"" + key + "\"");
    url += std::exchange(separator, '&') + key + "=" + encode_segment(value);
  }
  return url;
}

Result<json::object> Wire::call(const Call& call, TokenCache* tokens, const Context& context) {
  const auto method = methods_.find(call.method);
  if (method == methods_.end())
    return Error::invalid("Google's description has no method \"" + call.method + "\"");
  auto url = url_of(call, method->second);
  if (!url) return url.error();
  std::string name = call.method;
  for (const char* place : {"zone", "region"})
    if (const auto found = call.path.find(place); found != call.path.end())
      name += " in " + found->second;
  Sent sent{.call = call,
            .method = method->second,
            .tokens = method->second.is_public ? nullptr : tokens,
            .context = context,
            .url = std::move(*url),
            .name = std::move(name)};
  const std::string& service = method->second.service;
  const auto answer = session_.run(
      {.api = service + (method->second.only_reads ? " reads" : " changes"),
       .name = sent.name,
       .server = endpoints_.url(service),
       .repeatable = call.idempotent,
       .prepare = [&](Time) { return prepare(sent); },
       .read = [&](const http_client::Response& response) { return read(sent, response); },
       .drop_credentials =
           [&] {
             if (sent.tokens) sent.tokens->discard(sent.sent_with);
           },
       .rate = rate_of(method->second)},
      context);
  if (answer) return std::move(sent.answer);
  Error error = answer.error();
  error.message = redactor_.redact(error.message);
  if (error.code.empty() && error.error_class != ErrorClass::cancelled) {
    error.code = no_answer_code;
    if (error.scope.whole_provider() && error.error_class != ErrorClass::auth)
      error.scope = place_of(call.about);
  }
  return error;
}

Result<http_client::Request> Wire::prepare(Sent& sent) const {
  http_client::Request request{.url = sent.url, .method = sent.method.verb};
  if (sent.call.body) {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = json::write(*sent.call.body);
  } else if (request.method == "POST") {
    request.body = "";
  }
  if (!sent.tokens) return request;
  const auto token = sent.tokens->get(sent.context);
  if (!token) {
    Error error = token.error();
    error.message = sent.name + " was not sent: " + error.message;
    return error;
  }
  sent.sent_with = *token;
  redactor_.add(sent.sent_with->text.reveal());
  request.headers.push_back({"Authorization", "Bearer " + sent.sent_with->text.reveal()});
  return request;
}

Error Wire::strange_answer(const Sent& sent, const std::string& what) const {
  Error error =
      Error::transient(sent.name + ": " + endpoints_.url(sent.method.service) + " " + what)
          .with_code(bad_answer_code);
  error.scope = place_of(sent.call.about);
  return error;
}

cloud::Reading Wire::read(Sent& sent, const http_client::Response& response) const {
  if (!response.is_success()) return read_failure(sent, response);
  if (response.body.empty() && sent.method.verb == "DELETE") return {};
  auto answer = json::parse_object(response.body);
  if (answer) {
    sent.answer = std::move(*answer);
    return {};
  }
  const std::string body = describe_body(response.body);
  const bool is_page = body == "a web page";
  return {is_page ? Next::done : Next::repeat,
          strange_answer(sent, "answered with " + body + (is_page ? cloud::advice_for(200) : ""))};
}

cloud::Reading Wire::read_failure(const Sent& sent, const http_client::Response& response) const {
  // Before anything is cut off, so that no part of a secret is left.
  cloud::CloudError said = read_error(errors_, response.status, redactor_.redact(response.body));
  if (!said.code.empty()) {
    Error error = classify(errors_, sent.name, said, sent.call.about);
    const Next next = cloud::next_after(errors_.find(said.code), error);
    return {next, std::move(error)};
  }
  Error error =
      strange_answer(sent, "answered with HTTP status " + std::to_string(response.status) +
                               " and " + cloud::printable(describe_body(response.body)));
  if (response.status < 500) error.message += cloud::advice_for(response.status);
  if (response.status == 407) error.error_class = ErrorClass::auth;
  if (response.status == 429) error.error_class = ErrorClass::throttle;
  if (response.status == 429) return {Next::slow_down, std::move(error)};
  return {response.status >= 500 ? Next::repeat : Next::done, std::move(error)};
}

}  // namespace muster::google
