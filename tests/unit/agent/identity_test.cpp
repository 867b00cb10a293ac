#include "agent/identity.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "agent/pool_key.hpp"
#include "lib/crypto/sha256_digits.hpp"
#include "lib/hawk/hawk.hpp"
#include "tests/support/scripted_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using muster::testing::ScriptedServer;
using muster::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// -------------------------------------------------------------------------------------------------
// Keys

bool run_quietly(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<PoolSignature> sign(const std::filesystem::path& file) {
  return sign_with_pool_key(Secret(text_of(file)), file, "line 1\nline 2");
}

bool verifies(const std::filesystem::path& folder, const std::filesystem::path& key,
              const PoolSignature& made) {
  std::ofstream(folder / "text") << "line 1\nline 2";
  std::ofstream(folder / "signature") << *hawk::from_base64(made.signature);
  const std::string in = " -in " + (folder / "text").string();
  const bool rsa = made.public_key.starts_with("ssh-rsa");
  const std::string pem = (folder / "public.pem").string();
  if (!run_quietly("openssl pkey -in " + key.string() + " -pubout -out " + pem)) return false;
  const std::string signature = (folder / "signature").string();
  return rsa ? run_quietly("openssl dgst -sha512 -verify " + pem + " -signature " + signature +
                           " " + (folder / "text").string())
             : run_quietly("openssl pkeyutl -verify -pubin -inkey " + pem + " -rawin -sigfile " +
                           signature + in);
}

TEST(PoolKeys, that_cannot_be_used_are_named_and_not_shown) {
  const auto why = [](const std::string& content) {
    const auto made = sign_with_pool_key(Secret(content), "/x/pool.key", "text");
    return made ? "signed" : made.error().message;
  };
  const std::string begin = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  const std::string end = "\n-----END OPENSSH PRIVATE KEY-----\n";
  for (const std::string& wrong :
       {std::string(), std::string("hunter2"), begin, begin + end, begin + "!!!!" + end,
        begin + "aHVudGVyMg==" + end,
        begin + hawk::base64(std::string("openssh-key-v1\0", 15)) + end,
        begin + hawk::base64(std::string("openssh-key-v1\0\xff\xff\xff\xff", 19)) + end})
    EXPECT_THAT(why(wrong), AllOf(HasSubstr("/x/pool.key"), Not(HasSubstr("hunter2")))) << wrong;
}

TEST(PoolKeys, with_a_passphrase_of_another_kind_or_too_short_are_refused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_quietly("openssl genpkey -algorithm ed25519 -aes256 -pass pass:x -out " +
                          (folder / "locked").string()));
  EXPECT_THAT(sign(folder / "locked").error().message, HasSubstr("passphrase"));
  ASSERT_TRUE(run_quietly("openssl ecparam -name prime256v1 -genkey -noout -out " +
                          (folder / "ec").string()));
  EXPECT_THAT(sign(folder / "ec").error().message, HasSubstr("neither an Ed25519 nor an RSA"));
  ASSERT_TRUE(run_quietly("openssl genrsa -out " + (folder / "short").string() + " 1024"));
  EXPECT_THAT(sign(folder / "short").error().message, HasSubstr("2048"));
}

TEST(PoolKeys, of_openssl_sign_what_openssl_accepts) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_quietly("openssl genpkey -algorithm ed25519 -out " + (folder / "ed").string()));
  ASSERT_TRUE(
      run_quietly("openssl genrsa -traditional -out " + (folder / "rsa").string() + " 2048"));
  for (const char* name : {"ed", "rsa"}) {
    const auto made = sign(folder / name);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(verifies(folder.path(), folder / name, *made)) << name;
  }
}

// Made by ssh-keygen for this test and used nowhere else.
constexpr const char* openssh_key = R"(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACCF7Y81dmSUueeTmmVi+GZCgEuxwtYYRitWUQk/t/1+TgAAAIjU0+281NPt
vAAAAAtzc2gtZWQyNTUxOQAAACCF7Y81dmSUueeTmmVi+GZCgEuxwtYYRitWUQk/t/1+Tg
AAAEDh29okfj1+lopiDs0qoC/5u2s0QloHKgQo3yTsciMahIXtjzV2ZJS555OaZWL4ZkKA
S7HC1hhGK1ZRCT+3/X5OAAAABHRlc3QB
-----END OPENSSH PRIVATE KEY-----
)";
constexpr const char* openssh_public =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIXtjzV2ZJS555OaZWL4ZkKAS7HC1hhGK1ZRCT+3/X5O";

TEST(PoolKeys, of_openssh_are_read_without_its_tools) {
  const auto made = sign_with_pool_key(Secret(openssh_key), "pool.key", "text");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->public_key, openssh_public);
  const auto blob = hawk::from_base64(std::string_view(openssh_public).substr(12));
  const auto* raw = reinterpret_cast<const unsigned char*>(blob->data() + blob->size() - 32);
  EVP_PKEY* const key = ::EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw, 32);
  EVP_MD_CTX* const context = ::EVP_MD_CTX_new();
  const std::string signature = *hawk::from_base64(made->signature);
  EXPECT_EQ(::EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, key), 1);
  EXPECT_EQ(::EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                               signature.size(), reinterpret_cast<const unsigned char*>("text"), 4),
            1);
  ::EVP_MD_CTX_free(context);
  ::EVP_PKEY_free(key);
}

TEST(PoolKeys, of_openssh_are_refused_wherever_they_are_cut) {
  const std::string whole = openssh_key;
  const std::string body(whole.begin() + 36, whole.end() - 34);
  for (std::size_t keep = 0; keep + 4 < body.size(); keep += 4) {
    std::string cut = whole.substr(0, 36) + body.substr(0, keep) + whole.substr(whole.size() - 34);
    const auto made = sign_with_pool_key(Secret(cut), "pool.key", "text");
    // Behind the key there is only a comment and padding.
    if (made) {
      EXPECT_EQ(made->public_key, openssh_public);
      EXPECT_GT(keep, body.size() / 2);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Registration

const std::string granted = R"({"expires": "2026-01-01T00:00:00Z", "secret": "s",
    "credentials": {"clientId": "c", "accessToken": "t"}, "workerConfig": {},
    "workerPoolId": "a/b", "providerId": "p", "workerGroup": "g", "workerId": "found"})";

struct Registration {
  CallOutcome outcome;
  std::optional<Grant> grant;
  Place place;
};

Registration register_once(Configuration configuration) {
  EventLoop loop;
  HttpClient http(loop, "");
  const BootClock clock;
  HostCalls host(http, clock, 20s);
  sigset_t mask;
  ::sigemptyset(&mask);
  Children children(mask);
  // Ends of children are looked for now and then, as nobody reads signals here.
  std::function<void()> reap = [&] {
    children.reap();
    loop.after(1ms, reap);
  };
  reap();
  Registrar registrar(configuration, loop, http, host, children, Time(1s),
                      Secret("a key that the worker has made"));
  Registration result;
  registrar.register_worker(
      [&](const CallOutcome& outcome, std::optional<Grant> grant, const Place& place) {
        result = {outcome, std::move(grant), place};
        loop.stop();
      });
  loop.run();
  return result;
}

class Registering : public ::testing::Test {
 protected:
  Registering() {
    configuration.place = {server.url(), "a/b", "p", "g", "w"};
    configuration.identity.secret_file = folder / "secret";
    std::ofstream(folder / "secret") << std::string(44, 's') << "\n";
    ::chmod((folder / "secret").c_str(), 0600);
  }
  TemporaryFolder folder;
  ScriptedServer server{[](const std::string& request) {
    return request.find("challenges") == std::string::npos
               ? ScriptedServer::ok(granted)
               : ScriptedServer::ok(R"({"challenge": "line 1\nline 2"})");
  }};
  Configuration configuration;
};

TEST_F(Registering, a_secret_that_others_may_read_is_not_shown) {
  ::chmod((folder / "secret").c_str(), 0644);
  const auto result = register_once(configuration);
  EXPECT_EQ(result.outcome.kind, CallOutcome::Kind::refused);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Registering, a_proof_that_is_no_object_fails_or_may_be_read_by_others_is_not_shown) {
  configuration.identity.kind = IdentityKind::proof;
  const auto refused = [&] { return register_once(configuration).outcome.why; };
  for (const char* text : {"", "hunter2", "[\"hunter2\"]", "{\"a\": \"hunter2\""}) {
    configuration.identity.proof_command = {"/bin/echo", text};
    EXPECT_THAT(refused(), AllOf(HasSubstr("/bin/echo"), Not(HasSubstr("hunter2")))) << text;
  }
  configuration.identity.proof_command = {"/usr/bin/head", "-c", "10000000", "/dev/zero"};
  EXPECT_THAT(refused(), HasSubstr("the first 4 KiB of /usr/bin/head is not a JSON object"));
  configuration.identity.proof_command = {"/bin/false"};
  EXPECT_THAT(refused(), HasSubstr("identity.proofCommand: /bin/false failed with status 1"));
  configuration.identity.proof_command = {};
  configuration.identity.proof_file = folder / "proof";
  std::ofstream(folder / "proof") << R"({"token": "t"})";
  ::chmod((folder / "proof").c_str(), 0644);
  EXPECT_THAT(refused(), HasSubstr("others than its owner"));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(Registering, shows_a_proof_of_the_providers_own_kind_with_the_registration_key) {
  configuration.identity.kind = IdentityKind::proof;
  configuration.identity.proof_command = {"/bin/echo", R"({"token": "printed"})"};
  EXPECT_TRUE(register_once(configuration).grant);
  configuration.identity.proof_command = {};
  configuration.identity.proof_file = folder / "proof";
  std::ofstream(folder / "proof") << "{\n  \"token\": \"written\"\n}\n";
  ::chmod((folder / "proof").c_str(), 0600);
  EXPECT_TRUE(register_once(configuration).grant);
  const std::string key = R"(,"registrationKey":"a key that the worker has made"})";
  EXPECT_THAT(server.requests().at(0), HasSubstr(R"({"token":"printed")" + key));
  EXPECT_THAT(server.requests().at(1), HasSubstr(R"({"token":"written")" + key));
}

TEST_F(Registering, shows_the_secret_under_the_name_of_its_kind_with_the_machines_state) {
  configuration.state["os"].text = "14.5";
  configuration.state["kernel"].command = {"/bin/echo", "6.1"};
  configuration.identity.kind = IdentityKind::local;
  EXPECT_TRUE(register_once(configuration).grant);
  configuration.identity.kind = IdentityKind::static_secret;
  EXPECT_TRUE(register_once(configuration).grant);
  EXPECT_THAT(server.requests().at(0), HasSubstr(R"({"localSecret":"sss)"));
  const std::string key = R"("registrationKey":"a key that the worker has made")";
  EXPECT_THAT(server.requests().at(0), HasSubstr(key));
  EXPECT_THAT(server.requests().at(1), Not(HasSubstr(key))) << "its secret is its own";
  EXPECT_THAT(server.requests().at(0), HasSubstr(R"("systemBootTime":"1970-01-01T00:00:01.000Z")"));
  EXPECT_THAT(server.requests().at(1), HasSubstr(R"({"staticSecret":"sss)"));
  EXPECT_THAT(server.requests().at(1), HasSubstr(R"("state":{"kernel":"6.1","os":"14.5"})"));
}

TEST_F(Registering, a_state_that_cannot_be_told_is_tried_again) {
  configuration.state["x"].command = {"/bin/false"};
  EXPECT_THAT(register_once(configuration).outcome.why, HasSubstr("state.x: /bin/false failed"));
  configuration.state["x"].command = {"/no/such/program"};
  EXPECT_EQ(register_once(configuration).outcome.kind, CallOutcome::Kind::try_again);
}

TEST_F(Registering, by_pool_key_signs_the_hosts_challenge) {
  configuration.identity.kind = IdentityKind::pool_key;
  configuration.identity.key_file = folder / "key";
  std::ofstream(folder / "key") << openssh_key;
  ::chmod((folder / "key").c_str(), 0600);
  EXPECT_TRUE(register_once(configuration).grant);
  EXPECT_THAT(server.requests().at(0), HasSubstr("POST /api/muster/v1/registration-challenges "));
  EXPECT_THAT(server.requests().at(1), HasSubstr(R"("challenge":"line 1\nline 2","signature":")"));
  EXPECT_THAT(server.requests().at(1), HasSubstr(openssh_public));
}

std::string attested(const char* signature) {
  return ScriptedServer::ok(R"({"encoding": "pkcs7", "signature": ")" + std::string(signature) +
                            "\"}");
}

TEST_F(Registering, azures_document_has_the_digest_of_the_hosts_challenge_as_its_nonce) {
  bool has_challenges = true;
  const std::string nonce = sha256_digits("a challenge");
  const ScriptedServer cloud_and_host([&](const std::string& request) {
    const auto asks = [&](const std::string& part) {
      return request.find(part) != std::string::npos;
    };
    if (asks("/instance/compute")) return ScriptedServer::ok(R"({"name": "vm-1"})");
    if (asks("&nonce=" + nonce)) return attested("with-nonce");
    if (asks("/attested/document")) return attested("without");
    if (!asks("challenges")) return ScriptedServer::ok(granted);
    return has_challenges ? ScriptedServer::ok(R"({"challenge": "a challenge"})")
                          : std::string("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  });
  configuration.place = {cloud_and_host.url(), "a/b", "p", "g", "w"};
  configuration.identity.kind = IdentityKind::azure;
  configuration.identity.metadata_url = cloud_and_host.url();
  EXPECT_TRUE(register_once(configuration).grant);
  EXPECT_THAT(cloud_and_host.requests().back(),
              AllOf(HasSubstr(R"("document":"with-nonce")"),
                    HasSubstr(R"("registrationChallenge":"a challenge")")));
  has_challenges = false;
  EXPECT_TRUE(register_once(configuration).grant) << "a host that has none, as Taskcluster's";
  EXPECT_THAT(cloud_and_host.requests().back(),
              AllOf(HasSubstr(R"("document":"without")"), Not(HasSubstr("registrationChallenge"))));
}

TEST_F(Registering, shows_the_pools_key_and_what_it_announces_beside_its_secret) {
  configuration.identity.key_file = folder / "key";
  std::ofstream(folder / "key") << openssh_key;
  ::chmod((folder / "key").c_str(), 0600);
  configuration.reported = {.resources = {{"memory", 65536}}, .tags = {"gpu"}, .team = "ios"};
  EXPECT_TRUE(register_once(configuration).grant);
  ASSERT_EQ(server.requests().size(), 2U);
  const std::string shown = server.requests().at(1);
  EXPECT_THAT(shown, HasSubstr(R"({"staticSecret":"sss)"));
  EXPECT_THAT(shown,
              HasSubstr(R"("queue":{"resources":{"memory":65536},"tags":["gpu"],"team":"ios"})"));
  EXPECT_THAT(shown, HasSubstr(R"("poolKey":{"challenge":"line 1\nline 2","signature":")"));
}

TEST_F(Registering, by_a_relay_learns_its_names) {
  configuration.identity.kind = IdentityKind::relay;
  configuration.identity.relay_url = server.url();
  configuration.place = {"https://m.example", "", "", "", ""};
  configuration.state["os"].text = "14.5";
  configuration.reported.tags = {"gpu"};
  const auto result = register_once(configuration);
  ASSERT_TRUE(result.grant);
  EXPECT_EQ(result.grant->place.worker_id, "found");
  EXPECT_THAT(server.requests().at(0), HasSubstr("POST /api/muster-relay/v1/register "));
  EXPECT_THAT(server.requests().at(0),
              HasSubstr(R"("state":{"os":"14.5"},"queue":{"tags":["gpu"]}})"));
}

}  // namespace
}  // namespace muster::agent
