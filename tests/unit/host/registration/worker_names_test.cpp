#include "host/registration/worker_names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace muster::registration {
namespace {

const std::string longest(38, 'a');

TEST(WorkerNames, of_a_worker_have_letters_digits_dashes_and_underscores) {
  for (const std::string& name : {std::string("m"), std::string("A-z_09"), longest})
    EXPECT_TRUE(is_worker_name(name)) << name;
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a/b"), std::string("a*"),
        std::string("a\n"), std::string("\xc3\xa4"), longest + "a"})
    EXPECT_FALSE(is_worker_name(name)) << name;
}

TEST(WorkerNames, of_a_pool_are_a_provisioner_and_a_worker_type) {
  for (const std::string& name :
       {std::string("p/w"), std::string("P_1/w-2"), longest + "/" + longest})
    EXPECT_TRUE(is_worker_pool_id(name)) << name;
  for (const std::string& name :
       {std::string(), std::string("p"), std::string("p/"), std::string("/w"), std::string("p/W"),
        std::string("p/1w"), std::string("p/w-"), std::string("p/w_x"), std::string("p/w/x"),
        longest + "a/w", "p/" + longest + "a"})
    EXPECT_FALSE(is_worker_pool_id(name)) << name;
}

}  // namespace
}  // namespace muster::registration
