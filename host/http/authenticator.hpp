// Who may come in: bearer tokens, of which only digests are known here.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/base/secret.hpp"
#include "host/http/message.hpp"

namespace muster::http {

struct KnownToken {
  std::string name;  // "admin", or what the configuration calls it
  Sha256 digest;
};

// THREADS: any. The tokens are replaced whole, so a reload never shows half of them.
class Authenticator {
 public:
  void replace_tokens(std::vector<KnownToken> tokens);

  // The name of the token in the request's "Authorization: Bearer ..." header, or nothing. Takes
  // the same time for every wrong token.
  std::optional<std::string> authenticate(const Request& request) const;

  // Nothing, or the 401 that says how to get in.
  std::optional<Response> turn_away(const Request& request) const;

 private:
  std::shared_ptr<const std::vector<KnownToken>> tokens() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<KnownToken>> tokens_ =
      std::make_shared<const std::vector<KnownToken>>();
};

}  // namespace muster::http
