#include "host/config/read_notifications.hpp"

#include <map>
#include <optional>

#include "host/config/section_reader.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

MailSettings mail_from(const json::object& from, const fs::path& base) {
  MailSettings mail;
  const SectionReader reader(from, base);
  reader.read("server", mail.server);
  reader.read("startTls", mail.start_tls);
  reader.read("from", mail.from);
  reader.read("to", mail.to);
  reader.read("user", mail.user);
  reader.read("passwordFile", mail.password_file);
  reader.read("caFile", mail.ca_file);
  reader.read("causes", mail.causes);
  reader.read("owners", mail.owners);
  reader.read("ownerDomains", mail.owner_domains);
  reader.read("timeout", mail.timeout);
  return mail;
}

ChatSettings chat_from(std::string name, const json::object& from, const fs::path& base) {
  ChatSettings chat;
  chat.name = std::move(name);
  const SectionReader reader(from, base);
  reader.read("url", chat.url);
  reader.read("urlFile", chat.url_file);
  reader.read("secretFile", chat.secret_file);
  reader.read("caFile", chat.ca_file);
  reader.read("template", chat.message);
  reader.read("causes", chat.causes);
  reader.read("timeout", chat.timeout);
  return chat;
}

bool is_on_this_machine(std::string_view server) {
  std::string_view host = server.substr(server.find("://") + 3);
  if (host == "localhost" || host.starts_with("localhost:")) return true;
  return host.starts_with("127.") || host.starts_with("[::1]");
}

// With the placeholders replaced, a template is a JSON document.
bool is_json(std::string text) {
  for (const std::string_view name : {"{{title}}", "{{text}}"})
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.replace(at, name.size(), "x");
  return json::parse(text).has_value();
}

}  // namespace

NotificationSettings read_notifications(const json::object& from, const fs::path& base) {
  NotificationSettings all;
  const SectionReader reader(from, base);
  reader.read("blockedAfter", all.blocked_after);
  reader.read("downAfter", all.down_after);
  reader.read("expiresWithin", all.expires_within);
  reader.read("digestEvery", all.digest_every);
  reader.read("remindEvery", all.remind_every);
  reader.read("giveUpAfter", all.give_up_after);
  reader.read("mostPerHour", all.most_per_hour);
  reader.read("silence", all.silence);
  if (const json::value* mail = from.if_contains("mail"); mail && mail->is_object())
    all.mail = mail_from(mail->get_object(), base);
  std::map<std::string, ChatSettings> sorted;
  if (const json::value* chats = from.if_contains("chat"); chats && chats->is_object())
    for (const auto& [name, item] : chats->get_object())
      sorted[std::string(name)] = chat_from(std::string(name), item.get_object(), base);
  for (auto& [name, item] : sorted) all.chats.push_back(std::move(item));
  return all;
}

std::vector<NotificationMistake> check_notifications(const NotificationSettings& settings) {
  std::vector<NotificationMistake> mistakes;
  if (const auto& mail = settings.mail) {
    const std::string pointer = "/notifications/mail";
    if (mail->user.empty() != mail->password_file.empty())
      mistakes.push_back({pointer, "user and passwordFile belong together", "write both, or none"});
    if (!mail->user.empty() && !mail->start_tls && mail->server.starts_with("smtp://") &&
        !is_on_this_machine(mail->server))
      mistakes.push_back({pointer + "/startTls", "the password would travel in plain text",
                          "leave startTls out, or use a server on this machine"});
    if (mail->to.empty() && !mail->owners)
      mistakes.push_back({pointer, "nobody gets mail", "write to = [\"ops@example.com\"]"});
  }
  for (const ChatSettings& chat : settings.chats) {
    const std::string pointer = "/notifications/chat/" + chat.name;
    if (chat.url.empty() == chat.url_file.empty())
      mistakes.push_back({pointer, "a chat needs url or urlFile, and not both",
                          "write urlFile if the address is a secret"});
    if (!is_json(chat.message))
      mistakes.push_back({pointer + "/template", "it is no JSON document",
                          "write for example '{\"text\": \"{{text}}\"}'"});
  }
  return mistakes;
}

}  // namespace muster::config
