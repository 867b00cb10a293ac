// Tables of zones: what the DNS says, who asks, and what must come out.
#include "relay/name_verification.hpp"

#include <gtest/gtest.h>

#include "tests/unit/relay/zone.hpp"

namespace muster::relay {
namespace {

std::shared_ptr<const NameRules> rules_of(const std::vector<std::string>& patterns,
                                          std::size_t max_names = 8, std::size_t max_aliases = 3) {
  auto rules = std::make_shared<NameRules>();
  for (const std::string& pattern : patterns)
    rules->allowed.push_back(NamePattern::parse(pattern).value());
  rules->max_names = max_names;
  rules->max_aliases = max_aliases;
  return rules;
}

Verdict inquire(const Zone& zone, const std::string& address,
                const std::shared_ptr<const NameRules>& rules, std::size_t* asked = nullptr) {
  NameVerification verification(*parse_address(address), rules);
  std::size_t questions = 0;
  while (verification.question()) {
    if (++questions > 100) throw std::runtime_error("it never ends");
    verification.take(zone.answer(*verification.question()));
  }
  if (asked) *asked = questions;
  return verification.verdict();
}

struct InquiryCase {
  const char* what;
  const char* zone;
  const char* address;
  std::vector<std::string> patterns;
  Finding finding;
  const char* name = "";
  std::uint32_t ttl = 0;
};

// Lines of zones: owner, seconds, type, content. `!` in the place of seconds: the question fails
// so.
const std::vector<InquiryCase> cases{
    {"nothing at all", "", "10.1.0.7", {"*.dc"}, Finding::no_reverse_name},
    {"no such name, for as long as the zone says",
     "7.0.1.10.in-addr.arpa 40 NXDOMAIN",
     "10.1.0.7",
     {"*.dc"},
     Finding::no_reverse_name,
     "",
     40},
    {"the reverse lookup fails",
     "7.0.1.10.in-addr.arpa ! serverFailure",
     "10.1.0.7",
     {"*.dc"},
     Finding::dns_failed},
    {"the reverse lookup times out",
     "7.0.1.10.in-addr.arpa ! timedOut",
     "10.1.0.7",
     {"*.dc"},
     Finding::dns_failed},
    {"a PTR without the name's own word (spoofed)",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 60 A 10.1.0.1",
     "10.1.0.7",
     {"*.dc"},
     Finding::name_not_confirmed,
     "",
     60},
    {"a PTR to a name that is not there",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc",
     "10.1.0.7",
     {"*.dc"},
     Finding::name_not_confirmed},
    {"a stranger's name that leads back",
     "7.0.1.10.in-addr.arpa 60 PTR m1.evil\nm1.evil 60 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::name_not_allowed,
     "",
     60},
    {"a stranger's name that only looks like ours",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc.evil\nm1.dc.evil 60 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::name_not_allowed,
     "",
     60},
    {"the right machine",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"IPv4 in IPv6 is IPv4",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 30 A 10.1.0.7",
     "::ffff:10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"IPv6",
     "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa 60 PTR m1.dc\n"
     "m1.dc 30 AAAA 2001:db8::7",
     "2001:db8::7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"IPv6 whose name has the IPv4 address only",
     "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa 60 PTR m1.dc\n"
     "m1.dc 30 A 10.1.0.7",
     "2001:db8::7",
     {"*.dc"},
     Finding::name_not_confirmed},
    {"one of several addresses",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 30 A 10.1.0.6\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"letters of any size and a dot at the end",
     "7.0.1.10.in-addr.arpa 60 PTR M1.DC.\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.Dc."},
     Finding::accepted,
     "m1.dc",
     30},
    {"of several names, the first by alphabet",
     "7.0.1.10.in-addr.arpa 60 PTR m9.dc\n7.0.1.10.in-addr.arpa 60 PTR m1.dc\n"
     "m9.dc 30 A 10.1.0.7\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"of several names, the earlier pattern's",
     "7.0.1.10.in-addr.arpa 60 PTR a.dc\n7.0.1.10.in-addr.arpa 60 PTR z.dc\n"
     "a.dc 30 A 10.1.0.7\nz.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"z.dc", "*.dc"},
     Finding::accepted,
     "z.dc",
     30},
    {"of several names, the one that is confirmed",
     "7.0.1.10.in-addr.arpa 60 PTR a.dc\n7.0.1.10.in-addr.arpa 60 PTR z.dc\n"
     "a.dc 20 A 10.1.0.1\nz.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "z.dc",
     20},
    {"a name before it that cannot be looked up",
     "7.0.1.10.in-addr.arpa 60 PTR a.dc\n7.0.1.10.in-addr.arpa 60 PTR z.dc\n"
     "a.dc ! timedOut\nz.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::dns_failed},
    {"a name behind it that cannot be looked up",
     "7.0.1.10.in-addr.arpa 60 PTR a.dc\n7.0.1.10.in-addr.arpa 60 PTR z.dc\n"
     "z.dc ! timedOut\na.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "a.dc",
     30},
    {"a stranger's name beside it is not even looked up",
     "7.0.1.10.in-addr.arpa 60 PTR a.evil\n7.0.1.10.in-addr.arpa 60 PTR z.dc\n"
     "a.evil ! timedOut\nz.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "z.dc",
     30},
    {"the same name twice",
     "7.0.1.10.in-addr.arpa 60 PTR A.dc\n7.0.1.10.in-addr.arpa 60 PTR a.dc\na.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "a.dc",
     30},
    {"an alias",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME web.dc\nweb.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     10},
    {"an alias to a stranger's name that has the address",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME web.evil\nweb.evil 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     10},
    {"an alias that must be asked for on its own",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME-ALONE web.dc\nweb.dc 5 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     5},
    {"three aliases",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME a.dc\na.dc 10 CNAME b.dc\n"
     "b.dc 10 CNAME-ALONE c.dc\nc.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"m*.dc"},
     Finding::accepted,
     "m1.dc",
     10},
    {"four aliases, of which three are allowed",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME a.dc\na.dc 10 CNAME b.dc\n"
     "b.dc 10 CNAME c.dc\nc.dc 10 CNAME d.dc\nd.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"m*.dc"},
     Finding::name_not_confirmed,
     "",
     10},
    {"aliases in a circle",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME a.dc\na.dc 10 CNAME m1.dc",
     "10.1.0.7",
     {"m*.dc"},
     Finding::name_not_confirmed,
     "",
     10},
    {"aliases in a circle, one answer each",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME-ALONE a.dc\na.dc 10 CNAME-ALONE m1.dc",
     "10.1.0.7",
     {"m*.dc"},
     Finding::name_not_confirmed,
     "",
     10},
    {"an alias of itself",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME m1.dc",
     "10.1.0.7",
     {"m*.dc"},
     Finding::name_not_confirmed,
     "",
     10},
    {"an alias to nowhere",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 10 CNAME a.dc",
     "10.1.0.7",
     {"m*.dc"},
     Finding::name_not_confirmed},
    {"a reverse zone that is delegated by an alias (RFC 2317)",
     "7.0.1.10.in-addr.arpa 60 CNAME 7.0-63.0.1.10.in-addr.arpa\n"
     "7.0-63.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     30},
    {"a reverse zone in a circle",
     "7.0.1.10.in-addr.arpa 60 CNAME b.in-addr.arpa\nb.in-addr.arpa 60 CNAME 7.0.1.10.in-addr.arpa",
     "10.1.0.7",
     {"*.dc"},
     Finding::no_reverse_name,
     "",
     60},
    {"a name with a zero byte",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\\000.evil",
     "10.1.0.7",
     {"*.dc", "**"},
     Finding::no_reverse_name,
     "",
     60},
    {"a name with a dot in a label",
     "7.0.1.10.in-addr.arpa 60 PTR m1\\046dc",
     "10.1.0.7",
     {"*.dc", "**"},
     Finding::no_reverse_name,
     "",
     60},
    {"the root",
     "7.0.1.10.in-addr.arpa 60 PTR .",
     "10.1.0.7",
     {"**"},
     Finding::no_reverse_name,
     "",
     60},
    {"an odd name beside a good one",
     "7.0.1.10.in-addr.arpa 60 PTR m1\\000.dc\n7.0.1.10.in-addr.arpa 60 PTR m2.dc\n"
     "m2.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m2.dc",
     30},
    {"an answer about somebody else",
     "7.0.1.10.in-addr.arpa 60 PTR m1.dc\nm1.dc 30 STRAY m2.dc 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::name_not_confirmed,
     "",
     60},
    {"a zero TTL",
     "7.0.1.10.in-addr.arpa 0 PTR m1.dc\nm1.dc 30 A 10.1.0.7",
     "10.1.0.7",
     {"*.dc"},
     Finding::accepted,
     "m1.dc",
     0},
};

TEST(NameVerification, decides_every_case_of_the_table) {
  for (const InquiryCase& c : cases) {
    const Verdict verdict = inquire(Zone(c.zone), c.address, rules_of(c.patterns));
    EXPECT_STREQ(to_string(verdict.finding), to_string(c.finding)) << c.what;
    EXPECT_EQ(verdict.name, c.name) << c.what;
    EXPECT_EQ(verdict.ttl, c.ttl) << c.what;
    EXPECT_FALSE(verdict.reason.empty()) << c.what;
    EXPECT_EQ(verdict.failure.has_value(), c.finding == Finding::dns_failed) << c.what;
  }
}

TEST(NameVerification, the_order_of_the_answers_means_nothing) {
  const std::string names[] = {"m3.dc", "m1.dc", "m2.dc"};
  std::string zone;
  for (const std::string& name : names) zone += name + " 30 A 10.1.0.7\n";
  for (int first = 0; first < 3; ++first) {
    std::string turned = zone;
    for (int i = 0; i < 3; ++i)
      turned += "7.0.1.10.in-addr.arpa 60 PTR " + names[(first + i) % 3] + "\n";
    EXPECT_EQ(inquire(Zone(turned), "10.1.0.7", rules_of({"*.dc"})).name, "m1.dc");
  }
}

TEST(NameVerification, looks_up_no_more_names_than_it_may) {
  std::string zone;
  for (int i = 10; i < 60; ++i)
    zone += "7.0.1.10.in-addr.arpa 60 PTR m" + std::to_string(i) + ".dc\n";
  std::size_t asked = 0;
  const Verdict verdict =
      inquire(Zone(zone + "m59.dc 30 A 10.1.0.7"), "10.1.0.7", rules_of({"*.dc"}, 5), &asked);
  EXPECT_EQ(verdict.finding, Finding::name_not_confirmed);
  EXPECT_EQ(asked, 6u);
  EXPECT_EQ(verdict.names_seen.size(), 32u);
}

TEST(NameVerification, a_name_longer_than_253_is_no_host_name) {
  std::string name = "m";
  while (name.size() < 250) name += ".abcdefg";
  const Verdict verdict =
      inquire(Zone("7.0.1.10.in-addr.arpa 60 PTR " + name + ".dc"), "10.1.0.7", rules_of({"**"}));
  EXPECT_EQ(verdict.finding, Finding::no_reverse_name);
}

TEST(NameVerification, says_all_names_that_it_saw_and_what_could_not_be_asked) {
  const Verdict verdict =
      inquire(Zone("7.0.1.10.in-addr.arpa 60 PTR b.evil\n7.0.1.10.in-addr.arpa 60 PTR a.dc\n"
                   "a.dc ! serverFailure"),
              "10.1.0.7", rules_of({"*.dc"}));
  EXPECT_EQ(verdict.names_seen, (std::vector<std::string>{"a.dc", "b.evil"}));
  EXPECT_EQ(verdict.reason, "A a.dc: serverFailure");
  EXPECT_EQ(verdict.failure, DnsResult::server_failure);
}

TEST(NameVerification, that_nobody_waits_for_has_failed) {
  NameVerification verification(*parse_address("10.1.0.7"), rules_of({"*.dc"}));
  verification.give_up(DnsResult::timed_out);
  EXPECT_FALSE(verification.question());
  EXPECT_EQ(verification.verdict().finding, Finding::dns_failed);
  verification.take({DnsResult::answered});
  EXPECT_EQ(verification.verdict().finding, Finding::dns_failed);
}

}  // namespace
}  // namespace muster::relay
