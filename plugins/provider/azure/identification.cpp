#include "plugins/provider/azure/identification.hpp"

#include <cstdio>

#include <muster/codec.hpp>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/sha256_digits.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;

constexpr auto skew = 5min;

Error other(const char* what, const std::string& said, const std::string& launched) {
  return Error::auth(std::string("the attested document is of another ") + what + ": it says \"" +
                     said + "\", and it should be \"" + launched + "\"");
}

}  // namespace

std::optional<Time> parse_attested_time(const std::string& text) {
  int month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0, used = 0;
  if (std::sscanf(text.c_str(), "%2d/%2d/%2d %2d:%2d:%2d%n", &month, &day, &year, &hour, &minute,
                  &second, &used) != 6)
    return std::nullopt;
  const std::string zone = text.substr(static_cast<std::size_t>(used));
  if (zone != " -0000" && zone != " +0000") return std::nullopt;
  char written[40];
  std::snprintf(written, sizeof written, "20%02d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour,
                minute, second);
  return parse_time(written);
}

Result<Identity> Identification::identify(const IdentifyRequest& request, const Context& context) {
  const std::string document = text_of(request.proof, "document");
  if (document.empty())
    return Error::auth(
        "workerIdentityProof has no document: the worker must send its attested document");
  if (text_of(request.provider_data, "location").empty())
    return Error::not_found("no machine " + request.worker_id.str() +
                            " is known to have been launched");
  const auto signed_text = attestation_->content_of(
      document, context.now(), [&](const std::string& url) { return api_.fetch(url, context); });
  if (!signed_text) return signed_text.error();
  const auto content = json::parse_object(*signed_text);
  if (!content) return Error::auth("the attested document is not JSON: " + content.error().message);
  Time end{};
  if (const auto good = check_times(*content, context.now(), end); !good) return good.error();
  const std::string subscription = text_of(*content, "subscriptionId");
  if (to_lower(subscription) != to_lower(settings_.subscription))
    return other("subscription", subscription, settings_.subscription);
  const auto launched = machine_id(request, context);
  if (!launched) return launched.error();
  const std::string said = to_lower(text_of(*content, "vmId"));
  if (said.empty() || said != *launched) return other("machine", said, *launched);
  const std::string location = text_of(request.provider_data, "location");
  if (request.worker_group.str() != location)
    return Error::auth("workerGroup is \"" + request.worker_group.str() +
                       "\", and the machine is in location " + location);
  if (!request.challenge.empty() && request.proof.contains("registrationChallenge") &&
      text_of(*content, "nonce") != sha256_digits(request.challenge))
    return Error::auth(
        "the nonce of the attested document is not the one of the challenge: the document was made "
        "for another registration");
  if (const auto fresh = seen_.use_once(document, request.worker_id.str(), end, context.now());
      !fresh)
    return fresh.error();
  return Identity{.worker_group = request.worker_group,
                  .worker_id = request.worker_id,
                  .claims = {{"vmId", said},
                             {"subscription", subscription},
                             {"sku", text_of(*content, "sku")},
                             {"location", location}}};
}

// Of a deployment it is known only when there is a machine.
Result<std::string> Identification::machine_id(const IdentifyRequest& request,
                                               const Context& context) {
  if (std::string known = text_of(request.provider_data, "vmId"); !known.empty())
    return to_lower(known);
  const std::string group = settings_.group_of(request.worker_group.str());
  const auto answer = api_.call({.target = target_of(settings_.group_path(group), type::machines,
                                                     request.worker_id.str(), version::compute)},
                                context);
  if (!answer) return answer.error();
  const json::object* properties = table_of(answer->body, "properties");
  std::string id = properties ? to_lower(text_of(*properties, "vmId")) : "";
  if (id.empty())
    return Error::transient("Azure does not know the id of " + request.worker_id.str() + " yet");
  return id;
}

Result<void> Identification::check_times(const json::object& content, Time now, Time& end) const {
  const json::object* times = table_of(content, "timeStamp");
  const auto created = times ? parse_attested_time(text_of(*times, "createdOn")) : std::nullopt;
  const auto expires = times ? parse_attested_time(text_of(*times, "expiresOn")) : std::nullopt;
  if (!created || !expires)
    return Error::auth("the attested document does not say from when to when it is valid");
  if (*expires <= now)
    return Error::auth("the attested document has expired at " + format_time(*expires) +
                       "; the worker must fetch a new one");
  if (*created > now + skew)
    return Error::auth("the attested document is from the future: " + format_time(*created) +
                       "; is this machine's clock right?");
  end = *expires;
  return {};
}

}  // namespace muster::azure
