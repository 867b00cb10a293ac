// The section [notifications] of the host's configuration.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "host/config/notification_settings.hpp"

namespace muster::config {

// `from` has passed the schema. Paths are relative to `base`.
NotificationSettings read_notifications(const json::object& from,
                                        const std::filesystem::path& base);

// What a schema cannot check.
struct NotificationMistake {
  std::string pointer;  // "/notifications/mail"
  std::string reason, remedy;
};
std::vector<NotificationMistake> check_notifications(const NotificationSettings& settings);

}  // namespace muster::config
