#include "lib/crypto/openssl_pointer.hpp"

#include <gtest/gtest.h>
#include <openssl/bn.h>

namespace muster {
namespace {

int freed = 0;
void count(int*) {
  ++freed;
}

TEST(OpensslPointerTest, frees_once_and_costs_no_more_than_a_pointer) {
  int object = 0;
  {
    const OpensslPointer<int, count> owner(&object);
    const OpensslPointer<int, count> empty;
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(sizeof(OpensslPointer<BIGNUM, BN_free>), sizeof(BIGNUM*));
}

}  // namespace
}  // namespace muster
