#include "cli/client/lockout.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <muster/codec.hpp>

namespace muster::cli {
namespace {

std::vector<std::string> scopes_of(const json::object& client) {
  std::vector<std::string> scopes;
  const bool expanded = client.contains("expandedScopes");
  for (const json::value& scope : list_of(client, expanded ? "expandedScopes" : "scopes"))
    if (scope.is_string()) scopes.emplace_back(scope.get_string());
  return scopes;
}

// The host's own client is nobody's to use.
bool is_usable(const json::object& client) {
  if (text_of(client, "origin") == "host") return false;
  const auto expires = parse_time(text_of(client, "expires"));
  return text_of(client, "disabled") != "true" &&
         (!expires || *expires > std::chrono::system_clock::now());
}

}  // namespace

bool may_manage_clients(const std::vector<std::string>& scopes) {
  constexpr std::string_view wanted = "muster:manage-clients:*";
  return std::ranges::any_of(scopes, [&](const std::string& scope) {
    return scope.ends_with('*') && wanted.starts_with(scope.substr(0, scope.size() - 1));
  });
}

void confirm_lockout(HostClient& host, const std::string& client,
                     const std::vector<std::string>& scopes_left, bool yes) {
  if (yes || may_manage_clients(scopes_left)) return;
  const json::value me = answer_of(host.get(api_path + "whoami"));
  if (me.is_object() && text_of(me.get_object(), "clientId") == client)
    confirm(false, "You are " + client + ": after this you could not undo it yourself.");
  const auto answer = host.get(api_path + "clients");
  if (!answer && answer.error().error_class == ErrorClass::auth) return;  // may not look
  const json::value listed = answer_of(answer);
  bool can_now = false, another_can = false;
  if (listed.is_object())
    for (const json::object& each : objects_of(listed.get_object(), "clients")) {
      const bool manages = is_usable(each) && may_manage_clients(scopes_of(each));
      (text_of(each, "clientId") == client ? can_now : another_can) |= manages;
    }
  if (can_now && !another_can)
    confirm(false,
            client + " is the last client that can manage clients: after this nobody could.");
}

}  // namespace muster::cli
