#include "plugins/provider/aws/identification.hpp"

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t longest_document = 16 << 10;
// Between the time of the launch and the one in the document, which AWS's own parts write.
constexpr auto same_start = 10min;

Result<std::string> text_in(const json::object& proof, const char* key, std::size_t longest) {
  const json::value* given = proof.if_contains(key);
  if (!given) return std::string();
  if (!given->is_string())
    return Error::auth(std::string("workerIdentityProof.") + key + " is not a text");
  if (given->get_string().size() > longest)
    return Error::auth(std::string("workerIdentityProof.") + key + " is too long");
  return std::string(given->get_string());
}

Result<void> check_signed(const json::object& proof, const std::string& document,
                          const std::string& region, const IdentityKeys& keys) {
  for (const char* key : {"rsa2048", "pkcs7"}) {
    const auto signature = text_in(proof, key, 64 << 10);
    if (!signature) return signature.error();
    if (!signature->empty()) return keys.check_pkcs7(region, document, *signature);
  }
  const auto signature = text_in(proof, "signature", 64 << 10);
  if (!signature) return signature.error();
  if (signature->empty())
    return Error::auth(
        "workerIdentityProof has none of rsa2048, pkcs7 and signature: the worker must send the "
        "signature of its identity document");
  return keys.check_signature(region, document, *signature);
}

Result<void> check_equal(const json::object& document, const char* key, const std::string& launched,
                         const char* what) {
  const std::string said = text_of(document, key);
  if (said == launched) return {};
  return Error::auth(std::string("the identity document is of another ") + what + ": it says \"" +
                     said + "\", and \"" + launched + "\" was launched");
}

Result<void> check_start(const json::object& document, const json::object& launched) {
  const auto launch = parse_time(text_of(launched, "launched"));
  if (!launch) return {};
  const auto pending = parse_time(text_of(document, "pendingTime"));
  if (!pending)
    return Error::auth("the identity document lacks pendingTime, the time of its start");
  if (*pending < *launch - same_start || *pending > *launch + same_start)
    return Error::auth("the identity document is of another start: it says " +
                       format_time(*pending) + ", and the machine was launched at " +
                       format_time(*launch));
  return {};
}

}  // namespace

Result<Identity> identify_worker(const IdentifyRequest& request, const IdentityKeys& keys,
                                 const std::string& account_id) {
  const json::object& launched = request.provider_data;
  const auto document_text = text_in(request.proof, "document", longest_document);
  if (!document_text) return document_text.error();
  if (document_text->empty())
    return Error::auth(
        "workerIdentityProof has no document: the worker must send its instance "
        "identity document");
  const std::string region = text_of(launched, "region");
  if (region.empty())
    return Error::not_found("no machine " + request.worker_id.str() +
                            " is known to have been launched");
  if (const auto good = check_signed(request.proof, *document_text, region, keys); !good)
    return good.error();
  const auto document = json::parse_object(*document_text);
  if (!document)
    return Error::auth("the identity document is not JSON: " + document.error().message);
  const std::string account = account_id.empty() ? text_of(launched, "account") : account_id;
  if (account.empty())
    return Error::auth(
        "the account of this machine is not known; set accountId in the provider's "
        "configuration");
  struct Member {
    const char* key;
    std::string launched;
    const char* what;
  };
  const Member members[] = {{"instanceId", request.worker_id.str(), "machine"},
                            {"region", region, "region"},
                            {"accountId", account, "account"},
                            {"availabilityZone", text_of(launched, "zone"), "availability zone"},
                            {"instanceType", text_of(launched, "type"), "instance type"},
                            {"imageId", text_of(launched, "image"), "image"},
                            {"privateIp", text_of(launched, "privateIp"), "private address"}};
  for (const Member& member : members) {
    // An address is known only once the network has given one.
    if (member.launched.empty() && std::string_view(member.key) == "privateIp") continue;
    if (const auto same = check_equal(*document, member.key, member.launched, member.what); !same)
      return same.error();
  }
  if (request.worker_group.str() != region)
    return Error::auth("workerGroup is \"" + request.worker_group.str() +
                       "\", and the machine is in region " + region);
  if (const auto same = check_start(*document, launched); !same) return same.error();
  return Identity{.worker_group = request.worker_group,
                  .worker_id = request.worker_id,
                  .claims = {{"account", account},
                             {"image", text_of(launched, "image")},
                             {"instanceType", text_of(launched, "type")},
                             {"availabilityZone", text_of(launched, "zone")},
                             {"privateIp", text_of(*document, "privateIp")}}};
}

}  // namespace muster::aws
