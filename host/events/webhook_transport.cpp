#include "host/events/webhook_transport.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/base/secret_file.hpp"
#include "lib/http_client/client.hpp"

namespace muster::events {
namespace {

std::vector<http_client::Header> headers_of(const config::WebhookSettings& settings,
                                            const WebhookRequest& request,
                                            const std::string& timestamp) {
  std::vector<http_client::Header> headers{{"Content-Type", "application/json"},
                                           {"Muster-Webhook", settings.name},
                                           {"Muster-Event-Number", std::to_string(request.number)},
                                           {"Muster-Event-Kind", request.kind},
                                           {"Muster-Timestamp", timestamp}};
  if (request.again) headers.push_back({"Muster-Redelivery", "true"});
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
  const auto client = std::make_shared<http_client::Client>(http_client::Settings{
      .max_concurrent = 1, .timeout = settings.timeout, .ca_file = settings.ca_file.string()});
  return [settings, &clock, &stop, client](const WebhookRequest& request) {
    const std::string timestamp = std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch()).count());
    http_client::Request post{.url = settings.url,
                              .method = "POST",
                              .headers = headers_of(settings, request, timestamp),
                              .body = request.body,
                              .discard_body = true};
    if (!settings.secret_file.empty()) {
      const auto secret = read_secret_file(settings.secret_file, "the webhook's secret");
      if (!secret) return WebhookAnswer{.problem = "it was not sent: " + secret.error().message};
      post.headers.push_back(
          {"Muster-Signature", webhook_signature(*secret, timestamp, request.body)});
    }
    if (stop)
      return WebhookAnswer{.problem = "it was not sent: the host is stopping", .stopped = true};
    const http_client::Answer got = client->send(std::move(post), stop);
    if (!got) return WebhookAnswer{.problem = got.error().message, .stopped = stop};
    return WebhookAnswer{.status = got->status, .retry_after = got->retry_after};
  };
}

}  // namespace muster::events
