// Clients that were made through the API, as the store keeps them.
#pragma once

#include <array>

#include <muster/launch_types.hpp>

namespace muster::auth {

// How a client proves who it is.
enum class ClientKind { hawk, token };
constexpr auto enum_names(ClientKind) {
  return std::array<std::string_view, 2>{"hawk", "token"};
}

struct ClientRow {
  static constexpr std::string_view table = "clients";
  static constexpr std::size_t key_columns = 1;
  std::string client_id;
  ClientKind kind = ClientKind::hawk;
  std::string description;
  json::array scopes;
  // Of a token its digest; Hawk needs the key itself, so that is encrypted with the host's key.
  std::string secret;
  std::string replaced_secret = {};  // still valid until then, after a rotation
  std::optional<Time> replaced_until = {};
  Time created{};
  Time last_modified{};
  std::optional<Time> expires = {};
  bool disabled = false;
  bool replay_protection = false;

  static constexpr auto fields(auto visit) {
    return visit(required("clientId", &ClientRow::client_id), required("kind", &ClientRow::kind),
                 required("description", &ClientRow::description),
                 required("scopes", &ClientRow::scopes), required("secret", &ClientRow::secret),
                 required("replacedSecret", &ClientRow::replaced_secret),
                 required("replacedUntil", &ClientRow::replaced_until),
                 required("created", &ClientRow::created),
                 required("lastModified", &ClientRow::last_modified),
                 required("expires", &ClientRow::expires),
                 required("disabled", &ClientRow::disabled),
                 required("replayProtection", &ClientRow::replay_protection));
  }
};

}  // namespace muster::auth
