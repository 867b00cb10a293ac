// What the configuration says about notifications: who is told when something needs a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::config {

// Secrets are in files and never here.
struct MailSettings {
  std::string server;  // "smtp://mail.example.com:587"
  bool start_tls = true;
  std::string from;
  std::vector<std::string> to;  // may be empty: owners alone
  std::string user;
  std::filesystem::path password_file, ca_file;
  std::vector<std::string> causes;         // "provider*"; none: all but workerErrors
  bool owners = true;                      // of pools with emailOnError are written to, too
  std::vector<std::string> owner_domains;  // their addresses must be of one of these; none: any
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  friend bool operator==(const MailSettings&, const MailSettings&) = default;
};

inline constexpr std::string_view usual_chat_template = R"({"text": "{{text}}"})";

struct ChatSettings {
  std::string name;
  std::string url;  // or:
  std::filesystem::path url_file, secret_file, ca_file;
  std::string message = std::string(usual_chat_template);
  std::vector<std::string> causes;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  friend bool operator==(const ChatSettings&, const ChatSettings&) = default;
};

struct NotificationSettings {
  std::chrono::milliseconds blocked_after = std::chrono::minutes(30);
  std::chrono::milliseconds down_after = std::chrono::minutes(2);
  std::chrono::milliseconds expires_within = std::chrono::hours(24 * 14);
  std::chrono::milliseconds digest_every = std::chrono::minutes(5);
  std::chrono::milliseconds remind_every = std::chrono::hours(24);
  std::chrono::milliseconds give_up_after = std::chrono::hours(24);
  std::uint32_t most_per_hour = 60;
  std::vector<std::string> silence;  // "poolBlocked:lab/*"
  std::optional<MailSettings> mail = {};
  std::vector<ChatSettings> chats;  // sorted by name
  bool is_used() const { return mail || !chats.empty(); }
  friend bool operator==(const NotificationSettings&, const NotificationSettings&) = default;
};

}  // namespace muster::config
