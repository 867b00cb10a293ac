#include "relay/dns_message.hpp"

#include <random>

#include <gtest/gtest.h>

#include "relay/name_verification.hpp"
#include "tests/unit/relay/dns_wire.hpp"

namespace muster::relay {
namespace {

constexpr unsigned answered = 0x8180;

Wire four(unsigned a, unsigned b, unsigned c, unsigned d) {
  return Wire::nothing().u8(a).u8(b).u8(c).u8(d);
}

// A message with one record of every kind that is understood, and some that are not.
Wire good_message() {
  Wire wire(answered, 1, 5, 1);
  wire.question("m.example", 1);  // its name is at 12
  wire.pointer(12).u16(5).u16(1).u32(300).holds(Wire::nothing().name("Web.example"));
  wire.record("web.example", 1, 60).holds(four(192, 0, 2, 7));
  wire.record("web.example", 16, 60).holds(Wire::nothing().label("some text"));
  wire.record("web.example", 28, 0x80000001).holds(four(0x20, 1, 0xd, 0xb8).u32(0).u32(0).u32(7));
  wire.record("7.2.0.192.in-addr.arpa", 12, 5)
      .holds(Wire::nothing().label("a.b").label("example").u8(0));
  Wire soa = Wire::nothing().name("ns.example").name("root.example");
  soa.u32(1).u32(2).u32(3).u32(4).u32(30);
  wire.record("example", 6, 900).holds(soa);
  return wire;
}

TEST(DnsMessage, that_is_cut_anywhere_is_refused) {
  const auto whole = good_message().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_message(std::span(whole).first(size))) << size;
}

TEST(DnsMessage, with_any_byte_changed_never_reads_outside) {
  const auto whole = good_message().bytes();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const unsigned value :
         {0u, 1u, 2u, 4u, 5u, 6u, 12u, 16u, 28u, 63u, 64u, 128u, 192u, 255u}) {
      auto changed = whole;
      changed[at] = static_cast<unsigned char>(value);
      const auto read = parse_message(changed);
      EXPECT_LE(read ? read->answers.size() : 0, 256u);
    }
}

TEST(DnsMessage, of_random_bytes_never_reads_outside) {
  std::mt19937 random(20261);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<unsigned char> bytes(random() % 80);
    for (auto& byte : bytes)
      byte = static_cast<unsigned char>(random() % 4 ? random() % 16 : random());
    if (bytes.size() > 12) bytes[4] = bytes[6] = bytes[8] = 0;
    static_cast<void>(parse_message(bytes));
  }
}

TEST(DnsMessage, pointers_in_a_circle_or_forwards_are_refused) {
  Wire self(answered, 1, 0);
  self.pointer(12).u16(1).u16(1);
  EXPECT_FALSE(parse_message(self.bytes()));
  Wire forwards(answered, 1, 0);
  forwards.pointer(14).u8(0).u16(1).u16(1);
  EXPECT_FALSE(parse_message(forwards.bytes()));
  Wire circle(answered, 2, 0);
  circle.label("a").pointer(18).u16(1).u16(1).label("b").pointer(12).u16(1).u16(1);
  EXPECT_FALSE(parse_message(circle.bytes()));
}

TEST(DnsMessage, names_longer_than_any_name_are_refused) {
  Wire wire(answered, 1, 0);
  for (int i = 0; i < 5; ++i) wire.label(std::string(60, 'a'));
  wire.u8(0).u16(1).u16(1);
  EXPECT_FALSE(parse_message(wire.bytes()));
}

TEST(DnsMessage, addresses_of_a_wrong_size_are_refused) {
  Wire wire(answered, 0, 1);
  wire.record("a.example", 1, 60).holds(Wire::nothing().u8(1).u8(2).u8(3));
  EXPECT_FALSE(parse_message(wire.bytes()));
}

TEST(DnsMessage, says_what_is_in_it) {
  const auto message = parse_message(good_message().bytes()).value();
  ASSERT_EQ(message.answers.size(), 4u);
  EXPECT_EQ(message.answers[0], (Record{"m.example", RecordType::cname, 300, "web.example"}));
  EXPECT_EQ(message.answers[1],
            (Record{"web.example", RecordType::a, 60, "", *parse_address("192.0.2.7")}));
  // A time to live with its first bit set means nothing (RFC 2181).
  EXPECT_EQ(message.answers[2],
            (Record{"web.example", RecordType::aaaa, 0, "", *parse_address("2001:db8::7")}));
  EXPECT_EQ(message.answers[3].target, "a\\046b.example");
  EXPECT_EQ(message.negative_ttl, 30u);
}

TEST(DnsAnswer, tells_no_such_thing_from_failure) {
  const auto result = [](unsigned flags) { return to_answer(Wire(flags, 0, 0).bytes()).result; };
  EXPECT_EQ(result(0x8180), DnsResult::no_such_record);
  EXPECT_EQ(result(0x8181), DnsResult::refused);  // FORMERR
  EXPECT_EQ(result(0x8182), DnsResult::server_failure);
  EXPECT_EQ(result(0x8183), DnsResult::no_such_name);
  EXPECT_EQ(result(0x8185), DnsResult::refused);
  EXPECT_EQ(to_answer({}).result, DnsResult::malformed);
  EXPECT_EQ(to_answer(good_message().bytes()).result, DnsResult::answered);
}

}  // namespace
}  // namespace muster::relay
