#include "lib/ssh/public_key.hpp"

#include <algorithm>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/sha.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/ssh/wire.hpp"

namespace muster::ssh {
namespace {

constexpr std::size_t longest_line = 16 << 10;
constexpr int least_rsa_bits = 2048, most_rsa_bits = 16384;
constexpr std::string_view ed25519_word = "ssh-ed25519", rsa_word = "ssh-rsa";

using Number = OpensslPointer<BIGNUM, BN_free>;
using KeyPointer = std::shared_ptr<EVP_PKEY>;

// A failed call leaves its story in a queue of the thread, where the next user of TLS finds it.
struct ForgetFailures {
  ~ForgetFailures() { ::ERR_clear_error(); }
};

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

KeyPointer owned(EVP_PKEY* key) {
  return {key, [](EVP_PKEY* held) { ::EVP_PKEY_free(held); }};
}

Number number_of(std::string_view bytes) {
  return Number(::BN_bin2bn(octets(bytes), static_cast<int>(bytes.size()), nullptr));
}

KeyPointer rsa_key(const Number& exponent, const Number& modulus) {
  const OpensslPointer<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> parts(::OSSL_PARAM_BLD_new());
  if (!parts || !::OSSL_PARAM_BLD_push_BN(parts.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) ||
      !::OSSL_PARAM_BLD_push_BN(parts.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()))
    return nullptr;
  const OpensslPointer<OSSL_PARAM, OSSL_PARAM_free> list(::OSSL_PARAM_BLD_to_param(parts.get()));
  const OpensslPointer<EVP_PKEY_CTX, EVP_PKEY_CTX_free> maker(
      ::EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* made = nullptr;
  if (!list || !maker || ::EVP_PKEY_fromdata_init(maker.get()) != 1 ||
      ::EVP_PKEY_fromdata(maker.get(), &made, EVP_PKEY_PUBLIC_KEY, list.get()) != 1)
    return nullptr;
  return owned(made);
}

Result<KeyPointer> read_rsa(WireReader& reader) {
  const auto exponent = reader.positive();
  const auto modulus = reader.positive();
  if (!exponent || !modulus || !reader.at_end())
    return Error::invalid("it is not an RSA key: it is truncated or damaged");
  if (exponent->size() > 8 || modulus->size() > most_rsa_bits / 8)
    return Error::invalid("its numbers are larger than those of any RSA key in use");
  const Number e = number_of(*exponent), n = number_of(*modulus);
  if (!e || !n) return Error::internal("no memory for a key");
  if (const int bits = ::BN_num_bits(n.get()); bits < least_rsa_bits)
    return Error::invalid("an RSA key of " + std::to_string(bits) + " bits is too weak; " +
                          std::to_string(least_rsa_bits) + " are the least");
  if (!::BN_is_odd(n.get()) || !::BN_is_odd(e.get()) || ::BN_is_one(e.get()))
    return Error::invalid("its numbers are not those of an RSA key");
  KeyPointer key = rsa_key(e, n);
  if (!key) return Error::invalid("its numbers are not those of an RSA key");
  return key;
}

Result<KeyPointer> read_ed25519(WireReader& reader) {
  const auto point = reader.text();
  if (!point || point->size() != 32 || !reader.at_end())
    return Error::invalid("it is not an Ed25519 key: it is truncated or damaged");
  KeyPointer key = owned(
      ::EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(*point), point->size()));
  if (!key) return Error::invalid("it is not an Ed25519 key");
  return key;
}

std::string_view next_word(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
  const auto end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::string kind_in_words(std::string_view kind) {
  std::string shown;
  for (const char c : kind.substr(0, 40)) shown += c > ' ' && c < '\x7f' ? c : '?';
  return "\"" + shown + "\" is not a kind of key that is supported; use ssh-ed25519 or ssh-rsa";
}

}  // namespace

Result<PublicKey> PublicKey::from_blob(std::string_view blob) {
  const ForgetFailures forget;
  WireReader reader(blob);
  const auto kind = reader.text();
  if (!kind) return Error::invalid("it is truncated or damaged");
  const bool rsa = *kind == rsa_word;
  if (!rsa && *kind != ed25519_word) return Error::invalid(kind_in_words(*kind));
  auto key = rsa ? read_rsa(reader) : read_ed25519(reader);
  if (!key) return key.error();
  return PublicKey(blob, std::move(*key), rsa);
}

Result<PublicKey> PublicKey::parse(std::string_view line) {
  if (line.size() > longest_line) return Error::invalid("is too long for a key");
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_of("\r\n") != std::string_view::npos)
    return Error::invalid("has several lines; each key is a string of its own");
  if (line.find("PRIVATE KEY") != std::string_view::npos)
    return Error::invalid("is a private key: only the public one belongs here");
  const std::string_view kind = next_word(line);
  if (kind.empty()) return Error::invalid("is empty");
  if (kind != rsa_word && kind != ed25519_word) return Error::invalid(kind_in_words(kind));
  const auto blob = from_base64(next_word(line));
  if (!blob || blob->empty())
    return Error::invalid("what follows \"" + std::string(kind) + "\" is not base64");
  auto key = from_blob(*blob);
  if (key && key->is_rsa() != (kind == rsa_word))
    return Error::invalid("its bytes are of another kind of key than \"" + std::string(kind) +
                          "\"");
  return key;
}

Result<std::vector<PublicKey>> parse_keys(const std::vector<std::string>& lines) {
  std::vector<PublicKey> keys;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto wrong = [&](const std::string& why) {
      return Error::invalid("[" + std::to_string(i) + "]: " + why);
    };
    auto key = PublicKey::parse(lines[i]);
    if (!key) return wrong(key.error().message);
    if (std::ranges::find(keys, key->blob(), &PublicKey::blob) != keys.end())
      return wrong("this key occurs twice");
    keys.push_back(std::move(*key));
  }
  return keys;
}

bool PublicKey::verifies(std::string_view message, std::string_view signature,
                         RsaDigest digest) const {
  const ForgetFailures forget;
  const OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free> check(::EVP_MD_CTX_new());
  const EVP_MD* const hash = !rsa_                         ? nullptr
                             : digest == RsaDigest::sha512 ? ::EVP_sha512()
                                                           : ::EVP_sha256();
  return check && ::EVP_DigestVerifyInit(check.get(), nullptr, hash, nullptr, key_.get()) == 1 &&
         ::EVP_DigestVerify(check.get(), octets(signature), signature.size(), octets(message),
                            message.size()) == 1;
}

std::string PublicKey::fingerprint() const {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(octets(blob_), blob_.size(), digest);
  return "SHA256:" + to_bare_base64({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace muster::ssh
