#include "tests/support/signing_key.hpp"
#include "tests/unit/plugins/provider/static/fixture.hpp"

namespace muster::static_machines {
namespace {

using ssh::padded_base64;
using ssh::SigningKey;

const std::string secret(44, 's');
// Of 44 letters s.
const char* const digest = "b920698e46c380ce1a0a53b119d3ad17867fc9c19f84d20dbfe26138ce0c1617";
const std::string challenge = "a challenge\nof several lines\n";

json::object array_of(const std::string& line) {
  return {{"publicKeys", json::array{line}}};
}

struct StaticIdentify : ::testing::Test {
  testing::FakeContext context;
  SigningKey pool_key = SigningKey::ed25519();
  SigningKey other_key = SigningKey::ed25519();
  SigningKey machine_key = SigningKey::ed25519();
  std::unique_ptr<Provider> provider;

  StaticIdentify() {
    const auto machine = [](const char* id, json::object more) {
      more["workerPoolId"] = mac_pool;
      more["workerId"] = id;
      return more;
    };
    json::object pool = array_of(pool_key.line());
    pool["hostNames"] = json::array{"mac-*.dc1.example.com"};
    json::object other = array_of(other_key.line());
    other["hostNames"] = json::array{"win-*.dc1.example.com", "*-shared.dc1.example.com"};
    pool["hostNames"].as_array().push_back("mac-shared.dc1.example.com");
    provider = make_provider(
        {{"region", "dc1"},
         {"stateFile", ":memory:"},
         {"wakeCommand", json::array{"true"}},
         {"pools", json::object{{mac_pool, pool}, {"worker-manager/win", other}}},
         {"machines",
          json::array{machine("with-secret", {{"secretSha256", digest}, {"capacity", 2}}),
                      machine("with-key", array_of(machine_key.line())),
                      machine("with-name", {{"hostName", "studio.dc1.example.com"}}),
                      machine("blade", {{"powered", true},
                                        {"secretSha256", digest},
                                        {"hostName", "blade.dc1.example.com"}})}}});
  }

  IdentifyRequest request(const char* id, json::object proof) const {
    return {.worker_pool_id = WorkerPoolId(mac_pool),
            .worker_group = WorkerGroup("dc1"),
            .worker_id = WorkerId(id),
            .proof = std::move(proof),
            .challenge = challenge};
  }
  IdentifyRequest vouched(const char* host_name) const {
    IdentifyRequest made;
    made.voucher = Voucher{"relay-1", host_name, "192.0.2.7"};
    return made;
  }
  static json::object key_proof(const SigningKey& key, std::string_view text = challenge) {
    return {{"poolKey", json::object{{"challenge", "whatever it says"},
                                     {"signature", padded_base64(key.sign(text))}}}};
  }

  // The message of an auth error; anything else is a failure of the test.
  std::string refusal(const IdentifyRequest& asked) {
    const auto answer = provider->identify(asked, context);
    if (answer) return ADD_FAILURE() << "it was taken: " << encode(*answer), "";
    EXPECT_EQ(answer.error().error_class, ErrorClass::auth) << answer.error().message;
    for (const std::string& right : {secret, std::string(digest), pool_key.line().substr(0, 60)})
      EXPECT_EQ(answer.error().message.find(right), std::string::npos) << answer.error().message;
    return answer.error().message;
  }
  Identity accepted(const IdentifyRequest& asked) {
    const auto answer = provider->identify(asked, context);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? *answer : Identity();
  }
};

// -------------------------------------------------------------------------------------------------
// Secrets

TEST_F(StaticIdentify, a_proof_without_the_secret_is_refused) {
  IdentifyRequest asked = request("m-1", {});
  asked.provider_data = {{"staticSecretSha256", digest}};
  EXPECT_EQ(refusal(asked), "missing staticSecret in workerIdentityProof");
  for (const json::value& wrong :
       {json::value(7), json::value(nullptr), json::value(""), json::value(secret + "s"),
        json::value(digest), json::value(json::array{secret})}) {
    asked.proof = {{"staticSecret", wrong}};
    EXPECT_EQ(refusal(asked), "bad staticSecret in workerIdentityProof");
  }
  asked.proof = key_proof(pool_key);
  asked.proof["staticSecret"] = "wrong";
  asked.pool_key = "SHA256:abc";
  EXPECT_EQ(refusal(asked), "bad staticSecret in workerIdentityProof");
  asked.proof["staticSecret"] = secret;  // the key beside it is for the host
  accepted(asked);
}

TEST_F(StaticIdentify, a_machine_without_a_secret_cannot_show_one) {
  IdentifyRequest asked = request("m-1", {{"staticSecret", secret}});
  for (const json::object& row :
       {json::object{}, json::object{{"staticSecretSha256", ""}},
        json::object{{"staticSecretSha256", 7}}, json::object{{"staticSecretSha256", secret}}}) {
    asked.provider_data = row;
    refusal(asked);
  }
  refusal(request("with-key", {{"staticSecret", secret}}));
  refusal(request("with-name", {{"staticSecret", ""}}));
}

TEST_F(StaticIdentify, the_secret_of_a_row_proves_the_machine_and_admits_nobody) {
  IdentifyRequest asked = request("m-1", {{"staticSecret", secret}});
  asked.worker_group = WorkerGroup("row-1");
  asked.provider_data = {{"staticSecretSha256", digest}};
  const Identity identity = accepted(asked);
  EXPECT_EQ(identity.worker_id, WorkerId("m-1"));
  EXPECT_EQ(identity.worker_group, WorkerGroup("row-1"));
  EXPECT_FALSE(identity.admission);
}

TEST_F(StaticIdentify, the_secret_of_the_configuration_admits_the_machine) {
  IdentifyRequest asked = request("with-secret", {{"staticSecret", secret}});
  asked.worker_pool_id = WorkerPoolId("worker-manager/win");
  refusal(asked);
  asked = request("with-secret", {{"staticSecret", secret}});
  asked.worker_group = WorkerGroup("dc2");
  refusal(asked);
  const Identity identity = accepted(request("with-secret", {{"staticSecret", secret}}));
  ASSERT_TRUE(identity.admission);
  EXPECT_EQ(identity.admission->capacity, 2);
  EXPECT_TRUE(identity.worker_pool_id.empty());
}

// -------------------------------------------------------------------------------------------------
// Keys

TEST_F(StaticIdentify, a_malformed_key_proof_is_refused) {
  for (const json::value& wrong :
       {json::value(7), json::value(json::object{}), json::value(json::object{{"signature", 7}}),
        json::value(json::object{{"signature", ""}}),
        json::value(json::object{{"signature", "AAAA"}}),
        json::value(json::object{{"signature", std::string(100'000, '=')}})})
    refusal(request("new", {{"poolKey", wrong}}));
  json::object proof = key_proof(pool_key);
  for (const json::value& wrong : {json::value(7), json::value(""), json::value("ssh-rsa AAAA"),
                                   json::value(other_key.line())}) {
    proof["poolKey"].as_object()["publicKey"] = wrong;
    EXPECT_NE(refusal(request("new", proof)).find("poolKey.publicKey"), std::string::npos);
  }
}

TEST_F(StaticIdentify, a_signature_is_good_for_the_hosts_challenge_only) {
  IdentifyRequest asked = request("new", key_proof(pool_key, "another challenge"));
  EXPECT_NE(refusal(asked).find("poolKey.signature"), std::string::npos);
  asked.proof["poolKey"].as_object()["challenge"] = "another challenge";
  refusal(asked);
  asked = request("new", key_proof(pool_key, ""));
  asked.challenge = "";
  EXPECT_NE(refusal(asked).find("ask for a new one"), std::string::npos);
  asked.proof = key_proof(pool_key);
  refusal(asked);
}

TEST_F(StaticIdentify, a_key_of_one_pool_is_useless_for_another) {
  IdentifyRequest asked = request("new", key_proof(pool_key));
  accepted(asked);
  asked.worker_pool_id = WorkerPoolId("worker-manager/win");
  refusal(asked);
  asked.worker_pool_id = WorkerPoolId("worker-manager/unknown");
  EXPECT_EQ(refusal(asked), "no poolKey opens this pool");
  refusal(request("new", key_proof(other_key)));
  refusal(request("new", key_proof(machine_key)));
}

TEST_F(StaticIdentify, a_pool_key_admits_whoever_has_no_other_proof) {
  IdentifyRequest elsewhere = request("new", key_proof(pool_key));
  elsewhere.worker_group = WorkerGroup("dc2");
  refusal(elsewhere);
  IdentifyRequest of_row = request("new", key_proof(pool_key));
  of_row.provider_data = {{"staticSecretSha256", digest}};
  EXPECT_NE(refusal(of_row).find("declared with a secret"), std::string::npos);
  of_row.provider_data = {{"v", 1}, {"hostName", "new.dc1.example.com"}};
  EXPECT_NE(refusal(of_row).find("known by its hostName"), std::string::npos);
  refusal(request("with-secret", key_proof(pool_key)));
  refusal(request("with-key", key_proof(pool_key)));
  IdentifyRequest as_another = request("with-name", key_proof(other_key));
  as_another.worker_pool_id = WorkerPoolId("worker-manager/win");
  EXPECT_NE(refusal(as_another).find("another pool"), std::string::npos);
  for (const char* id : {"new", "with-name"}) {
    const Identity identity = accepted(request(id, key_proof(pool_key)));
    EXPECT_TRUE(identity.admission);
    EXPECT_EQ(identity.worker_id, WorkerId(id));
    EXPECT_TRUE(identity.claims.at("key").as_string().starts_with("SHA256:"));
  }
  json::object naming = key_proof(pool_key);
  naming["poolKey"].as_object()["publicKey"] = pool_key.line();
  accepted(request("new", naming));
}

TEST_F(StaticIdentify, a_key_of_the_pool_that_the_host_has_checked_is_as_good_as_one_of_its_own) {
  const SigningKey known_to_the_host = SigningKey::ed25519();
  IdentifyRequest asked = request("new", key_proof(known_to_the_host));
  asked.worker_pool_id = WorkerPoolId("worker-manager/unknown");
  EXPECT_EQ(refusal(asked), "no poolKey opens this pool");
  asked.pool_key = "SHA256:checked";
  for (const char* taken : {"with-secret", "with-key", "with-name"}) {
    asked.worker_id = WorkerId(taken);
    EXPECT_NE(refusal(asked).find("another pool"), std::string::npos) << taken;
  }
  asked.worker_id = WorkerId("new");
  const Identity identity = accepted(asked);
  ASSERT_TRUE(identity.admission);
  EXPECT_EQ(identity.admission->provider_data.at("key"), "SHA256:checked");
  EXPECT_EQ(identity.claims.at("key"), "SHA256:checked");
  // Who proves itself in another way has to, all the same.
  for (const char* proves_itself : {"with-secret", "with-key"}) {
    asked = request(proves_itself, key_proof(known_to_the_host));
    asked.pool_key = "SHA256:checked";
    refusal(asked);
  }
}

TEST_F(StaticIdentify, a_machine_with_a_key_of_its_own_signs_with_that) {
  const Identity identity = accepted(request("with-key", key_proof(machine_key)));
  EXPECT_TRUE(identity.admission);
}

// -------------------------------------------------------------------------------------------------
// Relays

TEST_F(StaticIdentify, a_relay_vouches_only_for_names_that_fit) {
  for (const char* wrong :
       {"", ".", "mac-01", "mac-01.example.com", "mac-01.x.dc1.example.com", "a b.dc1.example.com",
        "mac-01.dc1.example.com.evil.org", "unknown.dc1.example.com"})
    refusal(vouched(wrong));
  const std::string long_name = "mac-" + std::string(40, 'x') + ".dc1.example.com";
  EXPECT_NE(refusal(vouched(long_name.c_str())).find("38"), std::string::npos);
  EXPECT_NE(refusal(vouched("mac-shared.dc1.example.com")).find("several pools"),
            std::string::npos);
}

TEST_F(StaticIdentify, what_a_vouched_machine_claims_must_agree) {
  const auto with = [&](auto change) {
    IdentifyRequest asked = vouched("mac-07.dc1.example.com");
    change(asked);
    return asked;
  };
  refusal(with([](auto& r) { r.worker_pool_id = WorkerPoolId("worker-manager/win"); }));
  refusal(with([](auto& r) { r.worker_group = WorkerGroup("dc2"); }));
  refusal(with([](auto& r) { r.worker_id = WorkerId("mac-08"); }));
  refusal(with([](auto& r) { r.provider_data = {{"hostName", "mac-07.dc2.example.com"}}; }));
  refusal(with([](auto& r) { r.provider_data = {{"staticSecretSha256", digest}}; }));
  refusal(with([](auto& r) { r.provider_data = {{"v", 1}, {"key", "SHA256:abc"}}; }));
  IdentifyRequest named = vouched("studio.dc1.example.com");
  named.worker_pool_id = WorkerPoolId("worker-manager/win");
  refusal(named);
  accepted(with([](auto& r) {
    r.worker_pool_id = WorkerPoolId(mac_pool);
    r.worker_group = WorkerGroup("dc1");
    r.worker_id = WorkerId("mac-07");
    r.provider_data = {{"v", 1}, {"hostName", "mac-07.dc1.example.com"}};
  }));
}

TEST_F(StaticIdentify, a_vouched_machine_is_the_one_of_its_name_or_of_its_first_label) {
  Identity identity = accepted(vouched("Mac-07.DC1.example.com."));
  EXPECT_EQ(identity.worker_pool_id, WorkerPoolId(mac_pool));
  EXPECT_EQ(identity.worker_group, WorkerGroup("dc1"));
  EXPECT_EQ(identity.worker_id, WorkerId("mac-07"));
  ASSERT_TRUE(identity.admission);
  EXPECT_EQ(identity.admission->provider_data.at("hostName"), "mac-07.dc1.example.com");
  identity = accepted(vouched("studio.dc1.example.com"));
  EXPECT_EQ(identity.worker_id, WorkerId("with-name"));
  EXPECT_EQ(identity.claims.at("relay"), "relay-1");
  IdentifyRequest of_one_of_two = vouched("mac-shared.dc1.example.com");
  of_one_of_two.worker_pool_id = WorkerPoolId(mac_pool);
  EXPECT_EQ(accepted(of_one_of_two).worker_id, WorkerId("mac-shared"));
}

TEST_F(StaticIdentify, a_name_that_fits_a_pattern_cannot_be_another_machine) {
  const auto narrow = make_provider(
      {{"region", "dc1"},
       {"pools",
        json::object{{mac_pool, json::object{{"hostNames", json::array{"*.example.com"}}}}}},
       {"machines",
        json::array{json::object{
            {"workerPoolId", mac_pool}, {"workerId", "build"}, {"hostName", "b.example.org"}}}}});
  const auto answer = narrow->identify(vouched("build.example.com"), context);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::auth);
}

// -------------------------------------------------------------------------------------------------
// Powered machines, and the state of any

TEST_F(StaticIdentify, a_powered_machine_is_known_only_while_it_is_launched) {
  const auto by_secret = request("blade", {{"staticSecret", secret}});
  EXPECT_NE(refusal(by_secret).find("woken when it is needed"), std::string::npos);
  refusal(vouched("blade.dc1.example.com"));
  const LaunchConfig launch_config{.launch_config_id = LaunchConfigId("lc-1"),
                                   .worker_pool_id = WorkerPoolId(mac_pool),
                                   .placement = {},
                                   .document = {}};
  const auto launched = provider->allocate({.owner = owner(),
                                            .launch_config = launch_config,
                                            .idempotency_keys = {IdempotencyKey("k-1")}},
                                           context);
  ASSERT_TRUE(launched && launched->launches.at(0).instance);
  EXPECT_FALSE(accepted(by_secret).admission);
  EXPECT_EQ(accepted(vouched("blade.dc1.example.com")).worker_id, WorkerId("blade"));
  EXPECT_TRUE(provider->terminate({owner(), {{WorkerGroup("dc1"), WorkerId("blade")}}}, context));
  refusal(by_secret);
}

TEST_F(StaticIdentify, a_machine_in_the_wrong_state_is_not_conformant) {
  IdentifyRequest asked = request("with-secret", {{"staticSecret", secret}});
  asked.document = parsed(R"({"static": {"state": {"os": "14.*", "image": ["a-1", "b-*"]}}})");
  const auto code = [&](const json::value& state) {
    asked.proof["state"] = state;
    const auto answer = provider->identify(asked, context);
    if (answer) return std::string("conformant");
    EXPECT_EQ(answer.error().error_class, ErrorClass::invalid);
    return answer.error().code + " " + answer.error().message;
  };
  for (const json::value& wrong : {json::value(7), json::value(json::object{{"os", 14}}),
                                   json::value(json::object{{"os", std::string(300, 'x')}})})
    EXPECT_TRUE(code(wrong).starts_with(" state in workerIdentityProof")) << code(wrong);
  EXPECT_EQ(code(json::object{{"os", "13.5"}}),
            "notConformant the machine is not in the state that its pool wants: image is not "
            "reported, the pool wants \"a-1\" or \"b-*\"; os is \"13.5\", the pool wants \"14.*\"");
  asked.proof["staticSecret"] = "wrong";
  refusal(asked);
  asked.proof["staticSecret"] = secret;
  EXPECT_EQ(code(json::object{{"os", "14.5"}, {"image", "b-2"}, {"more", "x"}}), "conformant");
  EXPECT_EQ(accepted(asked).claims.at("state").at("os"), "14.5");
}

}  // namespace
}  // namespace muster::static_machines
