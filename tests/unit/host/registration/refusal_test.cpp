#include "host/registration/refusal.hpp"

#include <gtest/gtest.h>

namespace muster::registration {
namespace {

TEST(Refusal, of_an_error_has_the_reason_that_the_apis_answer_with) {
  const auto code = [](const Error& error) { return code_of(Refusal::from(error).reason); };
  EXPECT_EQ(code(Error::invalid("x")), "InputError");
  EXPECT_EQ(code(Error::auth("x")), "InputError");
  EXPECT_EQ(code(Error::not_found("x")), "ResourceNotFound");
  EXPECT_EQ(code(Error::not_found("x").with_code("gone")), "ResourceExpired");
  EXPECT_EQ(code(Error::invalid("x").with_code("conflict")), "RequestConflict");
  EXPECT_EQ(code(Error::transient("x").with_code("readOnly")), "ReadOnly");
  EXPECT_EQ(code(Error::transient("x")), "ServiceUnavailable");
  EXPECT_EQ(code(Error::internal("x")), "ServiceUnavailable");
  EXPECT_EQ(Refusal::from(Error::invalid("a sentence")).message, "a sentence");
}

TEST(Refusal, counts_against_the_worker_only_if_it_is_its_fault) {
  for (const auto reason :
       {RefusalReason::invalid, RefusalReason::not_found, RefusalReason::conflict,
        RefusalReason::gone, RefusalReason::too_many_failures})
    EXPECT_TRUE(is_workers_fault(reason)) << code_of(reason);
  for (const auto reason :
       {RefusalReason::provider_down, RefusalReason::read_only, RefusalReason::unavailable})
    EXPECT_FALSE(is_workers_fault(reason)) << code_of(reason);
}

}  // namespace
}  // namespace muster::registration
