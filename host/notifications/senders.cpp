#include "host/notifications/senders.hpp"

#include <algorithm>

#include "host/events/webhook_transport.hpp"
#include "host/notifications/digest.hpp"
#include "host/notifications/routing.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/mail/smtp.hpp"

namespace muster::notifications {
namespace {

Result<std::string> send_mail(const config::MailSettings& settings, const Message& message,
                              const std::string& url, const Clock& clock,
                              const std::atomic<bool>& stop) {
  mail::Message letter;
  letter.from = settings.from;
  letter.to = message.recipient == mail_recipient
                  ? settings.to
                  : std::vector{message.recipient.substr(owner_prefix.size())};
  letter.subject = subject_of(message);
  letter.text = text_of(message, url);
  letter.at = clock.now();
  letter.id = random_token().reveal();
  const auto sent = mail::send({.url = settings.server,
                                .start_tls = settings.start_tls,
                                .user = settings.user,
                                .password_file = settings.password_file,
                                .ca_file = settings.ca_file,
                                .timeout = settings.timeout},
                               letter, stop);
  if (!sent) return sent.error();
  std::string refused;
  for (const std::string& address : sent->refused)
    refused += (refused.empty() ? "" : ", ") + address;
  if (!refused.empty()) refused = "the mail server refuses " + refused + "; the others got it";
  return refused;
}

// The address of a chat's webhook is its secret, so it may be in a file.
Result<std::string> url_of(const config::ChatSettings& settings) {
  if (settings.url_file.empty()) return settings.url;
  const auto read = read_secret_file(settings.url_file, "the address of the chat's webhook");
  if (!read) return read.error();
  if (!read->reveal().starts_with("https://") && !read->reveal().starts_with("http://"))
    return Error::config(settings.url_file.string() + " must hold an http(s) address");
  return read->reveal();
}

Result<std::string> send_chat(const config::ChatSettings& settings, const Message& message,
                              const std::string& url, const Clock& clock,
                              const std::atomic<bool>& stop) {
  auto address = url_of(settings);
  if (!address) return address.error();
  config::WebhookSettings webhook;
  webhook.name = settings.name;
  webhook.url = std::move(*address);
  webhook.secret_file = settings.secret_file;
  webhook.ca_file = settings.ca_file;
  webhook.timeout = settings.timeout;
  const events::WebhookAnswer answer = events::http_transport(webhook, clock, stop)(
      {.kind = "notification", .body = chat_body(settings.message, message, url)});
  if (answer.stopped) return Error::cancelled("the host is stopping");
  if (answer.status >= 200 && answer.status < 300) return std::string();
  if (answer.status == 0)  // the address may be a secret
    return Error::transient(settings.url_file.empty() ? answer.problem
                                                      : "the chat's webhook cannot be reached");
  return Error::transient("the chat's webhook answered " + std::to_string(answer.status));
}

}  // namespace

Sender make_sender(const config::NotificationSettings& settings, std::string url,
                   const Clock& clock, const std::atomic<bool>& stop) {
  return [settings, url = std::move(url), &clock,
          &stop](const Message& message) -> Result<std::string> {
    const std::string& to = message.recipient;
    if (to.starts_with(chat_prefix)) {
      const auto chat = std::ranges::find(settings.chats, to.substr(chat_prefix.size()),
                                          &config::ChatSettings::name);
      if (chat != settings.chats.end()) return send_chat(*chat, message, url, clock, stop);
    } else if (settings.mail && (to != mail_recipient || !settings.mail->to.empty())) {
      return send_mail(*settings.mail, message, url, clock, stop);
    }
    return Error::config("it is no longer configured");
  };
}

}  // namespace muster::notifications
