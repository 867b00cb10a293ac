// A client that may come in, wherever it was made: in the host's configuration, by the API, or by
// the host for itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/auth/client_row.hpp"
#include "lib/base/secret.hpp"

namespace muster::auth {

struct Client {
  std::string client_id;
  ClientKind kind = ClientKind::hawk;
  // Of a Hawk client its access token, of a token its SHA-256 (32 bytes).
  struct Key {
    Secret secret;
    std::optional<Time> until = {};  // set once another one has replaced it
  };
  std::vector<Key> keys;  // the one that it should use comes first
  std::vector<std::string> scopes = {};
  std::optional<Time> expires = {};
  bool disabled = false;
  // Each of its requests must have a nonce of its own.
  bool replay_protection = false;

  friend bool operator==(const Client& a, const Client& b);
};

}  // namespace muster::auth
