#include "plugins/provider/static/static_provider.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <muster/codec.hpp>

namespace muster::static_machines {
namespace {

const char* const section_name = "static";

struct Config {
  std::string region = "static";

  static constexpr auto fields() { return std::tuple{optional("region", &Config::region)}; }
};

std::string sha256_hex(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

// Digests have all the same length, and take the same time to compare wherever they differ.
bool is_digest_of(std::string_view digest, std::string_view secret) {
  const std::string given = sha256_hex(secret);
  return digest.size() == given.size() &&
         ::CRYPTO_memcmp(digest.data(), given.data(), given.size()) == 0;
}

Error launches_nothing() {
  return Error::unsupported(
      "machines of this provider are announced by their owner (createWorker), not launched");
}

}  // namespace

ProviderDescription StaticProvider::describe() {
  return {.description = "Machines that their owner announces, each with a secret",
          .config_schema = {{"type", "object"},
                            {"additionalProperties", false},
                            {"properties",
                             {{"region",
                               {{"type", "string"},
                                {"minLength", 1},
                                {"description", "What rules call the place of these machines"}}}}}},
          .section = section_name,
          .section_schema = {{"type", "object"}, {"additionalProperties", false}},
          .capabilities = {capability::announced_workers},
          .example_config = {{"region", "rack-1"}},
          .example_section = json::object()};
}

Result<std::unique_ptr<Provider>> StaticProvider::create(const json::object& config,
                                                         const Context&) {
  auto read = from_value<Config>(json::value(config));
  if (!read) return read.error();
  if (read->region.empty()) return Error::invalid("region: is empty");
  return std::make_unique<StaticProvider>(std::move(read->region));
}

Result<Placements> StaticProvider::placements(const PlacementsRequest&, const Context&) {
  return Placements{{{{{"region", region_}}}}};
}

Result<Expansion> StaticProvider::expand(const ExpandRequest& request, const Context&) {
  const json::value* section = request.document.if_contains(section_name);
  if (section && !section->is_object()) return Error::invalid("static: must be an object");
  if (section && !section->get_object().empty())
    return Error::invalid("static." + std::string(section->get_object().begin()->key()) +
                          ": is not known; there is nothing to say about such machines");
  json::object document{{section_name, json::object()}};
  for (const char* key : {"workerManager", "workerConfig"})
    if (const json::value* given = request.document.if_contains(key)) document[key] = *given;
  return Expansion{{{std::move(document)}}};
}

Result<Bids> StaticProvider::bid(const BidRequest& request, const Context&) {
  if (request.candidates.empty()) return Bids{};
  return Bids{.bids = {}, .problems = {launches_nothing()}};
}

Result<Allocation> StaticProvider::allocate(const AllocateRequest& request, const Context&) {
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys)
    allocation.launches.push_back({key, std::nullopt, launches_nothing()});
  return allocation;
}

Result<Listing> StaticProvider::list(const ListRequest&, const Context&) {
  return Listing{};
}

Result<Termination> StaticProvider::terminate(const TerminateRequest&, const Context&) {
  return Termination{};
}

Result<Identity> StaticProvider::identify(const IdentifyRequest& request, const Context&) {
  const json::value* secret = request.proof.if_contains("staticSecret");
  if (!secret || !secret->is_string())
    return Error::auth("missing staticSecret in workerIdentityProof");
  const json::value* digest = request.provider_data.if_contains("staticSecretSha256");
  if (!digest || !digest->is_string() || !is_digest_of(digest->get_string(), secret->get_string()))
    return Error::auth("bad staticSecret in workerIdentityProof");
  return Identity{request.worker_group, request.worker_id};
}

}  // namespace muster::static_machines
