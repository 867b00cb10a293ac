// All clients that the authority knows at one time. Private to this folder.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "host/auth/authority.hpp"
#include "host/auth/grant.hpp"

namespace muster::auth {

// A token is found by a digest of its digest that nobody outside can compute, so that the time of
// the search tells nothing.
struct TokenHash {
  std::size_t operator()(const Sha256& key) const {
    std::size_t part;
    std::memcpy(&part, key.data(), sizeof part);
    return part;
  }
};

// Where the token of that digest is found.
inline Sha256 token_place(const Sha256& digest, const std::string& salt) {
  return sha256(salt + std::string(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

inline Sha256 digest_of(const Secret& secret) {
  Sha256 digest{};
  std::memcpy(digest.data(), secret.reveal().data(),
              std::min(digest.size(), secret.reveal().size()));
  return digest;
}

using Clients = std::unordered_map<std::string, std::shared_ptr<const Known>>;

// By where they come from. A token and a Hawk client of the same name may be two ways of one
// person.
struct Origin {
  Clients hawk, tokens;
  Clients& of(ClientKind kind) { return kind == ClientKind::hawk ? hawk : tokens; }
};

// Everything that is needed to verify requests, at one time. Replaced as a whole.
struct Snapshot {
  std::shared_ptr<const Roles> roles;
  AuthoritySettings settings;
  Origin configured, put;
  std::unordered_map<Sha256, std::pair<std::shared_ptr<const Known>, const Client::Key*>, TokenHash>
      tokens;
  std::shared_ptr<const Caller> anonymous;

  std::shared_ptr<const Known> find_hawk(const std::string& client_id) const {
    for (const Clients* clients : {&configured.hawk, &put.hawk})
      if (const auto found = clients->find(client_id); found != clients->end())
        return found->second;
    return nullptr;
  }
};

}  // namespace muster::auth
