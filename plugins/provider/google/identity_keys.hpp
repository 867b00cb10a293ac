// Who signs identity tokens: Google's keys by their id, and the operator's own set.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "plugins/provider/google/api.hpp"
#include "plugins/provider/google/jwt.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// THREADS: one at a time.
class IdentityKeys {
 public:
  // `invalid` for a file of keys that cannot be read or has a key that is too short. `api` is
  // borrowed.
  static Result<std::unique_ptr<IdentityKeys>> read(const Settings& settings, Api& api);

  // Checks the signature by the key that the token names. Google's keys are asked for once an hour,
  // and when a token names one that is not known, at most once a minute; old ones serve while
  // Google does not answer. `auth` says what is wrong with the token, `transient` that no keys are
  // known.
  Result<void> check(const Jwt& token, const Context& context);

 private:
  using Keys = std::map<std::string, PublicKey>;  // by id

  IdentityKeys(Api& api, bool ask_google) : api_(api), asks_google_(ask_google) {}
  void refresh(const Context& context);

  Api& api_;
  const bool asks_google_;
  Keys own_, published_;
  Time asked_{}, good_{};
  std::string trouble_;  // why the last question failed
};

// A JSON Web Key Set, or a table of PEM texts by id. `invalid` names what is wrong.
Result<std::map<std::string, PublicKey>> read_keys(const json::object& document);

}  // namespace muster::google
