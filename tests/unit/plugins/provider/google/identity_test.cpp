// Who a worker is: Google's tokens, and everything that is wrong with others.
#include <fstream>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "lib/crypto/hmac.hpp"
#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/provider/google/jwt.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/plugins/provider/google/fixture.hpp"

namespace muster::google {
namespace {

std::string base64url(std::string_view bytes) {
  std::string text = hawk::base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& letter : text) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
  return text;
}

// A key as Google has them, with its public half as a JSON Web Key and in PEM.
class Signer {
 public:
  explicit Signer(unsigned bits = 2048) : key_(EVP_RSA_gen(bits)) {
    const OpensslPointer<BIO, BIO_free_all> secret(BIO_new(BIO_s_mem())),
        open(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(secret.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    PEM_write_bio_PUBKEY(open.get(), key_.get());
    private_pem_ = content_of(secret.get());
    public_pem = content_of(open.get());
  }

  json::object jwk(const std::string& id) const {
    return {{"kty", "RSA"},
            {"alg", "RS256"},
            {"use", "sig"},
            {"kid", id},
            {"n", number(OSSL_PKEY_PARAM_RSA_N)},
            {"e", number(OSSL_PKEY_PARAM_RSA_E)}};
  }
  std::string sign(const json::object& header, const json::object& claims) const {
    return sign_jwt(header, claims, Secret(private_pem_)).value();
  }

  std::string public_pem;

 private:
  static std::string content_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<std::size_t>(size));
  }
  std::string number(const char* name) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    std::string bytes(static_cast<std::size_t>(BN_num_bytes(value)), '\0');
    BN_bn2bin(value, reinterpret_cast<unsigned char*>(bytes.data()));
    BN_free(value);
    return base64url(bytes);
  }

  OpensslPointer<EVP_PKEY, EVP_PKEY_free> key_;
  std::string private_pem_;
};

const Signer& google_key() {
  static const Signer signer;
  return signer;
}
const Signer& other_key() {
  static const Signer signer;
  return signer;
}

class GoogleIdentity : public GoogleTest {
 protected:
  void SetUp() override {
    api->certificates = {{"keys", json::array{google_key().jwk("key-1")}}};
    instance = *provider().allocate(request(1, 1), context)->launches.at(0).instance;
  }

  std::int64_t seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(context.now().time_since_epoch())
        .count();
  }
  json::object claims() const {
    return {
        {"iss", "https://accounts.google.com"},
        {"aud", "https://muster.example"},
        {"iat", seconds()},
        {"exp", seconds() + 3600},
        {"email", "worker@my-project.iam.gserviceaccount.com"},
        {"email_verified", true},
        {"google", json::object{{"compute_engine",
                                 json::object{{"project_id", "my-project"},
                                              {"zone", "us-central1-a"},
                                              {"instance_id", instance.worker_id.str()},
                                              {"instance_name",
                                               cloud::text_of(instance.provider_data, "name")}}}}}};
  }
  static json::object header(const char* key = "key-1") {
    return {{"alg", "RS256"}, {"typ", "JWT"}, {"kid", key}};
  }
  std::string token(const json::object& content) const {
    return google_key().sign(header(), content);
  }

  Result<Identity> identify(const json::value& shown) {
    return provider().identify({.worker_pool_id = WorkerPoolId("Proj/build"),
                                .worker_group = instance.worker_group,
                                .worker_id = instance.worker_id,
                                .proof = {{"token", shown}},
                                .provider_data = instance.provider_data},
                               context);
  }
  std::string refused(const std::string& shown) {
    const auto identity = identify(json::value(shown));
    if (identity) return "accepted";
    EXPECT_EQ(identity.error().error_class, ErrorClass::auth) << identity.error().message;
    return identity.error().message;
  }
  // The claims with one of them changed.
  std::string changed(const char* key, json::value value) {
    json::object content = claims();
    content[key] = std::move(value);
    return refused(token(content));
  }
  std::string changed_machine(const char* key, const char* value) {
    json::object content = claims();
    content.at("google").at("compute_engine").as_object()[key] = value;
    return refused(token(content));
  }

  Instance instance;
};

TEST_F(GoogleIdentity, a_token_of_the_machine_that_was_launched_is_accepted) {
  const auto identity = identify(json::value(token(claims())));
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->worker_id, instance.worker_id);
  EXPECT_EQ(cloud::text_of(identity->claims, "serviceAccount"),
            "worker@my-project.iam.gserviceaccount.com");
}

TEST_F(GoogleIdentity, also_after_the_provider_has_learned_of_the_machine_by_a_list_alone) {
  restart();
  const auto listing = provider().list({owner}, context);
  instance = listing->instances.at(0);
  EXPECT_TRUE(identify(json::value(token(claims()))));
}

TEST_F(GoogleIdentity, forged_algorithms_are_refused) {
  const std::string content = base64url(json::write(claims()));
  const auto unsigned_token = [&](const char* algorithm) {
    return base64url(std::string(R"({"alg": ")") + algorithm + R"(", "kid": "key-1"})") + "." +
           content;
  };
  for (const char* none : {"none", "None", "NONE", ""}) {
    EXPECT_THAT(refused(unsigned_token(none) + "."), HasSubstr("only RS256"));
    EXPECT_THAT(refused(unsigned_token(none) + ".AAAA"), HasSubstr("only RS256"));
  }
  // The public key as a shared secret.
  const std::string text = unsigned_token("HS256");
  const Sha256 digest = hmac_sha256(google_key().public_pem, text);
  EXPECT_THAT(refused(text + "." +
                      base64url({reinterpret_cast<const char*>(digest.data()), digest.size()})),
              HasSubstr("HS256"));
  for (const char* other : {"RS512", "PS256", "ES256"})
    EXPECT_THAT(refused(unsigned_token(other) + ".AAAA"), HasSubstr("only RS256"));
  json::object strange = header();
  strange["crit"] = json::array{"exp"};
  EXPECT_THAT(refused(google_key().sign(strange, claims())), HasSubstr("crit"));
}

TEST_F(GoogleIdentity, keys_and_signatures_must_be_google_s) {
  EXPECT_THAT(refused(google_key().sign(header("key-9"), claims())),
              HasSubstr("\"key-9\", which is none of Google's"));
  EXPECT_THAT(refused(other_key().sign(header(), claims())),
              HasSubstr("signature of the token is wrong"));
  json::object without = header();
  without.erase("kid");
  EXPECT_THAT(refused(google_key().sign(without, claims())), HasSubstr("kid"));
  // A key in the token's own header is nobody's.
  json::object with_key = header();
  with_key["jwk"] = other_key().jwk("key-1");
  EXPECT_THAT(refused(other_key().sign(with_key, claims())), HasSubstr("signature"));
  std::string good = token(claims());
  good[good.size() - 10] = good[good.size() - 10] == 'A' ? 'B' : 'A';
  EXPECT_THAT(refused(good), HasSubstr("signature"));
}

TEST_F(GoogleIdentity, times_parties_and_machine_must_fit) {
  const std::int64_t now = seconds();
  EXPECT_THAT(changed("exp", now - 400), HasSubstr("ended at"));
  json::object late = claims();
  late["iat"] = now - 3600;
  late["exp"] = now - 100;
  EXPECT_EQ(refused(token(late)), "accepted") << "within the skew";
  EXPECT_THAT(changed("iat", now + 400), HasSubstr("in the future"));
  EXPECT_THAT(changed("exp", now + 90'000), HasSubstr("longer than a day"));
  EXPECT_THAT(changed("exp", "soon"), HasSubstr("iat, exp"));
  EXPECT_THAT(changed("iss", "https://evil.example"), HasSubstr("issued by"));
  EXPECT_THAT(changed("aud", "https://other.example"), HasSubstr("not this host's address"));
  EXPECT_THAT(changed("aud", json::array{"https://muster.example"}),
              HasSubstr("not this host's address"));
  EXPECT_THAT(changed("email", "admin@my-project.iam.gserviceaccount.com"),
              HasSubstr("another service account"));
  EXPECT_THAT(changed("email_verified", false), HasSubstr("not verified"));
  EXPECT_THAT(changed("google", nullptr), HasSubstr("format=full"));
  EXPECT_THAT(changed_machine("project_id", "other-project"), HasSubstr("another project"));
  EXPECT_THAT(changed_machine("zone", "us-central1-b"), HasSubstr("another zone"));
  EXPECT_THAT(changed_machine("instance_id", "42"), HasSubstr("another machine"));
  EXPECT_THAT(changed_machine("instance_name", "other"), HasSubstr("another machine name"));
}

TEST_F(GoogleIdentity, a_token_is_good_for_one_use_and_for_its_repetition) {
  const std::string shown = token(claims());
  EXPECT_TRUE(identify(json::value(shown)));
  context.advance(1min);
  EXPECT_TRUE(identify(json::value(shown))) << "the answer was lost";
  context.advance(2min);
  EXPECT_THAT(refused(shown), HasSubstr("used before"));
}

TEST_F(GoogleIdentity, hostile_bytes_are_refused_with_a_reason) {
  for (const std::string& bytes :
       {std::string("."), std::string(".."), std::string("a.b.c"), std::string("e30.e30.e30"),
        std::string("a.b.c.d"), std::string(20'000, 'x'), std::string(1'000, '.'),
        std::string("\xff\xfe.\x00", 4), base64url("[]") + ".e30.AA",
        base64url("{\"alg\":7}") + ".e30.AA"})
    EXPECT_NE(refused(bytes), "accepted");
  EXPECT_FALSE(identify(json::value(7)));
  EXPECT_FALSE(identify(nullptr));
}

TEST_F(GoogleIdentity, a_machine_that_was_not_launched_is_not_known) {
  instance.provider_data = {};
  EXPECT_EQ(identify(json::value(token(claims()))).error().error_class, ErrorClass::not_found);
}

TEST_F(GoogleIdentity, new_keys_are_asked_for_once_a_minute_and_old_ones_serve_on) {
  ASSERT_TRUE(identify(json::value(token(claims()))));
  (void)refused(google_key().sign(header("key-2"), claims()));
  (void)refused(google_key().sign(header("key-3"), claims()));
  EXPECT_EQ(calls("certs.get").size(), 1u) << "strange tokens do not make us ask";
  api->certificates = {{"keys", json::array{other_key().jwk("key-2")}}};
  context.advance(2min);
  EXPECT_TRUE(identify(json::value(other_key().sign(header("key-2"), claims()))));
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "certs.get") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no answer")};
  };
  context.advance(3h);
  EXPECT_TRUE(identify(json::value(other_key().sign(header("key-2"), claims()))));
  restart();
  EXPECT_EQ(identify(json::value(token(claims()))).error().error_class, ErrorClass::transient)
      << "without any key nobody is refused for good";
}

TEST_F(GoogleIdentity, an_offline_set_needs_no_google) {
  const testing::TemporaryFolder folder;
  const std::string file = (folder / "keys.json").string();
  std::ofstream(file) << json::write(json::object{{"own", other_key().public_pem}});
  const std::string config =
      R"({"project": "my-project", "zones": ["us-central1-a"], "identityKeysOnly": true,
          "workerServiceAccount": "worker@my-project.iam.gserviceaccount.com", "identityKeysFile": ")" +
      file + "\"}";
  restart(config.c_str());
  EXPECT_TRUE(identify(json::value(other_key().sign(header("own"), claims()))));
  EXPECT_THAT(refused(google_key().sign(header(), claims())), HasSubstr("identityKeysFile"));
  EXPECT_TRUE(calls("certs.get").empty());
  std::ofstream(file) << json::write(json::object{{"keys", json::array{Signer(1024).jwk("k")}}});
  auto settings = read_settings(object(config));
  EXPECT_THAT(GoogleProvider::over(*settings, std::make_unique<ExampleApi>()).error().message,
              HasSubstr("2048 bits"));
}

}  // namespace
}  // namespace muster::google
