#include "host/identifiers/identifiers.hpp"

#include <string>

#include <gtest/gtest.h>

namespace muster::identifiers {
namespace {

using std::string;

const string longest(38, 'a');

TEST(Identifiers, names_have_letters_digits_dashes_and_underscores) {
  for (const string& bad : {string(), string("a b"), string("a/b"), string("a*"), string("a\n"),
                            string("a\0", 2), string("\xc3\xa4"), string("\xff"), longest + "a"})
    EXPECT_FALSE(is_name(bad)) << bad;
  for (const string& good : {string("m"), string("A-z_09"), longest})
    EXPECT_TRUE(is_name(good)) << good;
}

TEST(Identifiers, of_a_pool_are_a_provisioner_and_a_worker_type) {
  for (const string& bad :
       {string(), string("p"), string("p/"), string("/w"), string("p/W"), string("p/1w"),
        string("p/w-"), string("p/w_x"), string("p/w/x"), string("p/\xff"), string("x/w\n"),
        longest + "a/w", "p/" + longest + "a"})
    EXPECT_FALSE(is_worker_pool_id(bad)) << bad;
  for (const string& good : {string("p/w"), string("P_1/w-2"), longest + "/" + longest})
    EXPECT_TRUE(is_worker_pool_id(good)) << good;
}

TEST(Identifiers, of_clients_have_known_characters) {
  for (const char* bad : {"", " ", "a b", "a\n", "\xc3\xa4", "a\"", "a'", "a*"})
    EXPECT_FALSE(is_client_id(bad));
  EXPECT_FALSE(is_client_id(string(1025, 'a')));
  EXPECT_TRUE(is_client_id("mozilla-auth0/ad|Mozilla-LDAP|x:y@z+1.2_!-"));
}

TEST(Identifiers, of_plugins_have_a_kind_and_a_name) {
  for (const char* bad : {"", "provider", "provider/", "local", "other/local", "provider/a/b",
                          "provider/\xff", "provider/a b"})
    EXPECT_FALSE(is_plugin_id(bad)) << bad;
  EXPECT_TRUE(is_plugin_id("provider/my_lab-1.2"));
}

TEST(Identifiers, numbers_fit_64_bits) {
  for (const string& bad : {string(), string("-1"), string("1 "), string("0x1"), string(19, '9')})
    EXPECT_FALSE(is_number(bad)) << bad;
  EXPECT_TRUE(is_number(string(18, '9')));
}

TEST(Identifiers, texts_are_utf8_without_control_characters) {
  for (const string& bad :
       {string("a\0", 2), string("\n"), string("\x7f"), string("\xc2\x85"), string("\xff"),
        string("\xed\xa0\x80"), string("\xc0\x80"), string("\xf4\x90\x80\x80"), string(4097, 'a')})
    EXPECT_FALSE(is_text(bad)) << bad;
  for (const string& good : {string(), string("Grüße, 世界 🦊"), string(4096, 'a')})
    EXPECT_TRUE(is_text(good)) << good;
}

TEST(Identifiers, a_parameter_without_a_form_is_not_known) {
  EXPECT_EQ(pattern_of("colour"), nullptr);
  EXPECT_EQ(pattern_of("workerPoolId"), &worker_pool_id);
}

}  // namespace
}  // namespace muster::identifiers
