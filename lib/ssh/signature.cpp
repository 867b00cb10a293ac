// Signatures: bare ones, and those of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig), which an
// ssh-agent or a token can make.
#include <algorithm>
#include <array>

#include <openssl/sha.h>

#include "lib/ssh/public_key.hpp"
#include "lib/ssh/wire.hpp"

namespace muster::ssh {
namespace {

constexpr std::string_view armour_begin = "-----BEGIN SSH SIGNATURE-----";
constexpr std::string_view armour_end = "-----END SSH SIGNATURE-----";
constexpr std::string_view sshsig_magic = "SSHSIG";
constexpr std::size_t longest_signature = 16 << 10;

struct SshSignature {
  std::string_view key, name_space, reserved, hash, algorithm, signature;
};

// Without the armour and its line ends; nothing if it is no armoured signature.
std::optional<std::string> without_armour(std::string_view text) {
  const auto is_space = [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (!text.starts_with(armour_begin) || !text.ends_with(armour_end) ||
      text.size() < armour_begin.size() + armour_end.size())
    return std::nullopt;
  text.remove_prefix(armour_begin.size());
  text.remove_suffix(armour_end.size());
  std::string letters;
  std::copy_if(text.begin(), text.end(), std::back_inserter(letters),
               [&](char c) { return !is_space(c); });
  return from_base64(letters);
}

std::optional<SshSignature> read_sshsig(std::string_view blob) {
  WireReader reader(blob);
  if (!reader.skip(sshsig_magic) || reader.number() != 1u) return std::nullopt;
  const auto key = reader.text(), name_space = reader.text(), reserved = reader.text(),
             hash = reader.text(), signature = reader.text();
  if (!key || !name_space || !reserved || !hash || !signature || !reader.at_end())
    return std::nullopt;
  WireReader inner(*signature);
  const auto algorithm = inner.text(), bytes = inner.text();
  if (!algorithm || !bytes || !inner.at_end()) return std::nullopt;
  return SshSignature{*key, *name_space, *reserved, *hash, *algorithm, *bytes};
}

// What such a signature is over, in place of the message itself.
std::optional<std::string> signed_text(const SshSignature& given, std::string_view message) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  std::size_t size = digest.size();
  if (given.hash == "sha512")
    ::SHA512(bytes, message.size(), digest.data());
  else if (given.hash == "sha256")
    ::SHA256(bytes, message.size(), digest.data()), size = SHA256_DIGEST_LENGTH;
  else
    return std::nullopt;
  return std::string(sshsig_magic) + wire_text(given.name_space) + wire_text(given.reserved) +
         wire_text(given.hash) + wire_text({reinterpret_cast<const char*>(digest.data()), size});
}

const PublicKey* signer_of_sshsig(std::string_view message, std::string_view blob,
                                  const std::vector<PublicKey>& keys) {
  const auto given = read_sshsig(blob);
  if (!given || given->name_space != signature_namespace) return nullptr;
  const auto text = signed_text(*given, message);
  const auto key = std::ranges::find(keys, given->key, &PublicKey::blob);
  if (!text || key == keys.end()) return nullptr;
  const bool fits = key->is_rsa()
                        ? given->algorithm == "rsa-sha2-512" || given->algorithm == "rsa-sha2-256"
                        : given->algorithm == "ssh-ed25519";
  const auto digest = given->algorithm == "rsa-sha2-256" ? PublicKey::RsaDigest::sha256
                                                         : PublicKey::RsaDigest::sha512;
  return fits && key->verifies(*text, given->signature, digest) ? &*key : nullptr;
}

}  // namespace

const PublicKey* signer_of(std::string_view message, std::string_view signature,
                           const std::vector<PublicKey>& keys) {
  if (message.empty() || signature.size() > longest_signature) return nullptr;
  if (const auto blob = without_armour(signature)) return signer_of_sshsig(message, *blob, keys);
  const auto bytes = from_base64(signature);
  if (!bytes || bytes->empty()) return nullptr;
  const auto key = std::ranges::find_if(
      keys, [&](const PublicKey& candidate) { return candidate.verifies(message, *bytes); });
  return key == keys.end() ? nullptr : &*key;
}

}  // namespace muster::ssh
