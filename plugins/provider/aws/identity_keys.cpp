#include "plugins/provider/aws/identity_keys.hpp"

#include <algorithm>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

using PublicKey = OpensslPointer<EVP_PKEY, EVP_PKEY_free>;
using Certificate = OpensslPointer<X509, X509_free>;
using Bio = OpensslPointer<BIO, BIO_free_all>;

constexpr std::size_t longest_proof = 64 << 10;
constexpr int shortest_own_key = 2048;

// The certificates in it are others'.
void free_stack(STACK_OF(X509) * stack) {
  sk_X509_free(stack);
}

// Nothing for what is not base64. Lines may be broken anywhere.
std::optional<std::string> from_base64(std::string_view text) {
  std::string plain;
  for (const char letter : text)
    if (letter != '\n' && letter != '\r' && letter != ' ' && letter != '\t') plain += letter;
  if (plain.empty() || plain.size() % 4 != 0 || plain.size() > longest_proof) return std::nullopt;
  std::string bytes(plain.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(plain.data()),
                                     static_cast<int>(plain.size()));
  ERR_clear_error();
  if (length < 0) return std::nullopt;
  const std::size_t padding = plain.ends_with("==") ? 2 : plain.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

std::string_view without_pem_lines(std::string_view text) {
  if (const std::size_t begin = text.find("-----BEGIN"); begin != std::string_view::npos) {
    text.remove_prefix(std::min(text.size(), text.find('\n', begin)));
    text = text.substr(0, text.find("-----END"));
  }
  return text;
}

Bio memory_of(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

const unsigned char* start_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string content_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

struct IdentityKeys::Key {
  std::vector<std::string> regions;
  PublicKey key;
  Certificate certificate;  // may be null: then it is for plain signatures alone
  bool for_signatures = true;
  bool is_own = false;  // the operator's

  bool is_for(const std::string& region) const {
    return std::ranges::find(regions, region) != regions.end();
  }
  bool is_for_all() const { return is_for("*"); }
};

IdentityKeys::IdentityKeys() = default;
IdentityKeys::~IdentityKeys() = default;

Result<std::unique_ptr<const IdentityKeys>> IdentityKeys::read(const Settings& settings) {
  std::unique_ptr<IdentityKeys> keys(new IdentityKeys);
  for (std::size_t i = 0; i < settings.identity_keys.size(); ++i) {
    const IdentityKey& given = settings.identity_keys[i];
    Key key{.regions = given.regions, .key = {}, .certificate = {}, .is_own = true};
    const Bio bio = memory_of(given.pem);
    if (given.pem.find("-----BEGIN CERTIFICATE-----") != std::string::npos) {
      key.certificate.reset(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
      if (key.certificate) key.key.reset(X509_get_pubkey(key.certificate.get()));
    } else {
      key.key.reset(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
    }
    ERR_clear_error();
    const std::string path = "identityKeys[" + std::to_string(i) + "]";
    if (!key.key) return Error::invalid(path + ": is not a certificate or public key in PEM");
    if (EVP_PKEY_get_base_id(key.key.get()) != EVP_PKEY_RSA ||
        EVP_PKEY_get_bits(key.key.get()) < shortest_own_key)
      return Error::invalid(path + ": must be an RSA key of at least 2048 bits");
    keys->keys_.push_back(std::move(key));
  }
  if (!settings.built_in_identity_keys) return std::unique_ptr<const IdentityKeys>(std::move(keys));
  const json::value document = documents.read("identity_certificates");
  for (const json::value& entry : document.as_array()) {
    const json::object& row = entry.as_object();
    Key key;
    for (const json::value& region : row.at("regions").as_array())
      key.regions.emplace_back(region.as_string());
    key.for_signatures = text_of(row, "kind") == "signature";
    const std::string bytes =
        from_base64(text_of(row, key.for_signatures ? "publicKey" : "certificate")).value();
    const unsigned char* at = start_of(bytes);
    if (key.for_signatures) {
      key.key.reset(d2i_PUBKEY(nullptr, &at, static_cast<long>(bytes.size())));
    } else {
      key.certificate.reset(d2i_X509(nullptr, &at, static_cast<long>(bytes.size())));
      if (key.certificate) key.key.reset(X509_get_pubkey(key.certificate.get()));
    }
    if (!key.key) return Error::internal("a built-in certificate cannot be read");
    keys->keys_.push_back(std::move(key));
  }
  return std::unique_ptr<const IdentityKeys>(std::move(keys));
}

// A key for all regions is AWS's for those that have none of their own, and the operator's for all.
std::vector<const IdentityKeys::Key*> IdentityKeys::keys_of(const std::string& region,
                                                            bool needs_certificate) const {
  std::vector<const Key*> fitting;
  bool has_own = false;
  const auto is_of_kind = [&](const Key& key) {
    return key.is_own ? !needs_certificate || key.certificate
                      : key.for_signatures != needs_certificate;
  };
  for (const Key& key : keys_)
    if (is_of_kind(key) && (key.is_for(region) || (key.is_own && key.is_for_all()))) {
      fitting.push_back(&key);
      has_own |= !key.is_own;
    }
  for (const Key& key : keys_)
    if (is_of_kind(key) && !key.is_own && !has_own && key.is_for_all()) fitting.push_back(&key);
  return fitting;
}

Result<void> IdentityKeys::check_signature(const std::string& region, std::string_view document,
                                           std::string_view signature) const {
  const auto bytes = from_base64(signature);
  if (!bytes) return Error::auth("the signature of the identity document is not base64");
  const auto keys = keys_of(region, false);
  for (const Key* key : keys) {
    const OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    const bool good =
        EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key->key.get()) == 1 &&
        EVP_DigestVerify(context.get(), start_of(*bytes), bytes->size(), start_of(document),
                         document.size()) == 1;
    ERR_clear_error();
    if (good) return {};
  }
  return Error::auth("the signature of the identity document was made by none of the " +
                     std::to_string(keys.size()) + " keys for region " + region +
                     ", or the document was changed. New regions have new keys: add them as "
                     "identityKeys");
}

Result<void> IdentityKeys::check_pkcs7(const std::string& region, std::string_view document,
                                       std::string_view pkcs7) const {
  const auto bytes = from_base64(without_pem_lines(pkcs7));
  if (!bytes) return Error::auth("the PKCS #7 signature of the identity document is not base64");
  const unsigned char* at = start_of(*bytes);
  const OpensslPointer<PKCS7, PKCS7_free> message(
      d2i_PKCS7(nullptr, &at, static_cast<long>(bytes->size())));
  ERR_clear_error();
  if (!message || !PKCS7_type_is_signed(message.get()))
    return Error::auth("the PKCS #7 signature of the identity document is not a signed message");
  const auto keys = keys_of(region, true);
  for (const Key* key : keys) {
    const OpensslPointer<STACK_OF(X509), free_stack> certificates(sk_X509_new_null());
    sk_X509_push(certificates.get(), key->certificate.get());
    const Bio out(BIO_new(BIO_s_mem()));
    const bool detached = PKCS7_get_detached(message.get()) != 0;
    const Bio in = memory_of(document);
    // Only the certificates given here count, whatever the message brings along.
    const bool good =
        PKCS7_verify(message.get(), certificates.get(), nullptr, detached ? in.get() : nullptr,
                     out.get(), PKCS7_NOINTERN | PKCS7_NOVERIFY | PKCS7_BINARY) == 1;
    ERR_clear_error();
    if (!good) continue;
    if (!detached && content_of(out.get()) != document)
      return Error::auth("the PKCS #7 signature is good, but for another identity document");
    return {};
  }
  return Error::auth("the PKCS #7 signature of the identity document was made by none of the " +
                     std::to_string(keys.size()) + " certificates for region " + region +
                     ", or the document was changed. New regions have new certificates: add them "
                     "as identityKeys");
}

}  // namespace muster::aws
