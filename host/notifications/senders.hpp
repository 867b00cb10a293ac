// How a message leaves the host: by mail or by a chat's webhook.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <muster/error.hpp>

#include "host/config/notification_settings.hpp"
#include "host/notifications/condition.hpp"
#include "lib/base/clock.hpp"

namespace muster::notifications {

// Waits for the other side to take the message, at most for the channel's timeout. The text says
// which addresses did not get it although others did; mostly it is empty.
using Sender = std::function<Result<std::string>(const Message&)>;

// Picks the channel by the recipient. `url` is where the host serves. Clock and stop are borrowed.
// THREADS: calls one at a time.
Sender make_sender(const config::NotificationSettings& settings, std::string url,
                   const Clock& clock, const std::atomic<bool>& stop);

}  // namespace muster::notifications
