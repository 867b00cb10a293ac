#include "plugins/provider/google/jwt.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::google {
namespace {

using Bio = OpensslPointer<BIO, BIO_free_all>;
using Number = OpensslPointer<BIGNUM, BN_free>;
using DigestContext = OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free>;

constexpr std::size_t longest_token = 16 << 10;
constexpr int shortest_key = 2048;
constexpr const char* only_algorithm = "RS256";

const unsigned char* start_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string base64url(std::string_view bytes) {
  std::string text = hawk::base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& letter : text) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
  return text;
}

Result<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != text.npos) return Error::auth("it is not base64url");
  return hawk::from_any_base64(text);
}

Result<json::object> part_of(std::string_view text, const char* which) {
  const auto bytes = from_base64url(text);
  if (!bytes) return Error::auth(std::string("the ") + which + " of the token is not base64url");
  auto document = json::parse_object(*bytes);
  if (!document) return Error::auth(std::string("the ") + which + " of the token is not JSON");
  return document;
}

Number number_in(const json::object& jwk, const char* key) {
  const auto bytes = from_base64url(cloud::text_of(jwk, key));
  if (!bytes || bytes->empty() || bytes->size() > 1024) return {};
  return Number(BN_bin2bn(start_of(*bytes), static_cast<int>(bytes->size()), nullptr));
}

std::shared_ptr<void> shared(EVP_PKEY* key) {
  return std::shared_ptr<void>(
      key, [](void* pointer) { EVP_PKEY_free(static_cast<EVP_PKEY*>(pointer)); });
}

Bio memory_of(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

}  // namespace

Result<Jwt> read_jwt(std::string_view text) {
  if (text.empty() || text.size() > longest_token)
    return Error::auth("the token is empty or longer than 16 KiB");
  const auto first = text.find('.');
  const auto second = first == text.npos ? text.npos : text.find('.', first + 1);
  if (second == text.npos || text.find('.', second + 1) != text.npos)
    return Error::auth("the token does not have the three parts of a JSON Web Token");
  auto header = part_of(text.substr(0, first), "header");
  if (!header) return header.error();
  const std::string algorithm = cloud::text_of(*header, "alg");
  if (algorithm != only_algorithm)
    return Error::auth("the token's algorithm is \"" + algorithm.substr(0, 20) +
                       "\", and only RS256 is accepted");
  if (header->contains("crit"))
    return Error::auth("the token's header demands extensions (crit), and none is known");
  auto claims = part_of(text.substr(first + 1, second - first - 1), "content");
  if (!claims) return claims.error();
  auto signature = from_base64url(text.substr(second + 1));
  if (!signature || signature->empty())
    return Error::auth("the signature of the token is missing or not base64url");
  return Jwt{std::move(*header), std::move(*claims), std::string(text.substr(0, second)),
             std::move(*signature)};
}

Result<std::string> sign_jwt(const json::object& header, const json::object& claims,
                             const Secret& private_key) {
  const Bio bio = memory_of(private_key.reveal());
  // No passphrase: nobody is there to type it.
  char none[] = "";
  const OpensslPointer<EVP_PKEY, EVP_PKEY_free> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, none));
  ERR_clear_error();
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA)
    return Error::auth("its private_key is not an RSA key in PEM");
  const std::string text = base64url(json::write(header)) + "." + base64url(json::write(claims));
  const DigestContext context(EVP_MD_CTX_new());
  std::size_t length = 0;
  std::string signature;
  bool good = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &length, start_of(text), text.size()) == 1;
  if (good) {
    signature.resize(length);
    good = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                          &length, start_of(text), text.size()) == 1;
    signature.resize(length);
  }
  ERR_clear_error();
  if (!good) return Error::auth("its private_key cannot sign");
  return text + "." + base64url(signature);
}

Result<PublicKey> PublicKey::checked(std::shared_ptr<void> key) {
  ERR_clear_error();
  auto* const pointer = static_cast<EVP_PKEY*>(key.get());
  if (!pointer) return Error::invalid("is not a public key");
  if (EVP_PKEY_get_base_id(pointer) != EVP_PKEY_RSA || EVP_PKEY_get_bits(pointer) < shortest_key)
    return Error::invalid("is not an RSA key of at least 2048 bits");
  return PublicKey(std::move(key));
}

Result<PublicKey> PublicKey::from_jwk(const json::object& jwk) {
  if (cloud::text_of(jwk, "kty") != "RSA") return Error::invalid("is not an RSA key");
  const Number modulus = number_in(jwk, "n"), exponent = number_in(jwk, "e");
  if (!modulus || !exponent) return Error::invalid("lacks n or e of an RSA key");
  const OpensslPointer<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  const OpensslPointer<OSSL_PARAM, OSSL_PARAM_free> parameters(
      OSSL_PARAM_BLD_to_param(builder.get()));
  const OpensslPointer<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    key = nullptr;
  return checked(shared(key));
}

Result<PublicKey> PublicKey::from_pem(std::string_view pem) {
  const Bio bio = memory_of(pem);
  if (pem.find("-----BEGIN CERTIFICATE-----") == pem.npos)
    return checked(shared(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr)));
  const OpensslPointer<X509, X509_free> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  return checked(shared(certificate ? X509_get_pubkey(certificate.get()) : nullptr));
}

bool PublicKey::has_signed(const Jwt& token) const {
  const DigestContext context(EVP_MD_CTX_new());
  const bool good =
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr,
                           static_cast<EVP_PKEY*>(key_.get())) == 1 &&
      EVP_DigestVerify(context.get(), start_of(token.signature), token.signature.size(),
                       start_of(token.signed_part), token.signed_part.size()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace muster::google
