#include "plugins/provider/google/identification.hpp"

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/provider/google/instances.hpp"

namespace muster::google {
namespace {

using cloud::table_of;
using cloud::text_of;
using namespace std::chrono_literals;

constexpr auto skew = 5min;
constexpr auto longest_life = 24h;
constexpr auto repeated_for = 2min;

std::optional<Time> time_in(const json::object& claims, const char* key) {
  const json::value* found = claims.if_contains(key);
  if (!found || !found->is_number()) return std::nullopt;
  const double seconds = found->to_number<double>();
  if (!(seconds > 0 && seconds < 1e11)) return std::nullopt;
  return Time(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
}

struct Lifetime {
  Time issued{}, end{};
};

Result<Lifetime> check_times(const json::object& claims, Time now) {
  const auto issued = time_in(claims, "iat"), end = time_in(claims, "exp");
  if (!issued || !end)
    return Error::auth("the token does not say when it was made and when it ends (iat, exp)");
  if (now > *end + skew)
    return Error::auth("the token ended at " + format_time(*end) + ", and it is " +
                       format_time(now));
  if (*issued > now + skew)
    return Error::auth("the token was made in the future, at " + format_time(*issued) +
                       ", and it is " + format_time(now));
  if (*end > *issued + longest_life + skew || *end < *issued)
    return Error::auth("the token is valid for longer than a day, which none of Google's is");
  return Lifetime{*issued, *end};
}

// Who made it, and for whom.
Result<void> check_parties(const json::object& claims, const json::object& launched,
                           const Settings& settings) {
  const std::string issuer = text_of(claims, "iss");
  if (issuer != "https://accounts.google.com" && issuer != "accounts.google.com")
    return Error::auth("the token was issued by \"" + cloud::printable(issuer, 100) +
                       "\", not by Google's accounts");
  const std::string audience = text_of(claims, "aud");
  const std::string expected = settings.audience.empty() ? text_of(launched, "audience")
                                                         : audience_digest(settings.audience);
  if (expected.empty())
    return Error::auth(
        "the address that the token must be made for is not known; set `audience` in the "
        "provider's configuration to the host's public address");
  if (audience.empty() || audience_digest(audience) != expected)
    return Error::auth("the token was made for \"" + cloud::printable(audience, 200) +
                       "\", which is not this host's address");
  return {};
}

Result<void> check_equal(const std::string& said, const std::string& launched, const char* what) {
  if (said == launched) return {};
  return Error::auth(std::string("the token is of another ") + what + ": it says \"" +
                     cloud::printable(said, 100) + "\", and \"" + launched + "\" was launched");
}

// The machine that the token is about. The older form of tokens lacks it.
Result<void> check_machine(const json::object& claims, const IdentifyRequest& request,
                           const std::string& project) {
  const json::object& launched = request.provider_data;
  const json::object* google = table_of(claims, "google");
  const json::object* machine = google ? table_of(*google, "compute_engine") : nullptr;
  if (!machine)
    return Error::auth(
        "the token does not name a machine: the worker must ask its metadata server with "
        "format=full");
  struct Member {
    std::string said, launched;
    const char* what;
  };
  const Member members[] = {
      {text_of(*machine, "project_id"), project, "project"},
      {text_of(*machine, "zone"), text_of(launched, "zone"), "zone"},
      {text_of(*machine, "instance_id"), request.worker_id.str(), "machine"},
      {text_of(*machine, "instance_name"), text_of(launched, "name"), "machine name"}};
  for (const Member& member : members)
    if (const auto same = check_equal(member.said, member.launched, member.what); !same)
      return same.error();
  return {};
}

Result<void> check_account(const json::object& claims, const std::string& launched) {
  const json::value* verified = claims.if_contains("email_verified");
  if (!verified || !verified->is_bool() || !verified->get_bool())
    return Error::auth("the token's service account is not verified by Google (email_verified)");
  return check_equal(text_of(claims, "email"), launched, "service account");
}

}  // namespace

Result<Identity> identify_worker(const IdentifyRequest& request, const Settings& settings,
                                 IdentityKeys& keys, cloud::SeenProofs& seen,
                                 const Context& context) {
  const std::string text = text_of(request.proof, "token");
  if (text.empty())
    return Error::auth(
        "workerIdentityProof has no token: the worker must send its instance identity token");
  const json::object& launched = request.provider_data;
  if (text_of(launched, "zone").empty())
    return Error::not_found("no machine " + request.worker_id.str() +
                            " is known to have been launched");
  const auto token = read_jwt(text);
  if (!token) return token.error();
  if (const auto good = keys.check(*token, context); !good) return good.error();
  const auto lifetime = check_times(token->claims, context.now());
  if (!lifetime) return lifetime.error();
  if (const auto good = check_parties(token->claims, launched, settings); !good)
    return good.error();
  if (const auto good = check_machine(token->claims, request, settings.project); !good)
    return good.error();
  if (const auto good = check_account(token->claims, text_of(launched, "serviceAccount")); !good)
    return good.error();
  if (request.worker_group.str() != text_of(launched, "zone"))
    return Error::auth("workerGroup is \"" + request.worker_group.str() +
                       "\", and the machine is in zone " + text_of(launched, "zone"));
  const std::string worker = request.worker_group.str() + "/" + request.worker_id.str();
  if (const auto good =
          seen.use_once(text, worker, lifetime->end + skew, context.now(), repeated_for);
      !good)
    return good.error();
  return Identity{.worker_group = request.worker_group,
                  .worker_id = request.worker_id,
                  .claims = {{"project", settings.project},
                             {"zone", text_of(launched, "zone")},
                             {"instanceName", text_of(launched, "name")},
                             {"machineType", text_of(launched, "type")},
                             {"serviceAccount", text_of(launched, "serviceAccount")}}};
}

}  // namespace muster::google
