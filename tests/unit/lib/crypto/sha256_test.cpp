#include "lib/crypto/sha256.hpp"

#include <gtest/gtest.h>

#include "lib/crypto/hmac.hpp"

namespace muster {
namespace {

constexpr const char* abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256Test, digests_are_those_of_sha_256) {
  EXPECT_EQ(to_hex(sha256("abc")), abc);
  EXPECT_EQ(sha256_hex("abc"), abc);
  EXPECT_TRUE(equal_in_constant_time(sha256("a"), sha256("a")));
  EXPECT_FALSE(equal_in_constant_time(sha256("a"), sha256("b")));
}

// RFC 4231, test cases 2 and 6.
TEST(HmacTest, codes_are_those_of_hmac_sha_256) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Sha256Test, only_64_hexadecimal_digits_are_a_digest) {
  EXPECT_EQ(sha256_from_hex(abc), sha256("abc"));
  const std::string digits = abc;
  for (const std::string& bad :
       {std::string(), digits.substr(1), digits + "0", "g" + digits.substr(1),
        "-1" + digits.substr(2), " 1" + digits.substr(2)})
    EXPECT_EQ(sha256_from_hex(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace muster
