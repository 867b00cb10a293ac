#include "relay/host_link.hpp"

namespace muster::relay {
namespace {

constexpr std::size_t largest_answer = 4 << 20;

}  // namespace

HostLink::HostLink(HostSettings settings, std::function<Result<Secret>()> read_token, Secret token,
                   Log log)
    : settings_(std::move(settings)),
      read_token_(std::move(read_token)),
      log_(std::move(log)),
      token_(std::move(token)) {
  for (std::uint32_t i = 0; i < settings_.at_once; ++i) idle_.push_back(make_client());
}

HostLink::~HostLink() = default;

std::unique_ptr<http_client::Client> HostLink::make_client() const {
  return std::make_unique<http_client::Client>(
      http_client::Settings{.max_concurrent = 1,
                            .max_body_bytes = largest_answer,
                            .timeout = settings_.timeout,
                            .ca_file = settings_.ca_file.string(),
                            .server_clock = host_clock_});
}

// A client keeps its connection, and belongs to one call at a time. The last one that was used is
// the first to be used again: its connection is the least likely to be closed.
http_client::Answer HostLink::send(http_client::Request request) {
  std::unique_ptr<http_client::Client> client;
  {
    const std::lock_guard guard(mutex_);
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!client) client = make_client();
  http_client::Answer answer = client->send(std::move(request), stopping_);
  const std::lock_guard guard(mutex_);
  if (idle_.size() < settings_.at_once) idle_.push_back(std::move(client));
  return answer;
}

http_client::Answer HostLink::post(const std::string& body) {
  hawk::Credentials credentials{settings_.client_id};
  {
    const std::lock_guard guard(mutex_);
    credentials.access_token = token_;
  }
  const auto before = host_clock_->offset();
  http_client::Answer answer =
      send({.url = settings_.url + std::string(registrations_path),
            .method = "POST",
            .headers = {{"Content-Type", "application/json"}},
            .body = body,
            .authorization = http_client::HawkSignature{std::move(credentials)}});
  if (const auto offset = host_clock_->offset(); offset != before)
    log_.warning("the host's clock differs from ours",
                 {{"seconds", std::chrono::round<std::chrono::seconds>(offset).count()}});
  return answer;
}

HostAnswer HostLink::register_machine(const json::object& document) {
  const std::string body = json::write(document);
  http_client::Answer answer = post(body);
  // Once more, if there is a new token.
  if (answer && answer->status == 401 && reread_token()) answer = post(body);
  if (!answer) return {.error = stopping_ ? "the relay is stopping" : answer.error().message};
  return {.status = answer->status,
          .body = std::move(answer->body),
          .retry_after = answer->retry_after};
}

Result<void> HostLink::reach() {
  const http_client::Answer answer = send({.url = settings_.url + "/healthz"});
  if (!answer) return Error::transient(answer.error().message);
  if (answer->status == 200) return {};
  return Error::transient("it answered " + std::to_string(answer->status));
}

bool HostLink::reread_token() {
  auto fresh = read_token_();
  if (!fresh) {
    log_.error("the old access token stays in use: " + fresh.error().message);
    return false;
  }
  const std::lock_guard guard(mutex_);
  const bool changed = !equal_in_constant_time(sha256(fresh->reveal()), sha256(token_.reveal()));
  token_ = std::move(*fresh);
  return changed;
}

}  // namespace muster::relay
