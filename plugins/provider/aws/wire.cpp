#include "plugins/provider/aws/wire.hpp"

#include "plugins/provider/aws/query.hpp"

namespace muster::aws {
namespace {

using Next = cloud::Reading::Next;

bool only_reads(const std::string& action) {
  return action.starts_with("Describe") || action.starts_with("Get") || action.starts_with("List");
}

// AWS counts the calls of an account for each region: those that read together, others each for
// itself. These are EC2's published rates.
cloud::BucketSettings rate_of(const std::string& action) {
  if (only_reads(action)) return {.per_second = 20, .burst = 100};
  if (action == "RunInstances") return {.per_second = 2, .burst = 5};
  return {.per_second = 5, .burst = 50};
}

}  // namespace

// One call on its way.
struct Wire::Sent {
  const Call& call;
  const Service& service;
  CredentialsCache* credentials;
  const Context& context;
  const std::string url, body, name;
  std::shared_ptr<const Credentials> signed_with = {};
  json::object answer = {};
};

Wire::Wire(cloud::Session& session, Endpoints endpoints)
    : session_(session),
      endpoints_(std::move(endpoints)),
      errors_(cloud::ErrorTable::read(documents.read("errors").as_object()).value()) {}

Result<json::object> Wire::call(const Call& call, CredentialsCache* credentials,
                                const Context& context) {
  const std::string name = call.service + " " + call.action + " in " + call.region;
  const Service* const service = model_.service(call.service);
  if (!service) return Error::invalid("the model has no service \"" + call.service + "\"");
  auto url = endpoints_.url(service->endpoint_prefix, call.region);
  if (!url) return url.error();
  auto body = write_body(*service, call.action, call.parameters);
  if (!body) return Error::invalid(name + ": " + body.error().message);
  Sent sent{.call = call,
            .service = *service,
            .credentials = credentials,
            .context = context,
            .url = std::move(*url),
            .body = std::move(*body),
            .name = name};
  const std::string group = only_reads(call.action) ? "reading calls" : call.action;
  const auto answer = session_.run(
      {.api = call.service + " " + call.region + " " + group,
       .name = name,
       .server = sent.url,
       .repeatable = call.idempotent,
       .prepare = [&](Time server_time) { return prepare(sent, server_time); },
       .read = [&](const http_client::Response& response) { return read(sent, response); },
       .drop_credentials =
           [&] {
             if (credentials) credentials->discard(sent.signed_with);
           },
       .rate = rate_of(call.action)},
      context);
  if (answer) return std::move(sent.answer);
  Error error = answer.error();
  error.message = redactor_.redact(error.message);
  if (error.code.empty() && error.error_class != ErrorClass::cancelled) {
    error.code = no_answer_code;
    if (!error.scope.region) error.scope.region = call.region;
  }
  return error;
}

Result<http_client::Request> Wire::prepare(Sent& sent, Time server_time) {
  http_client::Request request{.url = sent.url, .method = "POST", .body = sent.body};
  if (sent.service.protocol == "json") {
    request.headers = {{"Content-Type", "application/x-amz-json-" + sent.service.json_version},
                       {"X-Amz-Target", sent.service.target_prefix + "." + sent.call.action}};
  } else {
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  }
  if (!sent.credentials) return request;
  auto credentials = sent.credentials->get(sent.context);
  if (!credentials) {
    Error error = credentials.error();
    error.message = sent.name + " was not sent: " + error.message;
    return error;
  }
  sent.signed_with = *credentials;
  redactor_.add(sent.signed_with->secret_access_key.reveal());
  redactor_.add(sent.signed_with->session_token.reveal());
  auto headers = sign_request(request, *sent.signed_with,
                              {.region = sent.call.region, .service = sent.service.endpoint_prefix},
                              server_time);
  if (!headers) return headers.error();
  request.headers = std::move(*headers);
  return request;
}

Error Wire::strange_answer(const Sent& sent, const std::string& what) const {
  return Error::transient(sent.name + ": " + sent.url + " " + what)
      .in_region(sent.call.region)
      .with_code(bad_answer_code);
}

Error Wire::classify(const std::string& call, cloud::CloudError said, const std::string& region,
                     ErrorScope about) const {
  said.message = redactor_.redact(said.message);
  about.region = region;
  return errors_.classify(call, said, about);
}

cloud::Reading Wire::read(Sent& sent, const http_client::Response& response) {
  if (!response.is_success()) return read_failure(sent, response);
  auto answer = read_body(sent.service, sent.call.action, response.body);
  if (answer) {
    sent.answer = std::move(*answer);
    return {};
  }
  const bool is_page = describe_body(response.body).starts_with("a web page");
  return {is_page ? Next::done : Next::repeat,
          strange_answer(sent, answer.error().message + (is_page ? cloud::advice_for(200) : ""))};
}

cloud::Reading Wire::read_failure(const Sent& sent, const http_client::Response& response) {
  // Before anything is cut off, so that no part of a secret is left: AWS repeats what was signed.
  cloud::CloudError said =
      read_error(sent.service, response.status, redactor_.redact(response.body));
  if (said.request_id.empty())
    said.request_id = cloud::printable(response.header("x-amzn-RequestId"), 128);
  if (said.code.empty()) {
    Error error =
        strange_answer(sent, "answered with HTTP status " + std::to_string(response.status) +
                                 " and " + cloud::printable(describe_body(response.body)));
    if (response.status < 500) error.message += cloud::advice_for(response.status);
    if (response.status == 407) error.error_class = ErrorClass::auth;
    if (response.status == 429) error.error_class = ErrorClass::throttle;
    if (response.status == 429) return {Next::slow_down, std::move(error)};
    return {response.status >= 500 ? Next::repeat : Next::done, std::move(error)};
  }
  Error error = classify(sent.name, said, sent.call.region, sent.call.about);
  const Next next = cloud::next_after(errors_.find(said.code), error);
  return {next, std::move(error)};
}

}  // namespace muster::aws
