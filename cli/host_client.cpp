#include "cli/host_client.hpp"

#include <vector>

#include "lib/http_client/client.hpp"

namespace muster::cli {
namespace {

using Kind = http_client::Failure::Kind;

constexpr std::chrono::seconds connect_timeout{5}, longest_silence{60};
constexpr std::size_t max_answer_bytes = 256 * 1024 * 1024;

ErrorClass class_of(int status) {
  if (status == 404) return ErrorClass::not_found;
  if (status == 401 || status == 403) return ErrorClass::auth;
  if (status == 429) return ErrorClass::throttle;
  if (status >= 400 && status < 500) return ErrorClass::invalid;
  return status == 503 ? ErrorClass::transient : ErrorClass::internal;
}

std::string member(const Result<json::value>& document, std::string_view key) {
  const auto* object = document ? document->if_object() : nullptr;
  const auto* found = object ? object->if_contains(key) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string where(const HostAddress& address) {
  return address.url + (address.origin.empty() ? "" : " (from " + address.origin + ")");
}

// What to do about a refusal, where the host itself cannot know.
std::string advice(const HostAddress& address, int status, bool is_musterd) {
  if (!is_musterd)
    return ": nothing at " + where(address) + " answers as a musterd; is that address a musterd?";
  if (status == 403) return "\n`muster whoami` shows which scopes you have";
  if (status != 401) return "";
  const std::string who =
      address.client_id.empty() ? "the token" : "the access token of " + address.client_id;
  return "; " + who + " does not open " + where(address) +
         ": `muster login` takes another one, and a host on this machine has the admin's in its "
         "data "
         "directory";
}

Error refusal(const HostAddress& address, const http_client::Response& answer) {
  const auto document = json::parse(answer.body);
  const std::string message = member(document, "message"), code = member(document, "code");
  Error error{class_of(answer.status),
              (message.empty() ? "HTTP status " + std::to_string(answer.status) : message) +
                  advice(address, answer.status, !code.empty())};
  error.code = code;
  return error;
}

Error unreachable(const HostAddress& address, const http_client::Failure& failure) {
  const std::string& said = failure.description();
  switch (failure.kind) {
    case Kind::bad_tls_files:
      return Error::config("the CA file " + address.ca_file + " cannot be used: " + said);
    case Kind::untrusted:
      return Error::auth("the certificate of " + where(address) + " is not trusted: " + said +
                         "; if the host has a CA of its own, name the CA's file with --ca-file or "
                         "MUSTER_CA_FILE");
    case Kind::no_tls:
      return Error::transient("there is no TLS at " + where(address) + ": " + said +
                              "; is it http:// and not https://?");
    case Kind::bad_request:
      return Error::invalid(where(address) + " cannot be used: " + said +
                            "; a host's address looks like https://muster.example.com:8600");
    case Kind::timed_out:
      return Error::transient("the host at " + where(address) + " does not answer: " + said);
    default:
      return Error::transient("the host at " + where(address) + " cannot be reached: " + said +
                              "; is musterd running there?");
  }
}

}  // namespace

struct HostClient::Impl {
  HostAddress address;
  http_client::Client client;

  http_client::Request request(std::string method, const std::string& path) const;
  Result<json::value> send(http_client::Request request);
  Result<json::value> send(std::string method, const std::string& path, const json::object& body);
};

http_client::Request HostClient::Impl::request(std::string method, const std::string& path) const {
  http_client::Request made{.url = address.url + path, .method = std::move(method)};
  if (address.client_id.empty())
    made.authorization = http_client::BearerToken{Secret(address.token)};
  else
    made.authorization = http_client::HawkSignature{
        {address.client_id, Secret(address.access_token), address.certificate}};
  return made;
}

Result<json::value> HostClient::Impl::send(http_client::Request request) {
  const http_client::Answer answer = client.send(std::move(request));
  if (!answer) return unreachable(address, answer.error());
  if (!answer->is_success()) return refusal(address, *answer);
  if (answer->body.empty()) return json::value(json::object{});
  auto document = json::parse(answer->body);
  if (document) return document;
  return Error::internal("the answer of " + where(address) + " is not JSON; is it a musterd?");
}

Result<json::value> HostClient::Impl::send(std::string method, const std::string& path,
                                           const json::object& body) {
  http_client::Request made = request(std::move(method), path);
  made.headers.push_back({"Content-Type", "application/json"});
  made.body = json::write(body);
  return send(std::move(made));
}

HostClient::HostClient(HostAddress address, std::chrono::seconds deadline) {
  while (address.url.ends_with('/')) address.url.pop_back();
  http_client::Settings settings{.max_concurrent = 1,
                                 .max_body_bytes = max_answer_bytes,
                                 .timeout = deadline,
                                 .connect_timeout = connect_timeout,
                                 .ca_file = address.ca_file};
  impl_.reset(new Impl{std::move(address), http_client::Client(std::move(settings))});
}
HostClient::~HostClient() = default;
HostClient::HostClient(HostClient&&) noexcept = default;

const HostAddress& HostClient::address() const {
  return impl_->address;
}

Result<json::value> HostClient::get(const std::string& path) {
  return impl_->send(impl_->request("GET", path));
}

Result<json::value> HostClient::post(const std::string& path, const json::object& body) {
  return impl_->send("POST", path, body);
}

Result<json::value> HostClient::put(const std::string& path, const json::object& body) {
  return impl_->send("PUT", path, body);
}

Result<json::value> HostClient::remove(const std::string& path) {
  return impl_->send(impl_->request("DELETE", path));
}

Result<std::string> HostClient::get_bytes(const std::string& path) {
  http_client::Answer answer = impl_->client.send(impl_->request("GET", path));
  if (!answer) return unreachable(impl_->address, answer.error());
  if (!answer->is_success()) return refusal(impl_->address, *answer);
  return std::move(answer->body);
}

Result<json::value> HostClient::put_bytes(const std::string& path, std::string body,
                                          std::string content_type, const std::string& if_match) {
  http_client::Request made = impl_->request("PUT", path);
  made.headers.push_back({"Content-Type", std::move(content_type)});
  if (!if_match.empty()) made.headers.push_back({"If-Match", if_match});
  made.body = std::move(body);
  return impl_->send(std::move(made));
}

Result<void> HostClient::stream(const std::string& path, const std::string& last_event_id, int stop,
                                const std::function<void(std::string_view)>& take) {
  http_client::Request request = impl_->request("GET", path);
  request.headers.push_back({"Accept", "text/event-stream"});
  if (!last_event_id.empty()) request.headers.push_back({"Last-Event-ID", last_event_id});
  request.on_body = take;
  request.silence = longest_silence;
  const http_client::Answer answer =
      impl_->client.send(std::move(request), http_client::Cancellation::when_readable(stop));
  if (answer && answer->is_success()) return {};
  if (answer) return refusal(impl_->address, *answer);
  const http_client::Failure& failure = answer.error();
  // A stream that had begun may break off at any time; its reader continues where it stopped.
  if (failure.kind == Kind::cancelled || failure.status == 200) return {};
  return unreachable(impl_->address, failure);
}

}  // namespace muster::cli
