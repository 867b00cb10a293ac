// How a webhook's requests travel and how they are signed.
#pragma once

#include <atomic>
#include <filesystem>

#include "host/events/webhook.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/secret.hpp"

namespace muster::events {

// "v1=" and the hex HMAC-SHA256 of "<timestamp>.<body>".
std::string webhook_signature(const Secret& secret, const std::string& timestamp,
                              std::string_view body);

// Connections are kept from one request to the next. The secret is read for each, so that it can be
// replaced. `stop` ends a request early. Clock and stop are borrowed. THREADS: calls one at a time.
WebhookTransport http_transport(const config::WebhookSettings& settings, const Clock& clock,
                                const std::atomic<bool>& stop);

}  // namespace muster::events
