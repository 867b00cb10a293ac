#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <muster/testing/fake_host.hpp>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/token_sources.hpp"
#include "tests/support/fake_transport.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::azure {
namespace {

using cloud::text_of;

const std::string scope = "https://management.azure.com/.default";

struct AzureCredentials : ::testing::Test {
  AzureCredentials()
      : session(transport, {}, timing()), near(near_transport, {.attempts = 2}, timing()) {
    settings.tenant = "tenant.example";
    transport->answers = {token("from-login")};
    near_transport->answers = {token("from-metadata")};
  }

  cloud::Timing timing() {
    return {.wait =
                [this](std::chrono::milliseconds time, const Context&) {
                  context.advance(time);
                  return true;
                },
            .random = [] { return 0.0; }};
  }
  static http_client::Response token(const std::string& text) {
    return {.status = 200,
            .body = R"({"token_type": "Bearer", "expires_in": "3599", "access_token": ")" + text +
                    "\"}"};
  }

  // The token, or the error's class and message.
  std::string fetch() {
    const auto fetched = fetch_token(
        {.settings = settings,
         .session = session,
         .metadata = near,
         .redactor = redactor,
         .environment =
             [this](const std::string& name) {
               const auto found = variables.find(name);
               return found == variables.end() ? std::optional<std::string>() : found->second;
             }},
        scope, context);
    if (!fetched)
      return std::string(to_string(fetched.error().error_class)) + ": " + fetched.error().message;
    EXPECT_EQ(fetched->end, context.now() + std::chrono::seconds(3599));
    return fetched->value.text.reveal();
  }
  std::string file(const char* name, const std::string& text, bool is_private = true) {
    const std::filesystem::path path = folder / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(
        path, is_private ? std::filesystem::perms(0600) : std::filesystem::perms(0644));
    return path.string();
  }

  testing::TemporaryFolder folder;
  ConnectionSettings settings;
  std::map<std::string, std::string> variables;
  std::shared_ptr<testing::FakeTransport> transport = std::make_shared<testing::FakeTransport>(),
                                          near_transport =
                                              std::make_shared<testing::FakeTransport>();
  testing::FakeContext context;
  cloud::Session session, near;
  cloud::Redactor redactor;
};

TEST_F(AzureCredentials, without_any_source_the_message_names_them_all) {
  near_transport->answers = {
      http_client::Failure{.kind = http_client::Failure::Kind::no_connection}};
  const std::string text = fetch();
  for (const char* name : {"AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
                           "AZURE_FEDERATED_TOKEN_FILE", "managed identity", "configure"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST_F(AzureCredentials, a_secret_comes_from_a_file_or_the_environment) {
  settings.credentials.client_secret = {.client_id = "client", .environment = "SECRET"};
  EXPECT_NE(fetch().find("SECRET is not set here"), std::string::npos);
  variables["SECRET"] = "s&cret-of-client";
  EXPECT_EQ(fetch(), "from-login");
  EXPECT_EQ(transport->sent.back().url,
            "https://login.microsoftonline.com/tenant.example/oauth2/v2.0/token");
  const std::string body = "&" + *transport->sent.back().body + "&";
  for (const char* field :
       {"grant_type=client_credentials", "client_id=client",
        "scope=https%3A%2F%2Fmanagement.azure.com%2F.default", "client_secret=s%26cret-of-client"})
    EXPECT_NE(body.find("&" + std::string(field) + "&"), std::string::npos) << body;
  settings.credentials.client_secret = {.client_id = "client",
                                        .file = file("open", "from-file-1", false)};
  EXPECT_TRUE(fetch().starts_with("auth: ")) << "others may read it";
  settings.credentials.client_secret->file = file("secret", "from-file-1\n");
  EXPECT_EQ(fetch(), "from-login");
  EXPECT_NE(transport->sent.back().body->find("client_secret=from-file-1"), std::string::npos);
}

TEST_F(AzureCredentials, entras_errors_are_auth_and_show_no_secret) {
  settings.credentials.client_secret = {.client_id = "client", .environment = "SECRET"};
  variables["SECRET"] = "very-secret-thing";
  transport->answers = {http_client::Response{
      .status = 401, .body = R"({"error": "invalid_client", "error_description":
                  "AADSTS7000215: Invalid client secret very-secret-thing"})"}};
  const std::string text = fetch();
  EXPECT_TRUE(text.starts_with("auth: ")) << text;
  EXPECT_NE(text.find("AADSTS7000215"), std::string::npos);
  EXPECT_EQ(text.find("very-secret"), std::string::npos);
  transport->answers = {http_client::Response{.status = 200, .body = "<html>"}};
  EXPECT_NE(fetch().find("a web page"), std::string::npos);
  transport->answers = {http_client::Response{.status = 200, .body = R"({"access_token": "x"})"}};
  EXPECT_NE(fetch().find("does not say when the token ends"), std::string::npos);
}

TEST_F(AzureCredentials, a_tenant_is_needed) {
  settings.tenant.clear();
  settings.credentials.workload_identity = {.client_id = "c",
                                            .token_file = file("token", "federated-token")};
  EXPECT_NE(fetch().find("set tenant"), std::string::npos);
  variables["AZURE_TENANT_ID"] = "t";
  EXPECT_EQ(fetch(), "from-login");
  EXPECT_NE(transport->sent.back().body->find("client_assertion=federated-token"),
            std::string::npos);
}

TEST_F(AzureCredentials, the_chain_takes_the_first_that_is_configured) {
  variables = {{"AZURE_CLIENT_ID", "c"}, {"AZURE_FEDERATED_TOKEN_FILE", "/nowhere"}};
  EXPECT_TRUE(fetch().starts_with("auth: ")) << "it does not fall through to another identity";
  variables = {{"AZURE_CLIENT_ID", "c"}, {"AZURE_CLIENT_SECRET", "from-environment"}};
  EXPECT_EQ(fetch(), "from-login");
  variables.clear();
  EXPECT_EQ(fetch(), "from-metadata");
  EXPECT_EQ(near_transport->sent.back().url,
            "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource="
            "https%3A%2F%2Fmanagement.azure.com%2F");
}

TEST_F(AzureCredentials, managed_identities_of_app_services_and_arc_machines) {
  settings.credentials.managed_identity = {.client_id = "mine"};
  variables = {{"IDENTITY_ENDPOINT", "http://127.0.0.1:41741/msi/token"},
               {"IDENTITY_HEADER", "header-secret"}};
  EXPECT_EQ(fetch(), "from-metadata");
  EXPECT_NE(near_transport->sent.back().url.find("&client_id=mine"), std::string::npos);
  variables["IDENTITY_ENDPOINT"] = "http://evil.example/token";
  EXPECT_NE(fetch().find("not an address of this machine"), std::string::npos);
  variables = {{"IDENTITY_ENDPOINT", "http://localhost:40342/metadata/identity/oauth2/token"},
               {"IMDS_ENDPOINT", "http://localhost:40342"}};
  near_transport->answers = {http_client::Response{
      .status = 401, .headers = {{"WWW-Authenticate", "Basic realm=/etc/shadow"}}}};
  EXPECT_NE(fetch().find("names no file of /var/opt/azcmagent/tokens"), std::string::npos);
}

std::string written(const std::function<void(BIO*)>& write) {
  const OpensslPointer<BIO, BIO_free_all> out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TEST_F(AzureCredentials, a_certificate_signs_an_assertion_that_can_be_checked) {
  const OpensslPointer<EVP_PKEY, EVP_PKEY_free> key(EVP_RSA_gen(2048)), other(EVP_RSA_gen(2048));
  const OpensslPointer<X509, X509_free> certificate(X509_new());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const std::string public_part =
      written([&](BIO* out) { PEM_write_bio_X509(out, certificate.get()); });
  const auto private_part = [&](EVP_PKEY* of) {
    return written([&](BIO* out) {
      PEM_write_bio_PrivateKey(out, of, nullptr, nullptr, 0, nullptr, nullptr);
    });
  };
  EXPECT_FALSE(client_assertion("c", "aud", public_part, context.now())) << "no key";
  EXPECT_FALSE(
      client_assertion("c", "aud", public_part + private_part(other.get()), context.now()));
  settings.credentials.certificate = {.client_id = "client",
                                      .file = file("pem", public_part + private_part(key.get()))};
  EXPECT_EQ(fetch(), "from-login");
  const std::string body = *transport->sent.back().body;
  const std::string assertion = body.substr(body.find("client_assertion=") + 17);
  const std::size_t first = assertion.find('.'), last = assertion.rfind('.');
  const json::object claims =
      json::parse_object(
          hawk::from_any_base64(assertion.substr(first + 1, last - first - 1)).value())
          .value();
  EXPECT_EQ(text_of(claims, "iss"), "client");
  EXPECT_EQ(text_of(claims, "aud"),
            "https://login.microsoftonline.com/tenant.example/oauth2/v2.0/token");
  const std::string signature = hawk::from_any_base64(assertion.substr(last + 1)).value();
  const OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free> digest(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get());
  EXPECT_EQ(EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                             signature.size(),
                             reinterpret_cast<const unsigned char*>(assertion.data()), last),
            1);
}

}  // namespace
}  // namespace muster::azure
