#include <gtest/gtest.h>

#include "relay/dns_name.hpp"
#include "relay/name_pattern.hpp"

namespace muster::relay {
namespace {

TEST(HostName, that_no_machine_can_have_is_none) {
  for (const std::string& text :
       {std::string(""), std::string("."), std::string("a..b"), std::string(".a"),
        std::string("a b"), std::string("a\0b", 3), std::string("\xc3\xa4.example"),
        std::string("a\\046b"), std::string("-a.example"), std::string("a-.example"),
        std::string("a/b"), std::string("a*"), std::string("a.."), std::string(64, 'a'),
        std::string(254, 'a')})
    EXPECT_FALSE(host_name(text)) << text;
  std::string long_name;
  while (long_name.size() < 254) long_name += "abc.";
  EXPECT_FALSE(host_name(long_name));
}

TEST(HostName, is_in_lower_case_and_without_the_last_dot) {
  EXPECT_EQ(host_name("Mac-01.DC1.Example.COM."), "mac-01.dc1.example.com");
  EXPECT_EQ(host_name("a_b.c"), "a_b.c");
  EXPECT_EQ(host_name("x"), "x");
  EXPECT_TRUE(host_name(std::string(63, 'a') + ".b"));
}

TEST(Label, bytes_with_a_meaning_are_escaped) {
  std::string name;
  const unsigned char odd[] = {'A', '.', 0, '\\', 0xff, '-'};
  append_label(name, odd);
  EXPECT_EQ(name, "a\\046\\000\\092\\255-");
  const unsigned char plain[] = {'b'};
  append_label(name, plain);
  EXPECT_EQ(name, "a\\046\\000\\092\\255-.b");
}

TEST(ReverseName, is_the_address_from_its_end) {
  EXPECT_EQ(reverse_name(*parse_address("192.0.2.7")), "7.2.0.192.in-addr.arpa");
  EXPECT_EQ(reverse_name(*parse_address("::ffff:192.0.2.7")), "7.2.0.192.in-addr.arpa");
  EXPECT_EQ(reverse_name(*parse_address("2001:db8::a7")),
            "7.a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
  EXPECT_EQ(to_text(*parse_address("::ffff:192.0.2.7")), "192.0.2.7");
  EXPECT_EQ(to_text(*parse_address("2001:db8::a7")), "2001:db8::a7");
}

TEST(NamePattern, that_makes_no_sense_is_refused_with_the_reason) {
  const auto why = [](std::string_view pattern) {
    const auto parsed = NamePattern::parse(pattern);
    return parsed ? "" : parsed.error().message;
  };
  EXPECT_NE(why("").find("is empty"), std::string::npos);
  EXPECT_NE(why("a[b").find("no ']'"), std::string::npos);
  EXPECT_NE(why("a[]").find("nothing between"), std::string::npos);
  EXPECT_NE(why("a[z-a]").find("ranges"), std::string::npos);
  EXPECT_NE(why("a[.]").find("ranges"), std::string::npos);
  EXPECT_NE(why("a b").find("letters"), std::string::npos);
  EXPECT_NE(why("\xc3\xa4*").find("letters"), std::string::npos);
  EXPECT_NE(why("a..b").find("empty label"), std::string::npos);
  EXPECT_NE(why(".a").find("empty label"), std::string::npos);
  EXPECT_NE(why(std::string(300, 'a')).find("longer"), std::string::npos);
}

struct Match {
  const char *pattern, *name;
  bool fits;
};

TEST(NamePattern, stays_in_its_label_unless_it_has_two_stars) {
  for (const Match& m : std::initializer_list<Match>{
           {"mac-*.dc1.example.com", "mac-01.dc1.example.com", true},
           {"mac-*.dc1.example.com", "mac-.dc1.example.com", true},
           {"MAC-*.DC1.example.com.", "mac-01.dc1.example.com", true},
           {"mac-*.dc1.example.com", "mac-01.guests.dc1.example.com", false},
           {"mac-*.dc1.example.com", "mac-01.dc1.example.com.evil.org", false},
           {"mac-*.dc1.example.com", "xmac-01.dc1.example.com", false},
           {"mac-*.dc1.example.com", "mac-01xdc1.example.com", false},
           {"**.example.com", "a.b.c.example.com", true},
           {"**.example.com", "example.com", false},
           {"**.example.com", "aexample.com", false},
           {"*", "a", true},
           {"*", "a.b", false},
           {"**", "a.b", true},
           {"m?c.x", "mac.x", true},
           {"m?c.x", "mc.x", false},
           {"m?x", "m.x", false},
           {"m[0-9][!ab].x", "m1c.x", true},
           {"m[0-9][!ab].x", "m1a.x", false},
           {"m[0-9][!ab].x", "mxc.x", false},
           {"m[!a]x", "m.x", false},
           {"a*b*c", "axxbxxc", true},
           {"a*b*c", "axxbxx", false},
           {"*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
       })
    EXPECT_EQ(NamePattern::parse(m.pattern).value().matches(m.name), m.fits)
        << m.pattern << " " << m.name;
}

TEST(NamePattern, that_says_no_label_in_full_fits_nearly_everything) {
  EXPECT_TRUE(NamePattern::parse("*").value().matches_nearly_all());
  EXPECT_TRUE(NamePattern::parse("**").value().matches_nearly_all());
  EXPECT_TRUE(NamePattern::parse("*.?*").value().matches_nearly_all());
  EXPECT_FALSE(NamePattern::parse("*.example.com").value().matches_nearly_all());
}

}  // namespace
}  // namespace muster::relay
