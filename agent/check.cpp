#include <unistd.h>

#include <muster/json.hpp>

#include "agent/configuration.hpp"
#include "agent/pool_key.hpp"
#include "agent/tls.hpp"
#include "lib/base/file_ownership.hpp"
#include "lib/base/secret_file.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t secret_letters = 44;

}  // namespace

std::vector<config::Mistake> check_files(const Configuration& configuration) {
  std::vector<config::Mistake> mistakes;
  const auto wrong = [&](const char* key, std::string reason) {
    mistakes.push_back({config::Severity::error, {}, key, std::move(reason), ""});
  };
  const IdentitySettings& identity = configuration.identity;
  // It names programs that the agent starts, and worker-runner's holds the secret itself.
  std::error_code failed;
  if (std::filesystem::exists(configuration.file, failed))
    if (const auto ours = check_ownership(configuration.file, "the configuration",
                                          identity.secret ? OthersMay::nothing : OthersMay::read);
        !ours)
      wrong("", ours.error().message);
  const bool by_secret =
      identity.kind == IdentityKind::local || identity.kind == IdentityKind::static_secret;
  if (by_secret) {
    const auto secret = identity.secret
                            ? Result<Secret>(*identity.secret)
                            : read_secret_file(identity.secret_file, "the worker's secret");
    if (!secret)
      wrong("identity.secretFile", secret.error().message);
    else if (secret->reveal().size() != secret_letters)
      wrong("identity.secretFile", "the worker's secret has " +
                                       std::to_string(secret->reveal().size()) +
                                       " letters; all have 44");
  }
  if (!identity.proof_file.empty()) {
    const auto proof =
        read_secret_file(identity.proof_file, "the worker's proof", SecretText::document);
    if (!proof)
      wrong("identity.proofFile", proof.error().message);
    else if (!json::parse_object(proof->reveal()))
      wrong("identity.proofFile", identity.proof_file.string() + " is not a JSON object");
  }
  if (!identity.key_file.empty()) {
    const auto key = read_secret_file(identity.key_file, "the pool's key", SecretText::document);
    const auto usable = key ? sign_with_pool_key(*key, identity.key_file, "a test")
                            : Result<PoolSignature>(key.error());
    const bool alone = identity.kind == IdentityKind::pool_key;
    if (!usable) wrong(alone ? "identity.keyFile" : "identity.poolKeyFile", usable.error().message);
  }
  if (!configuration.ca_file.empty())
    if (const auto trust = TlsContext::make(configuration.ca_file.string()); !trust)
      wrong("caFile", trust.error().message);
  const std::string& program = configuration.worker.command.front();
  if (program.find('/') != std::string::npos && ::access(program.c_str(), X_OK) != 0)
    wrong("worker.command", program + " is not a program that can be run");
  return mistakes;
}

}  // namespace muster::agent
