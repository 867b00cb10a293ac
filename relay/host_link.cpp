#include "relay/host_link.hpp"

#include <charconv>

#include "host/plugin_loader/deadline_context.hpp"
#include "lib/http_client/fetch.hpp"

namespace muster::relay {
namespace {

constexpr std::size_t largest_answer = 4 << 20;
constexpr std::string_view content_type = "application/json";

std::int64_t seconds_of(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch()).count();
}

}  // namespace

std::string signed_post(const hawk::Credentials& credentials, const hawk::Request& request,
                        std::string_view body, std::int64_t seconds, const std::string& nonce) {
  hawk::Attributes attributes;
  attributes.id = credentials.client_id;
  attributes.ts = std::to_string(seconds);
  attributes.nonce = nonce;
  attributes.hash = hawk::payload_hash(content_type, body);
  attributes.ext = hawk::ext_of(credentials);
  attributes.mac =
      hawk::mac_of(credentials.access_token, hawk::normalized("header", attributes, request));
  return hawk::format_header(attributes);
}

hawk::Request request_of(const std::string& root_url, std::string_view method,
                         std::string_view path) {
  hawk::Request request;
  request.method = method;
  request.port = root_url.starts_with("https:") ? 443 : 80;
  std::string_view rest = root_url;
  rest.remove_prefix(rest.find("//") + 2);
  const auto slash = std::min(rest.find('/'), rest.size());
  request.resource = std::string(rest.substr(slash)).append(path);
  std::string_view host = rest.substr(0, slash);
  const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  if (colon != host.npos) {
    const std::string_view port = host.substr(colon + 1);
    std::from_chars(port.data(), port.data() + port.size(), request.port);
    host = host.substr(0, colon);
  }
  request.host = host;
  return request;
}

struct HostLink::Call {
  std::string url;
  std::vector<std::string> headers = {};
  std::optional<std::string> body = {};
};

HostLink::HostLink(HostSettings settings, std::function<Result<Secret>()> read_token, Secret token,
                   const Clock& clock, Log log)
    : settings_(std::move(settings)),
      read_token_(std::move(read_token)),
      clock_(clock),
      log_(std::move(log)),
      token_(std::move(token)) {
  for (std::uint32_t i = 0; i < settings_.at_once; ++i)
    idle_.push_back(std::make_unique<Fetcher>(
        FetchSettings{1, largest_answer, settings_.timeout, settings_.ca_file.string()}));
}

HostLink::~HostLink() = default;

// A fetcher keeps its connection, and belongs to one call at a time.
Fetched HostLink::fetch(Call call) {
  std::unique_ptr<Fetcher> fetcher;
  {
    const std::lock_guard guard(mutex_);
    if (!idle_.empty()) {
      fetcher = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!fetcher)
    fetcher = std::make_unique<Fetcher>(
        FetchSettings{1, largest_answer, settings_.timeout, settings_.ca_file.string()});
  Fetched answer;
  answer.error = "the relay is stopping";
  bool asked = false;
  const plugin_loader::DeadlineContext context(settings_.timeout, &stopping_);
  fetcher->run(
      [&](FetchRequest& next) {
        if (std::exchange(asked, true)) return false;
        next = {std::move(call.url), std::move(call.headers), std::move(call.body)};
        return true;
      },
      [&](std::size_t, Fetched fetched) { answer = std::move(fetched); }, context);
  const std::lock_guard guard(mutex_);
  if (idle_.size() < settings_.at_once) idle_.push_back(std::move(fetcher));
  return answer;
}

Fetched HostLink::post(const std::string& body) {
  hawk::Credentials credentials;
  credentials.client_id = settings_.client_id;
  {
    const std::lock_guard guard(mutex_);
    credentials.access_token = token_;
  }
  const std::string header =
      signed_post(credentials, request_of(settings_.url, "POST", registrations_path), body,
                  seconds_of(clock_) + clock_difference_, random_token().reveal().substr(0, 16));
  return fetch({settings_.url + std::string(registrations_path),
                {"Authorization: " + header, "Content-Type: " + std::string(content_type)},
                body});
}

HostAnswer HostLink::register_machine(const json::object& document) {
  const std::string body = json::write(document);
  Fetched fetched = post(body);
  if (fetched.status == 401) {
    // Once more, if the clock was wrong or there is a new token.
    Secret token("");
    {
      const std::lock_guard guard(mutex_);
      token = token_;
    }
    const auto theirs = hawk::server_time(fetched.www_authenticate, token);
    if (theirs) {
      clock_difference_ = *theirs - seconds_of(clock_);
      log_.warning("the host's clock differs from ours", {{"seconds", clock_difference_.load()}});
    }
    if (theirs || reread_token()) fetched = post(body);
  }
  return {fetched.status, std::move(fetched.body), std::move(fetched.error), fetched.retry_after};
}

Result<void> HostLink::reach() {
  const Fetched fetched = fetch({settings_.url + "/healthz"});
  if (fetched.status == 200) return {};
  return Error::transient(fetched.status == 0 ? fetched.error
                                              : "it answered " + std::to_string(fetched.status));
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
