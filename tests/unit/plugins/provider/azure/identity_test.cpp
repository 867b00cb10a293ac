#include <fstream>

#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/crypto/sha256_digits.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/provider/azure/diagnosis.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/plugins/provider/azure/fixture.hpp"

namespace muster::azure {
namespace {

using Key = OpensslPointer<EVP_PKEY, EVP_PKEY_free>;
using Certificate = OpensslPointer<X509, X509_free>;

std::string written(const std::function<void(BIO*)>& write) {
  const OpensslPointer<BIO, BIO_free_all> out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// Making a key takes long: a few serve all tests.
EVP_PKEY* some_key(int number) {
  static const std::array<Key, 4> keys{Key(EVP_RSA_gen(2048)), Key(EVP_RSA_gen(2048)),
                                       Key(EVP_RSA_gen(2048)), Key(EVP_RSA_gen(2048))};
  return keys[static_cast<std::size_t>(number) % keys.size()].get();
}

// Somebody with a key and a certificate of `issuer`; nothing: of its own.
struct Party {
  Party(const char* name, const Party* issuer, const char* issuer_url = nullptr,
        bool is_authority = true)
      : key(some_key(serial)), certificate(X509_new()) {
    X509* made = certificate.get();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    // 2026, as the clock of the tests.
    ASN1_TIME_set(X509_getm_notBefore(made), 1'767'000'000);
    ASN1_TIME_set(X509_getm_notAfter(made), 1'777'000'000);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(
        made, X509_get_subject_name(issuer ? issuer->certificate.get() : certificate.get()));
    if (is_authority) extend(NID_basic_constraints, "critical,CA:TRUE");
    if (issuer_url) extend(NID_info_access, ("caIssuers;URI:" + std::string(issuer_url)).c_str());
    X509_sign(made, issuer ? issuer->key : key, EVP_sha256());
  }

  void extend(int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    X509_add_ext(certificate.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  std::string pem() const {
    return written([&](BIO* out) { PEM_write_bio_X509(out, certificate.get()); });
  }
  std::string der() const {
    return written([&](BIO* out) { i2d_X509_bio(out, certificate.get()); });
  }
  std::string sign(const std::string& content, const EVP_MD* digest = EVP_sha256()) const {
    const OpensslPointer<BIO, BIO_free_all> in(
        BIO_new_mem_buf(content.data(), static_cast<int>(content.size())));
    const OpensslPointer<CMS_ContentInfo, CMS_ContentInfo_free> message(
        CMS_sign(nullptr, nullptr, nullptr, nullptr, CMS_PARTIAL | CMS_BINARY));
    CMS_add1_signer(message.get(), certificate.get(), key, digest, CMS_NOATTR | CMS_BINARY);
    CMS_final(message.get(), in.get(), nullptr, CMS_BINARY);
    return hawk::base64(written([&](BIO* out) { i2d_CMS_bio(out, message.get()); }));
  }

  EVP_PKEY* key;
  Certificate certificate;
  static inline int serial = 0;
};

const char* const issuer_url = "http://cacerts.example/intermediate.crt";

class AzureIdentity : public AzureTest {
 protected:
  void SetUp() override {
    std::ofstream(folder / "roots.pem") << root.pem();
    config = R"({"subscription": "00000000-0000-0000-0000-000000000000",
                 "resourceGroup": "muster", "locations": ["westeurope"],
                 "zones": {"westeurope": ["1"]}, "identityRootsOnly": true,
                 "issuerUrls": ["http://cacerts.example/"], "identityRoots": ")" +
             (folder / "roots.pem").string() + "\"}";
    provider(config.c_str());
    machine = launched();
    api->certificates[issuer_url] = intermediate.der();
  }

  json::object content() {
    return {{"nonce", "1234567890"},
            {"subscriptionId", "00000000-0000-0000-0000-000000000000"},
            {"vmId", text_of(machine.provider_data, "vmId")},
            {"sku", "12-gen2"},
            {"timeStamp", json::object{{"createdOn", "12/31/25 23:00:00 -0000"},
                                       {"expiresOn", "01/01/26 05:00:00 -0000"}}}};
  }
  IdentifyRequest asked(const std::string& document) {
    return {.worker_pool_id = machine.worker_pool_id,
            .worker_group = machine.worker_group,
            .worker_id = machine.worker_id,
            .proof = {{"document", document}},
            .provider_data = machine.provider_data};
  }
  std::string refusal(const IdentifyRequest& request) {
    const auto identity = provider().identify(request, context);
    if (identity) return "none";
    return std::string(to_string(identity.error().error_class)) + ": " + identity.error().message;
  }
  std::string refusal(const json::object& changed) {
    return refusal(asked(service.sign(json::write(changed))));
  }

  testing::TemporaryFolder folder;
  std::string config;
  Party root{"Root", nullptr}, intermediate{"Intermediate", &root};
  Party service{"westeurope.metadata.azure.com", &intermediate, issuer_url, false};
  Instance machine;
};

TEST_F(AzureIdentity, what_is_no_signed_document_is_refused) {
  EXPECT_TRUE(refusal(asked("")).starts_with("auth: workerIdentityProof has no document"));
  EXPECT_NE(refusal(asked("!!")).find("is not base64"), std::string::npos);
  EXPECT_NE(refusal(asked("aGVsbG8=")).find("no signed CMS message"), std::string::npos);
  EXPECT_NE(refusal(asked(std::string(100'000, 'A'))).find("too long"), std::string::npos);
  std::string document = hawk::from_base64(service.sign(json::write(content()))).value();
  for (std::size_t at = 0; at < document.size(); at += 37) {
    std::string changed = document;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(refusal(asked(hawk::base64(changed))), "none") << at;
    EXPECT_NE(refusal(asked(hawk::base64(document.substr(0, at)))), "none") << at;
  }
  EXPECT_NE(refusal(asked(service.sign(json::write(content()), EVP_sha1()))).find("too weak"),
            std::string::npos);
}

TEST_F(AzureIdentity, a_tampered_document_is_refused) {
  std::string document = hawk::from_base64(service.sign(json::write(content()))).value();
  const std::size_t at = document.find("12-gen2");
  document.replace(at, 7, "12-gen1");
  EXPECT_NE(refusal(asked(hawk::base64(document)))
                .find("signature of the attested document is "
                      "wrong"),
            std::string::npos);
}

TEST_F(AzureIdentity, a_signer_of_another_name_or_chain_is_refused) {
  const Party other{"metadata.azure.com.evil.example", &intermediate, nullptr, false};
  EXPECT_NE(
      refusal(asked(other.sign(json::write(content())))).find("is signed by \"metadata.azure"),
      std::string::npos);
  const Party stranger{"Stranger", nullptr};
  const Party forged{"metadata.azure.com", &stranger, nullptr, false};
  EXPECT_NE(refusal(asked(forged.sign(json::write(content())))).find("is not trusted"),
            std::string::npos);
  const Party elsewhere{"metadata.azure.com", &intermediate, "http://evil.example/x.crt", false};
  EXPECT_NE(refusal(asked(elsewhere.sign(json::write(content()))))
                .find("is not fetched from http://evil.example/x.crt"),
            std::string::npos);
  // A leaf is no authority.
  const Party below{"metadata.azure.com", &service, issuer_url, false};
  EXPECT_NE(refusal(asked(below.sign(json::write(content())))), "none");
}

TEST_F(AzureIdentity, the_issuers_certificate_is_fetched_once_from_an_allowed_address) {
  EXPECT_EQ(refusal(content()), "none");
  api->certificates.clear();
  json::object again = content();
  again["nonce"] = "other";
  EXPECT_EQ(refusal(again), "none") << "it is remembered";
  restart(config.c_str());
  EXPECT_TRUE(refusal(content()).starts_with("transient: ")) << "a fetch may succeed later";
}

TEST_F(AzureIdentity, a_document_of_another_machine_subscription_or_time_is_refused) {
  json::object changed = content();
  changed["vmId"] = "00000000-0000-4000-8000-00000000beef";
  EXPECT_NE(refusal(changed).find("of another machine"), std::string::npos);
  changed = content();
  changed["subscriptionId"] = "11111111-0000-0000-0000-000000000000";
  EXPECT_NE(refusal(changed).find("of another subscription"), std::string::npos);
  changed = content();
  cloud::table_in(changed, "timeStamp")["expiresOn"] = "12/31/25 23:59:59 -0000";
  EXPECT_NE(refusal(changed).find("has expired"), std::string::npos);
  cloud::table_in(changed, "timeStamp")["expiresOn"] = "tomorrow";
  EXPECT_NE(refusal(changed).find("from when to when"), std::string::npos);
  changed = content();
  cloud::table_in(changed, "timeStamp")["createdOn"] = "01/01/26 00:30:00 -0000";
  EXPECT_NE(refusal(changed).find("from the future"), std::string::npos);
  context.advance(24h * 365);
  changed = content();
  cloud::table_in(changed, "timeStamp")["expiresOn"] = "01/01/28 00:00:00 -0000";
  EXPECT_NE(refusal(changed).find("certificate has expired"), std::string::npos);
}

TEST_F(AzureIdentity, a_document_may_be_used_once) {
  const std::string document = service.sign(json::write(content()));
  EXPECT_EQ(refusal(asked(document)), "none");
  EXPECT_NE(refusal(asked(document)).find("was used before"), std::string::npos);
}

TEST_F(AzureIdentity, a_nonce_ties_the_document_to_the_hosts_challenge) {
  IdentifyRequest request = asked(service.sign(json::write(content())));
  request.challenge = "a challenge";
  request.proof["registrationChallenge"] = "a challenge";
  EXPECT_NE(refusal(request).find("nonce"), std::string::npos);
  json::object right = content();
  right["nonce"] = sha256_digits("a challenge");
  EXPECT_EQ(sha256_digits("a challenge").size(), 10u);
  request.proof["document"] = service.sign(json::write(right));
  EXPECT_EQ(refusal(request), "none");
}

TEST_F(AzureIdentity, the_id_of_a_templates_machine_is_asked_for) {
  machine.provider_data["vmId"] = "";
  json::object right = content();
  right["vmId"] = text_of(launched().provider_data, "vmId");
  EXPECT_EQ(refusal(right), "none");
  IdentifyRequest unknown = asked(service.sign(json::write(right)));
  unknown.provider_data = {};
  EXPECT_TRUE(refusal(unknown).starts_with("notFound: "));
}

TEST(AzureIssuers, only_what_begins_with_an_allowed_address_is_fetched) {
  const std::vector<std::string> allowed{"http://www.microsoft.com/pkiops/certs/"};
  EXPECT_TRUE(is_allowed_issuer("http://www.microsoft.com/pkiops/certs/a.crt", allowed));
  for (const char* url :
       {"http://www.microsoft.com/pkiops/certs/../x", "http://www.microsoft.com/other",
        "http://www.microsoft.com.evil.example/pkiops/certs/", "file:///pkiops/certs/", ""})
    EXPECT_FALSE(is_allowed_issuer(url, allowed)) << url;
}

TEST(AzurePermissions, patterns_allow_and_deny) {
  const json::object rows = object(R"({"value": [
      {"actions": ["Microsoft.Compute/*", "*/read"], "notActions": ["Microsoft.Compute/disks/delete"]},
      {"actions": ["Microsoft.Network/networkInterfaces/write"], "notActions": []}]})");
  EXPECT_TRUE(is_allowed(rows, "Microsoft.Compute/virtualMachines/write"));
  EXPECT_TRUE(is_allowed(rows, "microsoft.network/publicIPAddresses/read"));
  EXPECT_TRUE(is_allowed(rows, "Microsoft.Network/networkInterfaces/write"));
  EXPECT_FALSE(is_allowed(rows, "Microsoft.Compute/disks/delete"));
  EXPECT_FALSE(is_allowed(rows, "Microsoft.Network/networkInterfaces/delete"));
}

}  // namespace
}  // namespace muster::azure
