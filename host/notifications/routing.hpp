// Who is told of a condition, by the configuration. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/config/notification_settings.hpp"
#include "host/notifications/condition.hpp"

namespace muster::notifications {

inline constexpr std::string_view mail_recipient = "mail",
                                  owner_prefix = "mail:", chat_prefix = "chat:";

// A star at the end of the pattern matches any rest.
bool matches(std::string_view pattern, std::string_view text);

// Whether "cause:subject" matches one of the configured silences; a silence without a colon is
// about the cause alone.
bool is_silenced(const std::vector<std::string>& silences, const Condition& condition);

// Without a list: all but errors of workers, which are for the owners of pools.
bool wants(const std::vector<std::string>& causes, std::string_view cause);

// An owner is a recipient if the address is one, and of a domain that the configuration allows.
std::vector<std::string> recipients_of(const config::NotificationSettings& settings,
                                       const Condition& condition);

// How long it must last before anybody is told.
std::chrono::milliseconds patience_of(const config::NotificationSettings& settings,
                                      std::string_view cause);

}  // namespace muster::notifications
