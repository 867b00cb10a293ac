#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/provider/aws/identification.hpp"
#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

// Somebody who signs identity documents.
class Signer {
 public:
  Signer() : key_(EVP_RSA_gen(2048)), certificate_(X509_new()) {
    X509_set_version(certificate_.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_.get()), 7);
    X509_gmtime_adj(X509_getm_notBefore(certificate_.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate_.get()), 3600);
    X509_set_pubkey(certificate_.get(), key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate_.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
    X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  }

  std::string certificate() const {
    return written([&](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }

  std::string signature(const std::string& document) const {
    const OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    std::string bytes(256, '\0');
    std::size_t size = bytes.size();
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size,
                   reinterpret_cast<const unsigned char*>(document.data()), document.size());
    return hawk::base64(bytes);
  }

  std::string pkcs7(const std::string& document, int flags = PKCS7_NOCERTS) const {
    const OpensslPointer<BIO, BIO_free_all> in(
        BIO_new_mem_buf(document.data(), static_cast<int>(document.size())));
    const OpensslPointer<PKCS7, PKCS7_free> message(
        PKCS7_sign(certificate_.get(), key_.get(), nullptr, in.get(), flags | PKCS7_BINARY));
    return hawk::base64(written([&](BIO* out) { i2d_PKCS7_bio(out, message.get()); }));
  }

 private:
  static std::string written(const std::function<void(BIO*)>& write) {
    const OpensslPointer<BIO, BIO_free_all> out(BIO_new(BIO_s_mem()));
    write(out.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
  }

  OpensslPointer<EVP_PKEY, EVP_PKEY_free> key_;
  OpensslPointer<X509, X509_free> certificate_;
};

const std::string good_document = R"({
  "accountId" : "123456789012", "availabilityZone" : "us-east-1a", "imageId" : "ami-1",
  "instanceId" : "i-0123456789abcdef0", "instanceType" : "m5.large",
  "pendingTime" : "2026-01-01T00:00:05Z", "privateIp" : "10.0.0.7", "region" : "us-east-1"
})";

class AwsIdentity : public AwsTest {
 protected:
  static const Signer& signer() {
    static const Signer made;
    return made;
  }

  AwsIdentity() {
    const std::string certificate = json::write(json::value(signer().certificate()));
    provider((R"({"regions": ["us-east-1"], "identityKeysOnly": true, "identityKeys":
                 [{"regions": ["us-east-1"], "certificate": )" +
              certificate + "}]}")
                 .c_str());
  }

  IdentifyRequest request_with(json::object proof) const {
    return {.worker_pool_id = WorkerPoolId("worker-manager/build"),
            .worker_group = WorkerGroup("us-east-1"),
            .worker_id = WorkerId("i-0123456789abcdef0"),
            .proof = std::move(proof),
            .provider_data = object(R"({"v": 1, "region": "us-east-1", "account": "123456789012",
                "zone": "us-east-1a", "type": "m5.large", "image": "ami-1",
                "privateIp": "10.0.0.7", "launched": "2026-01-01T00:00:00Z"})")};
  }

  void expect_refused(const IdentifyRequest& request, std::string_view word) {
    const auto identity = provider().identify(request, context);
    ASSERT_FALSE(identity) << word;
    EXPECT_TRUE(identity.error().error_class == ErrorClass::auth ||
                identity.error().error_class == ErrorClass::not_found);
    EXPECT_NE(identity.error().message.find(word), std::string::npos) << identity.error().message;
  }

  static std::string replaced(const std::string& from, const std::string& to) {
    std::string text = good_document;
    text.replace(text.find(from), from.size(), to);
    return text;
  }
};

TEST_F(AwsIdentity, each_kind_of_signature_is_taken) {
  const std::string inside = signer().pkcs7(good_document);
  const std::string broken_lines = "-----BEGIN PKCS7-----\n" + inside.substr(0, 40) + "\n" +
                                   inside.substr(40) + "\n-----END PKCS7-----\n";
  for (const json::object& proof : {
           json::object{{"document", good_document},
                        {"signature", signer().signature(good_document)}},
           json::object{{"document", good_document}, {"rsa2048", inside}},
           json::object{{"document", good_document}, {"pkcs7", broken_lines}},
           json::object{{"document", good_document},
                        {"rsa2048", signer().pkcs7(good_document, PKCS7_DETACHED | PKCS7_NOCERTS)}},
       }) {
    const auto identity = provider().identify(request_with(proof), context);
    ASSERT_TRUE(identity) << identity.error().message;
    EXPECT_EQ(identity->worker_id.str(), "i-0123456789abcdef0");
    EXPECT_EQ(text_of(identity->claims, "account"), "123456789012");
  }
}

TEST_F(AwsIdentity, a_tampered_byte_is_refused_in_each_kind) {
  const std::string changed = replaced("10.0.0.7", "10.0.0.8");
  expect_refused(
      request_with({{"document", changed}, {"signature", signer().signature(good_document)}}),
      "changed");
  expect_refused(request_with({{"document", changed}, {"rsa2048", signer().pkcs7(good_document)}}),
                 "another identity document");
  expect_refused(
      request_with({{"document", changed},
                    {"rsa2048", signer().pkcs7(good_document, PKCS7_DETACHED | PKCS7_NOCERTS)}}),
      "changed");
}

TEST_F(AwsIdentity, a_wrong_key_is_refused_also_with_its_certificate_in_the_message) {
  const Signer other;
  expect_refused(
      request_with({{"document", good_document}, {"signature", other.signature(good_document)}}),
      "identityKeys");
  for (const int flags : {PKCS7_NOCERTS, 0})
    expect_refused(
        request_with({{"document", good_document}, {"rsa2048", other.pkcs7(good_document, flags)}}),
        "certificates for region us-east-1");
}

TEST_F(AwsIdentity, keys_of_another_region_do_not_count) {
  IdentifyRequest request =
      request_with({{"document", good_document}, {"signature", signer().signature(good_document)}});
  request.provider_data["region"] = "eu-west-1";
  expect_refused(request, "eu-west-1");
}

TEST_F(AwsIdentity, a_document_of_another_machine_account_or_start_is_refused_and_says_so) {
  const std::pair<std::pair<const char*, const char*>, const char*> others[] = {
      {{"123456789012", "210987654321"}, "another account"},
      {{"\"us-east-1a\"", "\"us-east-1b\""}, "another availability zone"},
      {{"ami-1", "ami-2"}, "another image"},
      {{"i-0123456789abcdef0", "i-0123456789abcdef1"}, "another machine"},
      {{"m5.large", "m5.xlarge"}, "another instance type"},
      {{"10.0.0.7", "10.0.0.8"}, "another private address"},
      {{"\"us-east-1\"", "\"us-east-2\""}, "another region"},
      {{"2026-01-01T00:00:05Z", "2025-12-24T00:00:05Z"}, "another start"},
      {{"\"pendingTime\"", "\"pendingTimes\""}, "pendingTime"}};
  for (const auto& [change, word] : others) {
    const std::string document = replaced(change.first, change.second);
    expect_refused(
        request_with({{"document", document}, {"signature", signer().signature(document)}}), word);
  }
}

TEST_F(AwsIdentity, proofs_that_prove_nothing_are_refused) {
  const std::string signature = signer().signature(good_document);
  expect_refused(request_with({}), "document");
  expect_refused(request_with({{"document", good_document}}), "signature");
  expect_refused(request_with({{"document", 7}, {"signature", signature}}), "document");
  expect_refused(request_with({{"document", std::string(100'000, 'x')}, {"signature", signature}}),
                 "too long");
  for (const char* odd : {"!", "AAA", "AAAA", "====", " "})
    for (const char* kind : {"signature", "rsa2048", "pkcs7"})
      expect_refused(request_with({{"document", good_document}, {kind, odd}}), "ident");
  const std::string no_json = "not JSON";
  expect_refused(request_with({{"document", no_json}, {"signature", signer().signature(no_json)}}),
                 "JSON");
  IdentifyRequest unknown = request_with({{"document", good_document}, {"signature", signature}});
  unknown.provider_data = {};
  expect_refused(unknown, "launched");
}

TEST_F(AwsIdentity, the_account_of_the_configuration_counts_more_than_what_was_seen) {
  restart((R"({"regions": ["us-east-1"], "accountId": "999999999999", "identityKeys":
              [{"regions": ["*"], "certificate": )" +
           json::write(json::value(signer().certificate())) + "}]}")
              .c_str());
  expect_refused(
      request_with({{"document", good_document}, {"signature", signer().signature(good_document)}}),
      "another account");
}

TEST_F(AwsIdentity, built_in_keys_exist_for_every_region_that_aws_names) {
  const auto settings = read_settings(object(R"({"regions": "all"})"));
  const auto keys = IdentityKeys::read(*settings);
  ASSERT_TRUE(keys) << keys.error().message;
  for (const char* region :
       {"us-east-1", "eu-central-1", "ap-south-1", "cn-north-1", "us-gov-west-1", "me-south-1"}) {
    const auto pkcs7 = (*keys)->check_pkcs7(region, "x", signer().pkcs7("x"));
    EXPECT_NE(pkcs7.error().message.find("none of the 1 certificates"), std::string::npos)
        << region << ": " << pkcs7.error().message;
    const auto signature = (*keys)->check_signature(region, "x", signer().signature("x"));
    EXPECT_NE(signature.error().message.find("none of the 1 keys"), std::string::npos)
        << region << ": " << signature.error().message;
  }
}

}  // namespace
}  // namespace muster::aws
