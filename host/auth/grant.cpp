#include "host/auth/grant.hpp"

#include <algorithm>
#include <cmath>

#include "host/identifiers/identifiers.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {
namespace {

using std::chrono::minutes;

constexpr minutes clock_drift{5};
constexpr std::chrono::hours longest_certificate{31 * 24};
constexpr const char* anonymous = "assume:anonymous";

std::vector<std::string> with_anonymous(std::vector<std::string> scopes) {
  // First, where nothing of the client's own comes before it: the order in which they are shown.
  scopes.insert(scopes.begin(), anonymous);
  return scopes;
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : between) + text;
  return all;
}

// As JavaScript sees it: what a client may send in place of nothing.
bool is_nothing(const json::value* value) {
  if (!value || value->is_null()) return true;
  if (const auto* text = value->if_string()) return text->empty();
  if (const auto* truth = value->if_bool()) return !*truth;
  return value->is_number() && value->to_number<double>() == 0;
}

std::optional<double> number(const json::object& object, std::string_view key) {
  const auto* found = object.if_contains(key);
  if (!found || !found->is_number()) return std::nullopt;
  const double value = found->to_number<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<std::string>> valid_scopes(const json::array& list) {
  std::vector<std::string> scopes;
  scopes.reserve(list.size());
  for (const json::value& item : list) {
    const auto* text = item.if_string();
    if (!text || !is_valid_scope(*text)) return std::nullopt;
    scopes.emplace_back(*text);
  }
  return scopes;
}

Error bad(const char* what) {
  return Error::auth(std::string("ext.certificate") + what);
}

Result<Certificate> read_certificate(const json::value& value) {
  if (value.is_array()) return bad(".version must be 1");
  if (!value.is_object()) return bad(" must be a JSON object");
  const json::object& from = value.get_object();
  Certificate read;
  if (number(from, "version") != 1) return bad(".version must be 1");
  const auto* seed = from.if_contains("seed");
  if (!seed || !seed->is_string()) return bad(".seed must be a string");
  read.seed = seed->get_string();
  if (read.seed.size() != 44) return bad(".seed must be 44 characters");
  const auto start = number(from, "start"), expiry = number(from, "expiry");
  if (!start) return bad(".start must be a number");
  if (!expiry) return bad(".expiry must be a number");
  read.start = *start, read.expiry = *expiry;
  read.start_text = json::write(from.at("start"));
  read.expiry_text = json::write(from.at("expiry"));
  const auto* scopes = from.if_contains("scopes");
  if (!scopes || !scopes->is_array()) return bad(".scopes must be an array");
  auto valid = valid_scopes(scopes->get_array());
  if (!valid) return bad(".scopes must be an array of valid scopes");
  read.scopes = std::move(*valid);
  if (const auto* text = from.if_contains("signature"); text && text->is_string())
    read.signature = text->get_string();
  if (const auto* text = from.if_contains("issuer"); text && text->is_string())
    read.issuer = text->get_string();
  read.has_client_id = from.contains("clientId");
  return read;
}

double milliseconds_of(Time time) {
  return static_cast<double>(time.time_since_epoch().count());
}

Result<void> check_times(double start, double expiry, Time now) {
  const double drift = std::chrono::milliseconds(clock_drift).count();
  if (start > milliseconds_of(now) + drift) return bad(".start > now");
  if (expiry < milliseconds_of(now) - drift) return bad(".expiry < now");
  return {};
}

Result<void> check_rights(const Certificate& certificate, const std::string& client_id,
                          const Known& issuer) {
  const std::string& name = issuer.client.client_id;
  if (name != client_id) {
    const std::string wanted = "auth:create-client:" + client_id;
    if (!issuer.scopes.satisfies(wanted))
      return Error::auth("ext.certificate issuer `" + name + "` doesn't have `" + wanted +
                         "` for supplied clientId.");
  }
  if (!issuer.scopes.satisfies_all(certificate.scopes))
    return Error::auth("ext.certificate issuer `" + name +
                       "` doesn't satisfy all certificate scopes " +
                       joined(certificate.scopes, ", ") +
                       ".  The temporary credentials were not generated correctly.");
  return {};
}

std::string signed_text(const Certificate& certificate, const std::string& client_id) {
  std::string text = "version:1\n";
  if (!certificate.issuer.empty())
    text += "clientId:" + client_id + "\nissuer:" + certificate.issuer + "\n";
  text += "seed:" + certificate.seed + "\nstart:" + certificate.start_text +
          "\nexpiry:" + certificate.expiry_text + "\nscopes:";
  for (const std::string& scope : certificate.scopes) text += "\n" + scope;
  return text;
}

Secret temporary_key(const Secret& key, const std::string& seed) {
  std::string mac = hawk::mac_of(key, seed);
  while (mac.ends_with('=')) mac.pop_back();
  std::replace(mac.begin(), mac.end(), '+', '-');
  std::replace(mac.begin(), mac.end(), '/', '_');
  return Secret(std::move(mac));
}

// The key that signed it. Official clients sign an empty list of scopes with a line end behind it.
const Client::Key* signer(const Certificate& certificate, const std::string& client_id,
                          const Client& issuer, Time now) {
  const std::string text = signed_text(certificate, client_id);
  const bool no_scopes = certificate.scopes.empty();
  for (const Client::Key* key : valid_keys(issuer, now))
    if (hawk::same_mac(hawk::mac_of(key->secret, text), certificate.signature) ||
        (no_scopes &&
         hawk::same_mac(hawk::mac_of(key->secret, text + "\n"), certificate.signature)))
      return key;
  return nullptr;
}

Result<Certificate> read_signed_certificate(const json::value& value, const std::string& client_id,
                                            Time now, UnprovedGrant& grant) {
  auto certificate = read_certificate(value);
  if (!certificate) return certificate.error();
  if (certificate->has_client_id && grant.issuer->client.client_id == client_id)
    return bad(".clientId must only be used with ext.certificate.issuer");
  if (!certificate->issuer.empty() && !identifiers::is_client_id(client_id))
    return Error::auth(
        "the clientId of temporary credentials has 1 to 1024 letters, digits and !@/:.+|_-");
  if (const auto in_time = check_times(certificate->start, certificate->expiry, now); !in_time)
    return in_time.error();
  const std::chrono::milliseconds longest = longest_certificate;
  if (certificate->expiry - certificate->start > static_cast<double>(longest.count()))
    return bad(" cannot last longer than 31 days!");
  const Client::Key* key = signer(*certificate, client_id, grant.issuer->client, now);
  if (!key)
    return bad(certificate->issuer.empty() ? ".signature is not valid"
                                           : ".signature is not valid, or wrong clientId provided")
        .with_code(guess);
  grant.keys = {{temporary_key(key->secret, certificate->seed), key->until}};
  return certificate;
}

// The scopes as they are shown: in the order in which they were given, unless roles add to them.
std::vector<std::string> shown_scopes(const std::vector<std::string>& scopes, const Roles& roles) {
  const auto given = with_anonymous(scopes);
  const auto all = roles.expanded(given);
  return all.size() == given.size() ? given : ScopeSet(all).list();
}

Result<std::vector<std::string>> read_authorized_scopes(const json::value& value) {
  if (!value.is_array()) return Error::auth("ext.authorizedScopes must be an array");
  auto wanted = valid_scopes(value.get_array());
  if (!wanted) return Error::auth("ext.authorizedScopes must be an array of valid scopes");
  return std::move(*wanted);
}

Result<void> check_authorized_scopes(const std::vector<std::string>& wanted, const Roles& roles,
                                     const std::vector<std::string>& scopes) {
  if (ScopeSet(roles.expanded(with_anonymous(scopes))).satisfies_all(wanted)) return {};
  return Error::auth(
      "Supplied credentials do not satisfy authorizedScopes; credentials have scopes:\n\n```\n" +
      joined(shown_scopes(scopes, roles), "\n") + "\n```\n\nauthorizedScopes are:\n\n```\n" +
      joined(wanted, "\n") + "\n```");
}

std::shared_ptr<const Caller> caller_of(const std::string& client_id,
                                        const std::vector<std::string>& scopes, const Roles& roles,
                                        Time expires) {
  return std::make_shared<const Caller>(
      Caller{client_id, ScopeSet(roles.expanded(with_anonymous(scopes))), expires});
}

}  // namespace

bool operator==(const Client& a, const Client& b) {
  const auto same_key = [](const Client::Key& one, const Client::Key& other) {
    return one.secret.reveal() == other.secret.reveal() && one.until == other.until;
  };
  return a.client_id == b.client_id && a.kind == b.kind && a.scopes == b.scopes &&
         a.expires == b.expires && a.disabled == b.disabled &&
         a.replay_protection == b.replay_protection &&
         std::equal(a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(), same_key);
}

std::shared_ptr<const Known> known(Client client, std::shared_ptr<const Roles> roles) {
  auto made = std::make_shared<Known>();
  made->scopes = ScopeSet(roles->expanded(client.scopes));
  made->caller = caller_of(client.client_id, client.scopes, *roles, client.expires.value_or(never));
  made->client = std::move(client);
  made->roles = std::move(roles);
  return made;
}

Result<void> check_client(const Client& client, Time now) {
  if (client.disabled)
    return Error::auth("Client with clientId '" + client.client_id + "' is disabled");
  if (client.expires && *client.expires < now)
    return Error::auth("Client with clientId: '" + client.client_id + "' has expired");
  return {};
}

std::vector<const Client::Key*> valid_keys(const Client& client, Time now) {
  std::vector<const Client::Key*> valid;
  for (const Client::Key& key : client.keys)
    if (!key.until || *key.until > now) valid.push_back(&key);
  return valid;
}

Result<void> check_times(const Grant& grant, Time now) {
  if (!grant.start || !grant.expiry) return {};
  return check_times(milliseconds_of(*grant.start), milliseconds_of(*grant.expiry), now);
}

Result<Ext> parse_ext(std::string_view ext, const std::string& client_id) {
  const auto text = hawk::from_any_base64(ext);
  auto parsed = text ? json::parse_object(*text, {.max_depth = 8}) : text.error();
  if (!parsed) return Error::auth("Failed to parse ext");
  Ext read{std::move(*parsed), {}};
  const auto* certificate = read.document.if_contains("certificate");
  if (!certificate || !certificate->is_object()) return read;
  const auto* issuer = certificate->get_object().if_contains("issuer");
  if (is_nothing(issuer)) return read;
  if (!issuer->is_string()) return bad(".issuer must be a string");
  read.issuer = issuer->get_string();
  if (read.issuer == client_id) return bad(".issuer must differ from the supplied clientId");
  return read;
}

Result<UnprovedGrant> read_grant(const std::string& client_id, const Ext& ext,
                                 std::shared_ptr<const Known> issuer, Time now) {
  UnprovedGrant grant;
  grant.issuer = std::move(issuer);
  grant.keys = grant.issuer->client.keys;
  const auto* certificate = ext.document.if_contains("certificate");
  if (!is_nothing(certificate)) {
    auto read = read_signed_certificate(*certificate, client_id, now, grant);
    if (!read) return read.error();
    grant.certificate = std::move(*read);
  }
  const auto* authorized = ext.document.if_contains("authorizedScopes");
  if (!is_nothing(authorized)) {
    auto read = read_authorized_scopes(*authorized);
    if (!read) return read.error();
    grant.authorized_scopes = std::move(*read);
  }
  return grant;
}

Result<Grant> make_grant(const std::string& client_id, UnprovedGrant proved) {
  Grant grant;
  grant.issuer = std::move(proved.issuer);
  grant.keys = std::move(proved.keys);
  const Client& client = grant.issuer->client;
  const Roles& roles = *grant.issuer->roles;
  std::vector<std::string> scopes = roles.empty() ? client.scopes : grant.issuer->scopes.list();
  Time expires = client.expires.value_or(never);
  if (proved.certificate) {
    Certificate& certificate = *proved.certificate;
    if (const auto may = check_rights(certificate, client_id, *grant.issuer); !may)
      return may.error();
    // Both are near now, so they fit.
    const auto time = [](double value_ms) {
      return Time(std::chrono::milliseconds(static_cast<std::int64_t>(std::floor(value_ms))));
    };
    grant.start = time(certificate.start), grant.expiry = time(certificate.expiry);
    expires = std::min(expires, *grant.expiry);
    scopes = std::move(certificate.scopes);
  }
  if (proved.authorized_scopes) {
    if (const auto may = check_authorized_scopes(*proved.authorized_scopes, roles, scopes); !may)
      return may.error();
    scopes = std::move(*proved.authorized_scopes);
  }
  grant.caller = caller_of(client_id, scopes, roles, expires);
  return grant;
}

IssuedCertificate sign_certificate(const std::string& client_id, const std::string& issuer,
                                   const Secret& key, const std::string& seed,
                                   const std::vector<std::string>& scopes, Time start,
                                   Time expiry) {
  Certificate certificate;
  certificate.seed = seed;
  certificate.issuer = issuer;
  certificate.scopes = scopes;
  certificate.start_text = std::to_string(start.time_since_epoch().count());
  certificate.expiry_text = std::to_string(expiry.time_since_epoch().count());
  json::array list;
  for (const std::string& scope : scopes) list.emplace_back(scope);
  const json::object document{{"version", 1},
                              {"scopes", std::move(list)},
                              {"start", start.time_since_epoch().count()},
                              {"expiry", expiry.time_since_epoch().count()},
                              {"seed", seed},
                              {"signature", hawk::mac_of(key, signed_text(certificate, client_id))},
                              {"issuer", issuer}};
  return {json::write(document), temporary_key(key, seed).reveal()};
}

}  // namespace muster::auth
