#include "lib/ssh/public_key.hpp"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/signing_key.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::ssh {
namespace {

const std::string message = "muster challenge\npool: worker-manager/mac\nnonce: 123\n";

std::string why_not(const std::string& line) {
  const auto key = PublicKey::parse(line);
  return key ? "it is one" : key.error().message;
}

std::string line_of(std::string_view blob, const char* kind = "ssh-ed25519 ") {
  return kind + padded_base64(blob);
}

TEST(SshKey, what_is_no_public_key_is_refused_in_words) {
  const SigningKey key = SigningKey::ed25519();
  EXPECT_EQ(why_not(""), "is empty");
  EXPECT_EQ(why_not("  \n"), "is empty");
  EXPECT_TRUE(
      why_not("ecdsa-sha2-nistp256 AAAA").starts_with("\"ecdsa-sha2-nistp256\" is not a kind"));
  EXPECT_TRUE(why_not("no-pty " + key.line()).starts_with("\"no-pty\" is not a kind"));
  EXPECT_TRUE(why_not("-----BEGIN OPENSSH PRIVATE KEY-----").starts_with("is a private key"));
  EXPECT_EQ(why_not("ssh-ed25519"), "what follows \"ssh-ed25519\" is not base64");
  EXPECT_EQ(why_not("ssh-ed25519 A!AA"), "what follows \"ssh-ed25519\" is not base64");
  EXPECT_TRUE(why_not(key.line() + "\n" + key.line()).starts_with("has several lines"));
  EXPECT_EQ(why_not(line_of(key.blob(), "ssh-rsa ")),
            "its bytes are of another kind of key than \"ssh-rsa\"");
  EXPECT_TRUE(why_not(line_of(wire_text("ssh-dss") + wire_text("x")))
                  .starts_with("\"ssh-dss\" is not a kind"));
  EXPECT_TRUE(why_not(line_of(key.blob() + "x")).starts_with("it is not an Ed25519 key"));
  EXPECT_EQ(why_not(std::string(20'000, 'a')), "is too long for a key");
}

TEST(SshKey, weak_and_senseless_rsa_keys_are_refused) {
  EXPECT_TRUE(why_not(SigningKey::rsa(1024).line()).starts_with("an RSA key of 1024 bits is too"));
  const auto rsa = [](std::string_view e, std::string_view n) {
    return line_of(wire_text("ssh-rsa") + wire_text(e) + wire_text(n), "ssh-rsa ");
  };
  const std::string modulus = std::string(1, '\0') + std::string(256, '\xff');
  EXPECT_EQ(why_not(rsa("\x03", modulus)), "it is one");
  EXPECT_NE(why_not(rsa("\x01", modulus)), "it is one");
  EXPECT_NE(why_not(rsa("\x04", modulus)), "it is one");
  EXPECT_NE(why_not(rsa("", modulus)), "it is one");
  EXPECT_NE(why_not(rsa("\x83", modulus)), "it is one");                    // negative
  EXPECT_NE(why_not(rsa(std::string("\0\x03", 2), modulus)), "it is one");  // not the shortest
  EXPECT_NE(why_not(rsa(std::string(9, '\x03'), modulus)), "it is one");
  EXPECT_NE(why_not(rsa("\x03", modulus.substr(1))), "it is one");
  EXPECT_NE(why_not(rsa("\x03", modulus.substr(0, 256) + "\xfe")), "it is one");  // even
  EXPECT_NE(why_not(rsa("\x03", std::string(1, '\0') + std::string(2049, '\xff'))), "it is one");
}

void expect_only_its_own(const SigningKey& key) {
  const auto known = PublicKey::parse(key.line());
  ASSERT_TRUE(known) << known.error().message;
  const std::vector<PublicKey> keys{*known};
  const std::string signature = padded_base64(key.sign(message));
  EXPECT_EQ(signer_of(message + " ", signature, keys), nullptr);
  EXPECT_EQ(signer_of("", signature, keys), nullptr);
  EXPECT_EQ(signer_of("", padded_base64(key.sign("")), keys), nullptr);
  EXPECT_EQ(signer_of(message, "", keys), nullptr);
  EXPECT_EQ(signer_of(message, "not base64!", keys), nullptr);
  EXPECT_EQ(signer_of(message, signature + signature, keys), nullptr);
  EXPECT_EQ(signer_of(message, std::string(100'000, 'A'), keys), nullptr);
  EXPECT_EQ(signer_of(message, signature, {}), nullptr);
  EXPECT_EQ(signer_of(message, padded_base64(SigningKey::ed25519().sign(message)), keys), nullptr);
  EXPECT_EQ(signer_of(message, signature, keys), &keys[0]);
}

TEST(SshKey, ed25519_verifies_only_what_it_signed) {
  expect_only_its_own(SigningKey::ed25519());
}

TEST(SshKey, rsa_verifies_only_what_it_signed_with_sha512) {
  expect_only_its_own(shared_rsa_key());
  const std::vector<PublicKey> keys{*PublicKey::parse(shared_rsa_key().line())};
  for (const EVP_MD* weaker : {::EVP_sha1(), ::EVP_sha256()})
    EXPECT_EQ(signer_of(message, padded_base64(shared_rsa_key().sign(message, weaker)), keys),
              nullptr);
}

// Neither crashes nor verifies, whatever happens to the bytes on their way.
void expect_no_damaged_copy_verifies(const SigningKey& key) {
  const std::string blob = key.blob(), signature = key.sign(message);
  const auto verifies = [&](std::string_view damaged) {
    // In memory of exactly its size, so that a read past its end is seen.
    const std::vector<char> copy(damaged.begin(), damaged.end());
    const auto parsed = PublicKey::from_blob({copy.data(), copy.size()});
    return parsed && parsed->verifies(message, signature);
  };
  ASSERT_TRUE(verifies(blob));
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_FALSE(verifies(blob.substr(0, size))) << size;
  for (std::size_t i = 0; i < blob.size(); ++i)
    for (const int bit : {0x01, 0x80, 0xff}) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      EXPECT_FALSE(verifies(damaged)) << i;
    }
}

TEST(SshKey, no_damaged_ed25519_key_verifies) {
  expect_no_damaged_copy_verifies(SigningKey::ed25519());
}

TEST(SshKey, no_damaged_rsa_key_verifies) {
  expect_no_damaged_copy_verifies(shared_rsa_key());
}

TEST(SshBase64, is_strict) {
  for (const char* wrong : {"A", "=", "AA=", "AAA==", "AAAA=", "AB==", "AAB=", "AA AA", "AA\n",
                            "A-_A", "====", "AA==AA=="})
    EXPECT_FALSE(from_base64(wrong)) << wrong;
  EXPECT_EQ(from_base64(""), "");
  EXPECT_EQ(from_base64("AA=="), std::string(1, '\0'));
  EXPECT_EQ(from_base64("AA"), std::string(1, '\0'));
  EXPECT_EQ(from_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(to_bare_base64("fooba"), "Zm9vYmE");
}

// -------------------------------------------------------------------------------------------------
// With OpenSSH's own program

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const std::string& command) {
  return std::system(command.c_str());  // NOLINT(cert-env33-c): a test's own texts
}

struct SshKeygen : ::testing::Test {
  testing::TemporaryFolder folder;

  void make_key(const std::string& options, const std::string& name = "key") {
    ASSERT_EQ(run("ssh-keygen -q " + options + " -N '' -C made-by-openssh -f " +
                  (folder / name).string()),
              0);
  }
  PublicKey read_key(const std::string& name = "key") {
    return *PublicKey::parse(content(folder / (name + ".pub")));
  }
  std::string sign(const std::string& options, const std::string& name = "key") {
    const std::string file = folder / "message";
    std::ofstream(file, std::ios::binary) << message;
    std::filesystem::remove(file + ".sig");
    EXPECT_EQ(run("ssh-keygen -q -Y sign " + options + " -f " + (folder / name).string() + " " +
                  file + " 2>/dev/null"),
              0);
    return content(file + ".sig");
  }
};

TEST_F(SshKeygen, its_keys_are_read_and_have_its_fingerprints) {
  for (const char* options : {"-t ed25519", "-t rsa -b 2048"}) {
    std::filesystem::remove(folder / "key");
    make_key(options);
    const PublicKey key = read_key();
    run("ssh-keygen -l -f " + (folder / "key.pub").string() + " > " + (folder / "shown").string());
    EXPECT_NE(content(folder / "shown").find(" " + key.fingerprint() + " "), std::string::npos)
        << content(folder / "shown") << key.fingerprint();
  }
}

TEST_F(SshKeygen, keys_of_other_kinds_are_refused) {
  make_key("-t ecdsa");
  EXPECT_FALSE(PublicKey::parse(content(folder / "key.pub")));
  EXPECT_TRUE(why_not(content(folder / "key")).starts_with("has several lines"));
}

TEST_F(SshKeygen, its_signatures_are_taken_in_our_namespace_only) {
  for (const char* options : {"-t ed25519", "-t rsa -b 2048"}) {
    std::filesystem::remove(folder / "key");
    make_key(options);
    const std::vector<PublicKey> keys{*PublicKey::parse(SigningKey::ed25519().line()), read_key()};
    EXPECT_EQ(signer_of(message, sign("-n file"), keys), nullptr);
    const std::string good = sign("-n muster");
    EXPECT_EQ(signer_of(message + ".", good, keys), nullptr);
    EXPECT_EQ(signer_of("", good, keys), nullptr);
    EXPECT_EQ(signer_of(message, good, {keys[0]}), nullptr);
    EXPECT_EQ(signer_of(message, good, keys), &keys[1]);
    EXPECT_EQ(signer_of(message, sign("-n muster -O hashalg=sha256"), keys), &keys[1]);
  }
}

TEST_F(SshKeygen, no_damaged_signature_verifies) {
  make_key("-t ed25519");
  const std::vector<PublicKey> keys{read_key()};
  const std::string good = sign("-n muster");
  const std::string begin = "-----BEGIN SSH SIGNATURE-----", end = "-----END SSH SIGNATURE-----";
  std::string letters = good.substr(begin.size(), good.find(end) - begin.size());
  std::erase(letters, '\n');
  const std::string blob = from_base64(letters).value();
  const auto verifies = [&](std::string_view bytes) {
    return signer_of(message, begin + padded_base64(bytes) + end, keys) != nullptr;
  };
  ASSERT_TRUE(verifies(blob));
  EXPECT_EQ(signer_of(message, begin, keys), nullptr);
  EXPECT_EQ(signer_of(message, begin + end, keys), nullptr);
  EXPECT_EQ(signer_of(message, begin.substr(0, 20) + end, keys), nullptr);
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_FALSE(verifies(blob.substr(0, size))) << size;
  for (std::size_t i = 0; i < blob.size(); ++i)
    for (const int bit : {0x01, 0x80}) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      EXPECT_FALSE(verifies(damaged)) << i;
    }
}

}  // namespace
}  // namespace muster::ssh
