#include "lib/ssh/pool_key_proof.hpp"

#include <gtest/gtest.h>

#include "tests/support/signing_key.hpp"

namespace muster::ssh {
namespace {

const std::string challenge = "host: here\nworkerPoolId: worker-manager/mac\n";

struct PoolKeyProof : ::testing::Test {
  SigningKey mine = SigningKey::ed25519(), second = SigningKey::ed25519(),
             strange = SigningKey::ed25519();
  std::vector<PublicKey> keys = *parse_keys({mine.line(), second.line()});

  static json::object shown(const SigningKey& key, std::string_view text = challenge) {
    return {{"challenge", text}, {"signature", padded_base64(key.sign(text))}};
  }
  std::string refusal(const json::value& proof, std::string_view text = challenge) const {
    const auto signer = signer_in(proof, text, keys);
    if (signer) return "it was taken";
    EXPECT_EQ(signer.error().error_class, ErrorClass::auth);
    return signer.error().message;
  }
};

TEST_F(PoolKeyProof, what_is_no_signature_of_a_key_over_the_challenge_is_refused_in_words) {
  EXPECT_EQ(refusal(5), "poolKey in workerIdentityProof must be an object");
  EXPECT_EQ(refusal(json::object{}), "poolKey.signature in workerIdentityProof is missing");
  EXPECT_NE(refusal(shown(mine), "").find("shows no challenge"), std::string::npos);
  EXPECT_NE(refusal(shown(strange)).find("is not one of a key"), std::string::npos);
  EXPECT_NE(refusal(shown(mine, "another text")).find("is not one of a key"), std::string::npos);
  json::object named = shown(mine);
  named["publicKey"] = strange.line();
  EXPECT_NE(refusal(named).find("is not a key of this worker's pool"), std::string::npos);
  named["publicKey"] = second.line();
  EXPECT_NE(refusal(named).find("is not one of poolKey.publicKey"), std::string::npos);
  named["publicKey"] = "ssh-rsa AAAA";
  EXPECT_NE(refusal(named).find("poolKey.publicKey in workerIdentityProof: "), std::string::npos);
}

TEST_F(PoolKeyProof, says_which_of_the_keys_has_signed) {
  EXPECT_EQ(*signer_in(shown(mine), challenge, keys), &keys[0]);
  EXPECT_EQ(*signer_in(shown(second), challenge, keys), &keys[1]);
  json::object named = shown(second);
  named["publicKey"] = second.line();
  EXPECT_EQ(*signer_in(named, challenge, keys), &keys[1]);
}

TEST(SshKeys, a_list_is_refused_with_the_place_of_its_first_mistake) {
  const SigningKey key = SigningKey::ed25519();
  EXPECT_EQ(parse_keys({key.line(), "nonsense"}).error().message.substr(0, 5), "[1]: ");
  EXPECT_EQ(parse_keys({key.line(), key.line()}).error().message, "[1]: this key occurs twice");
  EXPECT_TRUE(parse_keys({}));
}

}  // namespace
}  // namespace muster::ssh
