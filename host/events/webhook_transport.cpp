#include "host/events/webhook_transport.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/base/deadline_context.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/http_client/fetch.hpp"

namespace muster::events {
namespace {

std::vector<std::string> headers_of(const config::WebhookSettings& settings,
                                    const WebhookRequest& request, const std::string& timestamp) {
  std::vector<std::string> headers{
      "Content-Type: application/json", "Muster-Webhook: " + settings.name,
      "Muster-Event-Number: " + std::to_string(request.number),
      "Muster-Event-Kind: " + request.kind, "Muster-Timestamp: " + timestamp};
  if (request.again) headers.emplace_back("Muster-Redelivery: true");
  return headers;
}

}  // namespace

std::string webhook_signature(const Secret& secret, const std::string& timestamp,
                              std::string_view body) {
  std::string text = timestamp + ".";
  text += body;
  Sha256 digest{};
  unsigned size = digest.size();
  const std::string& key = secret.reveal();
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return "v1=" + to_hex(digest);
}

WebhookTransport http_transport(const config::WebhookSettings& settings, const Clock& clock,
                                const std::atomic<bool>& stop) {
  FetchSettings how{.at_once = 1, .timeout = settings.timeout, .discard_body = true};
  if (!settings.ca_file.empty()) how.ca_file = settings.ca_file.string();
  return [settings, &clock, &stop,
          fetcher = std::make_shared<Fetcher>(how)](const WebhookRequest& request) {
    const std::string timestamp = std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch()).count());
    FetchRequest fetch{settings.url, headers_of(settings, request, timestamp), request.body};
    if (!settings.secret_file.empty()) {
      const auto secret = read_secret_file(settings.secret_file, "the webhook's secret");
      if (!secret) return WebhookAnswer{.problem = "it was not sent: " + secret.error().message};
      fetch.headers.push_back("Muster-Signature: " +
                              webhook_signature(*secret, timestamp, request.body));
    }
    WebhookAnswer answer{.problem = "it was not sent: the host is stopping"};
    bool asked = false;
    const DeadlineContext context(settings.timeout + std::chrono::seconds(1), &stop);
    fetcher->run(
        [&](FetchRequest& next) {
          if (std::exchange(asked, true)) return false;
          next = std::move(fetch);
          return true;
        },
        [&](std::size_t, Fetched fetched) {
          answer = {fetched.status, std::move(fetched.error), fetched.retry_after};
        },
        context);
    answer.stopped = stop && answer.status == 0;
    return answer;
  };
}

}  // namespace muster::events
