#include "plugins/provider/azure/wire.hpp"

#include <algorithm>
#include <charconv>

#include "lib/base/letter_case.hpp"
#include "lib/url/url.hpp"
#include "plugins/cloud/pages.hpp"

namespace muster::azure {
namespace {

using Next = cloud::Reading::Next;

// Resource Manager counts reads, writes and deletions of a subscription apart. These are its
// published rates.
cloud::BucketSettings rate_of(const Call& call) {
  if (call.service == Service::retail_prices) return {.per_second = 5, .burst = 20};
  if (call.method == "GET") return {.per_second = 25, .burst = 250};
  return {.per_second = 10, .burst = 200};
}

std::string kind_of(const Call& call) {
  if (call.service == Service::retail_prices) return "Azure's retail prices";
  if (call.method == "GET") return "reading calls of Azure";
  return call.method == "DELETE" ? "deleting calls of Azure" : "writing calls of Azure";
}

// "PUT virtualMachines/vm-1": without subscription, group and query.
std::string name_of(const Call& call) {
  if (call.service == Service::retail_prices) return "Azure's retail prices";
  std::string path = call.target.substr(0, call.target.find('?'));
  if (const std::size_t at = path.rfind("/providers/"); at != std::string::npos) {
    const std::size_t type = path.find('/', at + std::string_view("/providers/").size());
    if (type != std::string::npos) path = path.substr(type + 1);
  }
  return call.method + " " + path + (call.about.region ? " in " + *call.about.region : "");
}

// "Microsoft.Compute/PutVM3Min;239,Microsoft.Compute/PutVM30Min;1199" → 239; "11999" → 11999
std::optional<double> least_in(std::string_view text) {
  std::optional<double> least;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::string_view number =
        part.substr(part.find(';') == std::string_view::npos ? 0 : part.find(';') + 1);
    int read = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), read);
    if (error == std::errc() && read >= 0) least = std::min<double>(least.value_or(read), read);
  }
  return least;
}

std::string describe_body(std::string_view body) {
  if (body.empty()) return "no content";
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && body[first] == '<') return "a web page";
  return "something that is no JSON: " + cloud::printable(body, 100);
}

}  // namespace

std::optional<double> remaining_calls(const http_client::Response& response) {
  std::optional<double> least;
  for (const http_client::Header& header : response.headers) {
    if (!to_lower(header.name).starts_with("x-ms-ratelimit-remaining-")) continue;
    if (const auto number = least_in(header.value))
      least = std::min(least.value_or(*number), *number);
  }
  return least;
}

// One call on its way.
struct Wire::Sent {
  const Call& call;
  TokenCache* tokens;
  const Context& context;
  const std::string url, name;
  std::shared_ptr<const AccessToken> token = {};
  Answer answer = {};
};

Wire::Wire(cloud::Session& session, Addresses addresses)
    : session_(session), addresses_(std::move(addresses)) {}

Result<std::string> Wire::url_of(const Call& call) const {
  const std::string& base = call.service == Service::resource_manager ? addresses_.resource_manager
                                                                      : addresses_.retail_prices;
  if (call.target.starts_with('/')) return base + call.target;
  const auto url = parse_http_url(call.target), own = parse_http_url(base);
  if (url && own && url->tls == own->tls && url->host == own->host && url->port == own->port)
    return call.target;
  return Error::transient("Azure gave an address on another server than " + base +
                          ", to which no access token is sent; see the provider's endpoints")
      .with_code(bad_answer_code);
}

Result<Answer> Wire::call(const Call& call, TokenCache* tokens, const Context& context) {
  auto url = url_of(call);
  if (!url) return url.error();
  Sent sent{.call = call,
            .tokens = tokens,
            .context = context,
            .url = std::move(*url),
            .name = name_of(call)};
  const auto answer = session_.run(
      {.api = kind_of(call),
       .name = sent.name,
       .server = call.service == Service::resource_manager ? addresses_.resource_manager
                                                           : addresses_.retail_prices,
       .repeatable = true,  // reads, and changes by a name
       .prepare = [&](Time) { return prepare(sent); },
       .read = [&](const http_client::Response& response) { return read(sent, response); },
       .drop_credentials =
           [&] {
             if (tokens) tokens->discard(sent.token);
           },
       .rate = rate_of(call)},
      context);
  if (answer) return std::move(sent.answer);
  Error error = answer.error();
  error.message = redactor_.redact(error.message);
  if (error.code.empty() && error.error_class != ErrorClass::cancelled) {
    error.code = no_answer_code;
    if (!error.scope.region) error.scope.region = call.about.region;
  }
  return error;
}

Result<http_client::Request> Wire::prepare(Sent& sent) {
  http_client::Request request{.url = sent.url, .method = sent.call.method};
  request.headers.push_back({"Accept", "application/json"});
  if (sent.call.body) {
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = json::write(*sent.call.body);
  } else if (sent.call.method == "POST") {
    request.body = "";
  }
  if (sent.call.only_if_new) request.headers.push_back({"If-None-Match", "*"});
  if (!sent.tokens) return request;
  auto token = sent.tokens->get(sent.context);
  if (!token) {
    Error error = token.error();
    error.message = sent.name + " was not sent: " + error.message;
    return error;
  }
  sent.token = *token;
  redactor_.add(sent.token->text.reveal());
  request.authorization = http_client::BearerToken{sent.token->text};
  return request;
}

Error Wire::strange_answer(const Sent& sent, const std::string& what) const {
  Error error =
      Error::transient(sent.name + ": " + sent.url.substr(0, sent.url.find('?')) + " " + what)
          .with_code(bad_answer_code);
  error.scope.region = sent.call.about.region;
  return error;
}

cloud::Reading Wire::read(Sent& sent, const http_client::Response& response) {
  const auto remaining = remaining_calls(response);
  if (!response.is_success()) {
    cloud::Reading reading = read_failure(sent, response);
    reading.remaining = remaining;
    return reading;
  }
  sent.answer = {.status = response.status, .retry_after = response.retry_after};
  for (const char* name : {"Azure-AsyncOperation", "Location"})
    if (sent.answer.operation.empty()) sent.answer.operation = response.header(name);
  if (response.body.find_first_not_of(" \t\r\n") == std::string::npos)
    return {.remaining = remaining};
  auto document = json::parse_object(response.body);
  if (document) {
    sent.answer.body = std::move(*document);
    return {.remaining = remaining};
  }
  const std::string body = describe_body(response.body);
  const bool is_page = body == "a web page";
  return {is_page ? Next::done : Next::repeat,
          strange_answer(sent, "answered with " + (is_page ? body + cloud::advice_for(200)
                                                           : "JSON that is cut off or wrong (" +
                                                                 document.error().message + ")"))};
}

cloud::Reading Wire::read_failure(const Sent& sent, const http_client::Response& response) {
  const auto document = json::parse_object(redactor_.redact(response.body));
  cloud::CloudError said = document ? innermost_error(*document) : cloud::CloudError{};
  said.status = response.status;
  said.request_id = cloud::printable(response.header("x-ms-request-id"), 128);
  if (said.code.empty() && response.status != 404 && response.status != 429) {
    Error error =
        strange_answer(sent, "answered with HTTP status " + std::to_string(response.status) +
                                 " and " + describe_body(response.body));
    if (response.status < 500) error.message += cloud::advice_for(response.status);
    if (response.status == 401 || response.status == 407) error.error_class = ErrorClass::auth;
    if (response.status == 401) return {Next::refused, std::move(error)};
    return {response.status >= 500 ? Next::repeat : Next::done, std::move(error)};
  }
  Error error = errors_.classify(sent.name, said, sent.call.about);
  if (error.error_class == ErrorClass::throttle && response.retry_after)
    error.hold = *response.retry_after;
  Next next = Next::done;
  if (errors_.is_refusal(said.code)) next = Next::refused;
  if (error.error_class == ErrorClass::throttle) next = Next::slow_down;
  // Of what passes by itself, only the server's own trouble is worth another try at once.
  if (error.error_class == ErrorClass::transient && response.status >= 500) next = Next::repeat;
  return {next, std::move(error)};
}

Result<void> for_each_listed(Api& api, Call call,
                             const std::function<void(const json::object&)>& take,
                             const Context& context) {
  const bool is_prices = call.service == Service::retail_prices;
  const char* const list = is_prices ? "Items" : "value";
  const char* const next = is_prices ? "NextPageLink" : "nextLink";
  return cloud::for_each_page(
      {},
      [&](const json::object& parameters) -> Result<json::object> {
        if (const json::value* link = parameters.if_contains(next)) call.target = link->as_string();
        auto answer = api.call(call, context);
        if (!answer) return answer.error();
        return std::move(answer->body);
      },
      [&](const json::object& page) -> Result<void> {
        const json::value* entries = page.if_contains(list);
        if (!entries || !entries->is_array())
          return Error::transient("Azure's list at " +
                                  call.target.substr(0, call.target.find('?')) + " has no \"" +
                                  list + "\"; it is not used")
              .with_code(bad_answer_code);
        for (const json::value& entry : entries->get_array())
          if (entry.is_object()) take(entry.get_object());
        return {};
      },
      context, {.token_parameter = next, .token_member = next});
}

}  // namespace muster::azure
