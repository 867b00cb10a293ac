#include "plugins/provider/azure/attestation.hpp"

#include <algorithm>
#include <map>

#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "lib/base/letter_case.hpp"
#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "lib/url/url.hpp"

namespace muster::azure {
namespace {

using Bio = OpensslPointer<BIO, BIO_free_all>;
using Certificate = OpensslPointer<X509, X509_free>;
using Message = OpensslPointer<CMS_ContentInfo, CMS_ContentInfo_free>;
using Store = OpensslPointer<X509_STORE, X509_STORE_free>;
using StoreContext = OpensslPointer<X509_STORE_CTX, X509_STORE_CTX_free>;

constexpr std::size_t longest_document = 64 << 10;
constexpr int most_fetches = 4;
constexpr std::size_t most_issuers = 64;

// The certificates in it are others'.
void free_stack(STACK_OF(X509) * stack) {
  sk_X509_free(stack);
}
void free_stack_and_certificates(STACK_OF(X509) * stack) {
  sk_X509_pop_free(stack, X509_free);
}
using Borrowed = OpensslPointer<STACK_OF(X509), free_stack>;
using Owned = OpensslPointer<STACK_OF(X509), free_stack_and_certificates>;

Bio memory_of(std::string_view bytes) {
  return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

std::vector<Certificate> read_pem(std::string_view text) {
  std::vector<Certificate> found;
  const Bio bio = memory_of(text);
  while (X509* read = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    found.emplace_back(read);
  ERR_clear_error();
  return found;
}

Certificate read_any(std::string_view bytes) {
  if (bytes.find("-----BEGIN") != std::string_view::npos) {
    auto found = read_pem(bytes);
    return found.empty() ? Certificate() : std::move(found.front());
  }
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  Certificate read(d2i_X509(nullptr, &at, static_cast<long>(bytes.size())));
  ERR_clear_error();
  return read;
}

std::string name_in(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return {};
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

bool is_metadata_service(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& allowed) {
    return name == allowed || name.ends_with("." + allowed);
  });
}

// Where the certificate says that its issuer's is.
std::vector<std::string> issuers_of(X509* certificate) {
  std::vector<std::string> urls;
  auto* access = static_cast<AUTHORITY_INFO_ACCESS*>(
      X509_get_ext_d2i(certificate, NID_info_access, nullptr, nullptr));
  if (!access) return urls;
  for (int i = 0; i < sk_ACCESS_DESCRIPTION_num(access); ++i) {
    const ACCESS_DESCRIPTION* entry = sk_ACCESS_DESCRIPTION_value(access, i);
    if (OBJ_obj2nid(entry->method) != NID_ad_ca_issuers || entry->location->type != GEN_URI)
      continue;
    const ASN1_STRING* text = entry->location->d.uniformResourceIdentifier;
    urls.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  AUTHORITY_INFO_ACCESS_free(access);
  return urls;
}

Result<Message> read_message(std::string_view document) {
  std::string plain;
  for (const char letter : document)
    if (letter != '\n' && letter != '\r' && letter != ' ') plain += letter;
  if (plain.size() > longest_document) return Error::auth("the attested document is too long");
  const auto bytes = hawk::from_any_base64(plain);
  if (!bytes || bytes->empty()) return Error::auth("the attested document is not base64");
  const auto* at = reinterpret_cast<const unsigned char*>(bytes->data());
  const auto* const end = at + bytes->size();
  Message message(d2i_CMS_ContentInfo(nullptr, &at, static_cast<long>(bytes->size())));
  ERR_clear_error();
  if (!message || at != end || OBJ_obj2nid(CMS_get0_type(message.get())) != NID_pkcs7_signed)
    return Error::auth("the attested document is no signed CMS message");
  return message;
}

bool has_good_digest(CMS_SignerInfo* signer) {
  X509_ALGOR* digest = nullptr;
  CMS_SignerInfo_get0_algs(signer, nullptr, nullptr, &digest, nullptr);
  const ASN1_OBJECT* object = nullptr;
  X509_ALGOR_get0(&object, nullptr, nullptr, digest);
  const int id = OBJ_obj2nid(object);
  return id == NID_sha256 || id == NID_sha384 || id == NID_sha512;
}

}  // namespace

bool is_allowed_issuer(const std::string& url, const std::vector<std::string>& allowed) {
  // What a URL would be normalized to is not what it begins with.
  if (url.find("..") != std::string::npos || !parse_http_url(url)) return false;
  return std::ranges::any_of(allowed,
                             [&](const std::string& begin) { return url.starts_with(begin); });
}

struct Attestation::Certificates {
  Store roots;
  std::vector<Certificate> intermediates;
  std::map<std::string, Certificate> fetched;  // by URL
};

Attestation::Attestation(IdentitySettings settings)
    : settings_(std::move(settings)), certificates_(std::make_unique<Certificates>()) {}
Attestation::~Attestation() = default;

Result<std::unique_ptr<Attestation>> Attestation::create(const IdentitySettings& settings) {
  std::unique_ptr<Attestation> made(new Attestation(settings));
  Certificates& certificates = *made->certificates_;
  certificates.roots.reset(X509_STORE_new());
  if (settings.system_roots) X509_STORE_set_default_paths(certificates.roots.get());
  const auto roots = read_pem(settings.roots);
  if (roots.empty() && !settings.roots.empty())
    return Error::invalid("identityRoots: the file has no certificate that can be read");
  for (const Certificate& root : roots) X509_STORE_add_cert(certificates.roots.get(), root.get());
  certificates.intermediates = read_pem(settings.intermediates);
  if (certificates.intermediates.empty() && !settings.intermediates.empty())
    return Error::invalid("identityIntermediates: the file has no certificate that can be read");
  ERR_clear_error();
  return made;
}

Result<std::string> Attestation::content_of(std::string_view document, Time now,
                                            const Fetch& fetch) {
  const auto message = read_message(document);
  if (!message) return message.error();
  STACK_OF(CMS_SignerInfo)* signers = CMS_get0_SignerInfos(message->get());
  if (!signers || sk_CMS_SignerInfo_num(signers) != 1)
    return Error::auth("the attested document must have exactly one signature");
  if (!has_good_digest(sk_CMS_SignerInfo_value(signers, 0)))
    return Error::auth("the attested document is signed with a digest that is too weak");
  const Bio content(BIO_new(BIO_s_mem()));
  const int verified = CMS_verify(message->get(), nullptr, nullptr, nullptr, content.get(),
                                  CMS_NO_SIGNER_CERT_VERIFY | CMS_BINARY);
  ERR_clear_error();
  if (verified != 1)
    return Error::auth(
        "the signature of the attested document is wrong: it was changed, or has no "
        "certificate");
  const Borrowed found(CMS_get0_signers(message->get()));
  if (!found || sk_X509_num(found.get()) != 1)
    return Error::auth("the attested document has no certificate of its signer");
  X509* const signer = sk_X509_value(found.get(), 0);
  const std::string name = name_in(signer);
  if (!is_metadata_service(name, settings_.names))
    return Error::auth("the attested document is signed by \"" + name + "\", and not by " +
                       settings_.names.front());
  if (const auto good = check_chain(signer, message->get(), now, fetch); !good) return good.error();
  char* data = nullptr;
  const long size = BIO_get_mem_data(content.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

Result<void> Attestation::check_chain(void* signer_of_message, void* message, Time now,
                                      const Fetch& fetch) {
  auto* const signer = static_cast<X509*>(signer_of_message);
  const Owned enclosed(CMS_get1_certs(static_cast<CMS_ContentInfo*>(message)));
  std::string tried;
  for (int attempt = 0;; ++attempt) {
    const Borrowed untrusted(sk_X509_new_null());
    for (int i = 0; enclosed && i < sk_X509_num(enclosed.get()); ++i)
      sk_X509_push(untrusted.get(), sk_X509_value(enclosed.get(), i));
    for (const Certificate& known : certificates_->intermediates)
      sk_X509_push(untrusted.get(), known.get());
    for (const auto& [url, known] : certificates_->fetched)
      sk_X509_push(untrusted.get(), known.get());
    const StoreContext chain(X509_STORE_CTX_new());
    X509_STORE_CTX_init(chain.get(), certificates_->roots.get(), signer, untrusted.get());
    X509_STORE_CTX_set_time(chain.get(), 0, std::chrono::system_clock::to_time_t(now));
    const int verified = X509_verify_cert(chain.get());
    const int error = X509_STORE_CTX_get_error(chain.get());
    ERR_clear_error();
    if (verified == 1) return {};
    const std::string wrong = std::string(
                                  "the certificate of the attested document is not "
                                  "trusted: ") +
                              X509_verify_cert_error_string(error);
    if (error != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY &&
        error != X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT &&
        error != X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE)
      return Error::auth(wrong);
    X509* const last = X509_STORE_CTX_get_current_cert(chain.get());
    std::string url;
    for (const std::string& issuer : issuers_of(last ? last : signer)) {
      if (is_allowed_issuer(issuer, settings_.issuer_urls) &&
          !certificates_->fetched.contains(issuer))
        url = issuer;
      else
        tried += (tried.empty() ? "" : ", ") + issuer;
    }
    if (url.empty() || attempt == most_fetches)
      return Error::auth(wrong + "; its issuer's certificate is not known" +
                         (tried.empty() ? "" : ", and is not fetched from " + tried) +
                         ": add it to identityIntermediates, or its root to identityRoots");
    const auto bytes = fetch(url);
    if (!bytes)
      return Error::transient(
          wrong + "; its issuer's certificate cannot be fetched: " + bytes.error().message);
    Certificate certificate = read_any(*bytes);
    if (!certificate) return Error::auth(wrong + "; what is at " + url + " is no certificate");
    if (certificates_->fetched.size() >= most_issuers) certificates_->fetched.clear();
    certificates_->fetched[url] = std::move(certificate);
  }
}

}  // namespace muster::azure
