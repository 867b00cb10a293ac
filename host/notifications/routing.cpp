#include "host/notifications/routing.hpp"

#include <algorithm>

#include "lib/mail/address.hpp"

namespace muster::notifications {
namespace {

using namespace std::chrono_literals;

bool same_domain(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

bool may_be_written_to(const config::MailSettings& mail, const std::string& owner) {
  if (!mail.owners || !mail::is_address(owner)) return false;
  return mail.owner_domains.empty() ||
         std::ranges::any_of(mail.owner_domains, [&](const std::string& domain) {
           return same_domain(mail::domain_of(owner), domain);
         });
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return pattern == text;
  return text.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool is_silenced(const std::vector<std::string>& silences, const Condition& condition) {
  return std::ranges::any_of(silences, [&](const std::string& silence) {
    const auto colon = silence.find(':');
    if (colon == std::string::npos) return matches(silence, condition.cause);
    return matches(silence.substr(0, colon), condition.cause) &&
           matches(silence.substr(colon + 1), condition.subject);
  });
}

bool wants(const std::vector<std::string>& causes, std::string_view cause) {
  if (causes.empty()) return cause != cause::worker_errors;
  return std::ranges::any_of(causes,
                             [&](const std::string& pattern) { return matches(pattern, cause); });
}

std::vector<std::string> recipients_of(const config::NotificationSettings& settings,
                                       const Condition& condition) {
  std::vector<std::string> recipients;
  if (settings.mail && !settings.mail->to.empty() && wants(settings.mail->causes, condition.cause))
    recipients.emplace_back(mail_recipient);
  if (settings.mail && may_be_written_to(*settings.mail, condition.owner))
    recipients.push_back(std::string(owner_prefix) + condition.owner);
  for (const config::ChatSettings& chat : settings.chats)
    if (wants(chat.causes, condition.cause))
      recipients.push_back(std::string(chat_prefix) + chat.name);
  return recipients;
}

std::chrono::milliseconds patience_of(const config::NotificationSettings& settings,
                                      std::string_view cause) {
  if (cause == cause::pool_blocked) return settings.blocked_after;
  if (cause == cause::provider_down) return settings.down_after;
  if (cause == cause::configuration_refused || cause == cause::store_read_only) return 30s;
  return 0ms;
}

}  // namespace muster::notifications
