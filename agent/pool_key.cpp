#include "agent/pool_key.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "lib/ssh/wire.hpp"

namespace muster::agent {
namespace {

using Key = OpensslPointer<EVP_PKEY, EVP_PKEY_free>;
using Number = OpensslPointer<BIGNUM, BN_clear_free>;

constexpr std::string_view openssh_begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view openssh_end = "-----END OPENSSH PRIVATE KEY-----";
constexpr int least_rsa_bits = 2048;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

void add_number(std::string& to, const BIGNUM* number) {
  std::string bytes(static_cast<std::size_t>(BN_num_bytes(number)), '\0');
  ::BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
  if (!bytes.empty() && (bytes[0] & 0x80)) bytes.insert(0, 1, '\0');  // or it would be negative
  to += ssh::wire_text(bytes);
}

Key rsa_key(std::string_view n, std::string_view e, std::string_view d) {
  const auto number = [](std::string_view bytes) {
    return Number(::BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
  };
  const Number modulus = number(n), exponent = number(e), secret = number(d);
  const OpensslPointer<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(::OSSL_PARAM_BLD_new());
  ::OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  ::OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  ::OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_D, secret.get());
  const OpensslPointer<OSSL_PARAM, OSSL_PARAM_free> parameters(
      ::OSSL_PARAM_BLD_to_param(builder.get()));
  const OpensslPointer<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(
      ::EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* made = nullptr;
  if (::EVP_PKEY_fromdata_init(context.get()) != 1 ||
      ::EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, parameters.get()) != 1)
    return nullptr;
  return Key(made);
}

Result<Key> read_openssh(std::string_view text) {
  const auto begin = text.find(openssh_begin) + openssh_begin.size();
  const auto end = text.find(openssh_end, begin);
  if (end == text.npos) return Error::config("it has no end");
  std::string lines;
  for (const char c : text.substr(begin, end - begin))
    if (c > ' ') lines += c;
  const auto decoded = hawk::from_any_base64(lines);
  if (!decoded) return Error::config("it is not base64");
  ssh::WireReader outer(*decoded);
  if (!outer.skip(std::string_view("openssh-key-v1\0", 15)))
    return Error::config("it is not an OpenSSH key of version 1");
  const auto cipher = outer.text();
  outer.text();  // how a passphrase becomes a key
  outer.text();
  if (cipher && *cipher != "none")
    return Error::config("it has a passphrase, which the agent cannot type in");
  if (outer.number() != 1u) return Error::config("it does not hold exactly one key");
  outer.text();  // the public key, which is in the other part, too
  const auto secret_part = outer.text();
  ssh::WireReader inner(secret_part.value_or(""));
  const auto first = inner.number(), second = inner.number();
  const auto type = inner.text();
  if (!type || first != second) return Error::config("it is damaged");
  Key key;
  if (*type == "ssh-ed25519") {
    inner.text();
    const auto pair = inner.text();
    if (pair && pair->size() == 64)
      key.reset(::EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(*pair), 32));
  } else if (*type == "ssh-rsa") {
    const auto n = inner.text(), e = inner.text(), d = inner.text();
    if (n && e && d) key = rsa_key(*n, *e, *d);
  } else {
    return Error::config("it is neither an Ed25519 nor an RSA key");
  }
  if (!key) return Error::config("it is damaged");
  return key;
}

int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<Key> read_pem(std::string_view text) {
  const OpensslPointer<BIO, BIO_free_all> input(
      ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  bool asked = false;
  Key key(::PEM_read_bio_PrivateKey(input.get(), nullptr, no_passphrase, &asked));
  ::ERR_clear_error();
  if (asked) return Error::config("it has a passphrase, which the agent cannot type in");
  if (!key) return Error::config("it is neither PEM nor an OpenSSH private key");
  return key;
}

// The public half as OpenSSH writes it; nothing for keys of other kinds.
std::optional<std::string> public_key_of(EVP_PKEY* key) {
  std::string blob, type;
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519) {
    std::string raw(32, '\0');
    std::size_t size = raw.size();
    if (::EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(raw.data()), &size) !=
        1)
      return std::nullopt;
    blob = ssh::wire_text(type = "ssh-ed25519") + ssh::wire_text(raw);
  } else if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
    BIGNUM *n = nullptr, *e = nullptr;
    ::EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n);
    ::EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e);
    const Number modulus(n), exponent(e);
    if (!modulus || !exponent) return std::nullopt;
    blob = ssh::wire_text(type = "ssh-rsa");
    add_number(blob, exponent.get());
    add_number(blob, modulus.get());
  } else {
    return std::nullopt;
  }
  return type + " " + hawk::base64(blob);
}

}  // namespace

Result<PoolSignature> sign_with_pool_key(const Secret& key_text, const std::filesystem::path& file,
                                         std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return Error::config("the pool's key in " + file.string() + " cannot be used: " + why);
  };
  const std::string& content = key_text.reveal();
  const bool openssh = content.find(openssh_begin) != std::string::npos;
  auto key = openssh ? read_openssh(content) : read_pem(content);
  if (!key) return wrong(key.error().message);
  const auto public_key = public_key_of(key->get());
  if (!public_key) return wrong("it is neither an Ed25519 nor an RSA key");
  const bool rsa = EVP_PKEY_get_base_id(key->get()) == EVP_PKEY_RSA;
  if (rsa && EVP_PKEY_get_bits(key->get()) < least_rsa_bits)
    return wrong("RSA keys have at least 2048 bits");
  const OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free> context(::EVP_MD_CTX_new());
  std::size_t size = 0;
  if (::EVP_DigestSignInit(context.get(), nullptr, rsa ? ::EVP_sha512() : nullptr, nullptr,
                           key->get()) != 1 ||
      ::EVP_DigestSign(context.get(), nullptr, &size, bytes_of(text), text.size()) != 1)
    return wrong("OpenSSL refuses it");
  std::string signature(size, '\0');
  if (::EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                       bytes_of(text), text.size()) != 1)
    return wrong("OpenSSL refuses it");
  signature.resize(size);
  return PoolSignature{hawk::base64(signature), *public_key};
}

}  // namespace muster::agent
