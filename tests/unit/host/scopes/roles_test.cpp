#include "host/scopes/roles.hpp"

#include <gtest/gtest.h>

namespace muster::auth {
namespace {

using List = std::vector<std::string>;
using Table = std::map<std::string, List>;

List expanded(const Table& roles, const List& scopes) {
  return ScopeSet(Roles::make(roles).value().expanded(scopes)).list();
}

TEST(RolesTest, refuses_roles_that_nobody_could_understand) {
  for (const Table& bad : {Table{{"a", {"b\n"}}}, Table{{"a\n", {}}}, Table{{"a*", {"x<..>y<..>"}}},
                           Table{{"a*", {"x:*<..>"}}}}) {
    const auto made = Roles::make(bad);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().error_class, ErrorClass::config);
    EXPECT_NE(made.error().message.find("role `a"), std::string::npos) << made.error().message;
  }
}

TEST(RolesTest, refuses_roles_that_lead_back_to_themselves) {
  for (const Table& bad :
       {Table{{"a", {"assume:a"}}}, Table{{"a", {"assume:b"}}, {"b", {"x", "assume:a"}}},
        Table{{"a*", {"assume:ab<..>"}}},
        Table{{"a*", {"assume:b:<..>"}}, {"b:*", {"assume:a<..>"}}}, Table{{"a", {"ass*"}}}}) {
    const auto made = Roles::make(bad);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("leads back to itself"), std::string::npos);
  }
}

TEST(RolesTest, a_role_is_for_those_who_hold_it) {
  const Table roles{{"a", {"x"}}, {"anonymous", {"ping"}}};
  EXPECT_EQ(expanded(roles, {}), List());
  EXPECT_EQ(expanded(roles, {"assume:b", "a"}), (List{"a", "assume:b"}));
  EXPECT_EQ(expanded(roles, {"assume:a"}), (List{"assume:a", "x"}));
  EXPECT_EQ(expanded(roles, {"assume:a*"}), (List{"assume:a*", "ping", "x"}));
  EXPECT_EQ(expanded(roles, {"assu*"}), (List{"assu*", "ping", "x"}));
  EXPECT_EQ(expanded(roles, {"*"}), (List{"*"}));
  EXPECT_EQ(expanded({{"admins", {"*"}}}, {"assume:admins"}), (List{"*"}));
}

TEST(RolesTest, a_star_role_is_told_what_the_star_stands_for) {
  const Table roles{{"pool:*", {"get:<..>:log", "list"}}};
  EXPECT_EQ(expanded(roles, {"assume:pool"}), (List{"assume:pool"}));
  EXPECT_EQ(expanded(roles, {"assume:pool:p/w"}), (List{"assume:pool:p/w", "get:p/w:log", "list"}));
  EXPECT_EQ(expanded(roles, {"assume:pool:"}), (List{"assume:pool:", "get::log", "list"}));
  // A pattern cuts off what follows it.
  EXPECT_EQ(expanded(roles, {"assume:pool:p*"}), (List{"assume:pool:p*", "get:p*", "list"}));
  EXPECT_EQ(expanded(roles, {"assume:p*"}), (List{"assume:p*", "get:*", "list"}));
}

TEST(RolesTest, roles_lead_to_roles) {
  const Table roles{{"a:*", {"assume:b:<..>"}}, {"b:*", {"assume:c"}}, {"c", {"x:<..>"}}};
  EXPECT_EQ(expanded(roles, {"assume:a:1"}),
            (List{"assume:a:1", "assume:b:1", "assume:c", "x:<..>"}));
}

TEST(RolesTest, roles_that_multiply_come_to_an_end) {
  Table roles;
  const auto name = [](int level) {
    return std::string("level-") + static_cast<char>('a' + level) + ":";
  };
  for (int level = 0; level < 20; ++level)
    roles[name(level) + "*"] = {"assume:" + name(level + 1) + "<..>0",
                                "assume:" + name(level + 1) + "<..>1"};
  const auto all = Roles::make(roles).value().expanded({"assume:" + name(0)});
  EXPECT_LE(all.size(), 10'001u);
  EXPECT_GE(all.size(), 10'000u);
}

}  // namespace
}  // namespace muster::auth
