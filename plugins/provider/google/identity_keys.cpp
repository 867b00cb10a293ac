#include "plugins/provider/google/identity_keys.hpp"

#include "plugins/base/files.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/redaction.hpp"

namespace muster::google {
namespace {

using cloud::text_of;
using namespace std::chrono_literals;

constexpr auto keys_fresh_for = 1h;
constexpr auto asked_again_after = 1min;
constexpr std::size_t most_keys = 100;

}  // namespace

Result<std::map<std::string, PublicKey>> read_keys(const json::object& document) {
  std::map<std::string, PublicKey> keys;
  const auto add = [&](const std::string& id, Result<PublicKey> key) -> Result<void> {
    if (!key) return Error::invalid("the key \"" + id + "\" " + key.error().message);
    if (id.empty()) return Error::invalid("a key has no id (kid)");
    if (keys.size() >= most_keys) return Error::invalid("there are more than 100 keys");
    keys.insert_or_assign(id, std::move(*key));
    return {};
  };
  if (const json::value* list = document.if_contains("keys"); list && list->is_array()) {
    for (const json::value& entry : list->get_array()) {
      if (!entry.is_object()) return Error::invalid("a key is not a table");
      const json::object& jwk = entry.get_object();
      // A set may have keys for other uses.
      if (text_of(jwk, "kty") != "RSA" || text_of(jwk, "use") == "enc") continue;
      if (auto added = add(text_of(jwk, "kid"), PublicKey::from_jwk(jwk)); !added)
        return added.error();
    }
  } else {
    for (const auto& [id, pem] : document)
      if (auto added =
              add(std::string(id), pem.is_string() ? PublicKey::from_pem(pem.get_string())
                                                   : Error::invalid("is not a text in PEM"));
          !added)
        return added.error();
  }
  if (keys.empty()) return Error::invalid("there is no RSA key in it");
  return keys;
}

Result<std::unique_ptr<IdentityKeys>> IdentityKeys::read(const Settings& settings, Api& api) {
  std::unique_ptr<IdentityKeys> made(new IdentityKeys(api, settings.published_identity_keys));
  if (settings.identity_keys_file.empty()) return made;
  const std::string where = "identityKeysFile: " + settings.identity_keys_file;
  const auto text = read_if_there(settings.identity_keys_file);
  if (!text) return Error::invalid("identityKeysFile: " + text.error().message);
  if (!*text)
    return Error::invalid("identityKeysFile: there is no file " + settings.identity_keys_file);
  const auto document = json::parse_object(**text);
  if (!document) return Error::invalid(where + " is not JSON: " + document.error().message);
  auto keys = read_keys(*document);
  if (!keys) return Error::invalid(where + ": " + keys.error().message);
  made->own_ = std::move(*keys);
  return made;
}

void IdentityKeys::refresh(const Context& context) {
  asked_ = context.now();
  const auto answer = api_.call({.method = "certs.get"}, context);
  auto keys = answer ? read_keys(*answer) : Result<Keys>(answer.error());
  if (!keys) {
    trouble_ = keys.error().message;
    context.log(LogLevel::warning, "Google's keys of identity tokens are " +
                                       std::string(published_.empty() ? "not known" : "old ones") +
                                       ": " + trouble_);
    return;
  }
  trouble_.clear();
  published_ = std::move(*keys);
  good_ = context.now();
}

Result<void> IdentityKeys::check(const Jwt& token, const Context& context) {
  const std::string id = text_of(token.header, "kid");
  if (id.empty()) return Error::auth("the token does not name the key that has signed it (kid)");
  const auto find = [&]() -> const PublicKey* {
    if (const auto found = own_.find(id); found != own_.end()) return &found->second;
    const auto found = published_.find(id);
    return found == published_.end() ? nullptr : &found->second;
  };
  const bool is_old = context.now() >= good_ + keys_fresh_for;
  if (asks_google_ && !own_.contains(id) && (is_old || !find()) &&
      (asked_ == Time{} || context.now() >= asked_ + asked_again_after))
    refresh(context);
  const PublicKey* key = find();
  if (!key && asks_google_ && published_.empty())
    return Error::transient("the token cannot be checked, because Google's keys are not known: " +
                            trouble_);
  if (!key)
    return Error::auth("the token was signed with the key \"" + cloud::printable(id, 80) +
                       "\", which is none of " +
                       (asks_google_ ? "Google's" : "those of identityKeysFile"));
  if (!key->has_signed(token))
    return Error::auth(
        "the signature of the token is wrong: it was changed, or not made by Google");
  return {};
}

}  // namespace muster::google
