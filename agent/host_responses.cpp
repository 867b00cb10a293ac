#include "agent/host_responses.hpp"

#include <algorithm>
#include <charconv>

#include <muster/codec.hpp>
#include <muster/utf8.hpp>

#include "lib/hawk/server_clock.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t longest_message = 500;

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

// What the host says, without what clients append to it, and never so long that it fills a log.
std::string first_part(std::string message) {
  message.resize(std::min(message.find("\n---"), message.size()));
  message.erase(message.find_last_not_of(" \n") + 1);
  if (message.size() > longest_message) message = message.substr(0, longest_message) + "...";
  return valid_utf8(message);
}

std::optional<Milliseconds> retry_after(const HttpAnswer& answer, Time now) {
  const std::string* header = answer.header("retry-after");
  if (!header) return std::nullopt;
  std::uint32_t seconds = 0;
  const char* const end = header->data() + header->size();
  const auto [stop, error] = std::from_chars(header->data(), end, seconds);
  if (error == std::errc() && stop == end) return std::chrono::seconds(seconds);
  if (const auto date = hawk::parse_http_date(*header))
    return std::max(Milliseconds(0), *date - now);
  return std::nullopt;
}

bool is_success(int status) {
  return status >= 200 && status < 300;
}

bool may_pass(int status) {
  return status < 400 || status >= 500 || status == 408 || status == 425 || status == 429;
}

}  // namespace

bool is_from_host(const HttpAnswer& answer) {
  if (is_success(answer.status)) return true;
  const auto body = json::parse_object(answer.body);
  return body && !text_in(*body, "code").empty();
}

CallOutcome call_outcome_of(const Result<HttpAnswer>& answer, Time now) {
  using Kind = CallOutcome::Kind;
  if (!answer) return {Kind::try_again, answer.error().message};
  const int status = answer->status;
  if (is_success(status)) return {Kind::done};
  std::string why = "HTTP " + std::to_string(status);
  const auto body = json::parse_object(answer->body);
  const std::string code = body ? text_in(*body, "code") : "";
  if (!code.empty()) why += " " + first_part(code) + ": " + first_part(text_in(*body, "message"));
  if (may_pass(status)) return {Kind::try_again, why, retry_after(*answer, now)};
  // A proxy that lost its host also answers 404; only what the host itself says is believed.
  if (code.empty()) return {Kind::try_again, why + ", and not from the host", std::nullopt};
  if (status == 410) return {Kind::gone, why};
  if (status == 404) return {Kind::unknown, why};
  return {Kind::refused, why};
}

Result<Grant> grant_of(const std::string& body) {
  const auto wrong = [](const std::string& what) {
    return Error::transient("the host's answer is not one that gives credentials: " + what);
  };
  auto answer = json::parse_object(body);
  if (!answer) return wrong(answer.error().message);
  Grant grant;
  const auto expires = parse_time(text_in(*answer, "expires"));
  const json::value* credentials = answer->if_contains("credentials");
  if (!expires) return wrong("no time when they expire");
  if (!credentials || !credentials->is_object()) return wrong("no credentials");
  grant.expires = *expires;
  const json::object& keys = credentials->get_object();
  grant.credentials.client_id = text_in(keys, "clientId");
  grant.credentials.access_token = Secret(text_in(keys, "accessToken"));
  grant.credentials.certificate = text_in(keys, "certificate");
  grant.secret = Secret(text_in(*answer, "secret"));
  if (grant.credentials.client_id.empty() || grant.credentials.access_token.reveal().empty())
    return wrong("credentials without a client id or an access token");
  if (grant.secret.reveal().empty()) return wrong("no secret for the next renewal");
  if (json::value* config = answer->if_contains("workerConfig")) {
    if (!config->is_object()) return wrong("the worker's configuration is not an object");
    grant.worker_config = std::move(config->get_object());
  }
  if (std::string why = text_in(*answer, "outdated"); !why.empty()) grant.outdated = std::move(why);
  grant.place = {"", text_in(*answer, "workerPoolId"), text_in(*answer, "providerId"),
                 text_in(*answer, "workerGroup"), text_in(*answer, "workerId")};
  return grant;
}

}  // namespace muster::agent
