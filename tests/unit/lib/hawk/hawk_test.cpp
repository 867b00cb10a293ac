#include "lib/hawk/hawk.hpp"

#include <gtest/gtest.h>

namespace muster::hawk {
namespace {

const Request get{"get", "/api/worker-manager/v1/worker-pool/pp%2Fww?limit=2", "TC.example.com",
                  443};

Credentials tester() {
  return {"tester", Secret("no-secret")};
}

TEST(Hawk, headers_that_are_wrong_are_refused) {
  const char* wrong[] = {
      "",
      "Hawk",
      "Basic id=\"a\"",
      "Hawky id=\"a\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a\"",
      "Hawk id=\"a\", ts=\"1\", nonce=\"n\"",
      "Hawk id=\"a\" ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a\", ts=\"1\", nonce=\"n\", mac=\"m\",",
      "Hawk id=\"a\", id=\"b\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a\", who=\"b\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a\\\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a\nb\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"\", ts=\"1\", nonce=\"n\", mac=\"m\"",
      "Hawk id=\"a, ts=1",
      "Hawk id=a, ts=\"1\", nonce=\"n\", mac=\"m\"",
  };
  for (const char* header : wrong) EXPECT_FALSE(parse_header(header)) << header;
  EXPECT_FALSE(parse_header("Hawk id=\"" + std::string(max_header_bytes, 'x') + "\""));
}

TEST(Hawk, a_header_is_read_whatever_the_order_of_its_attributes) {
  const auto read =
      parse_header("hAWK mac=\"m=\",nonce=\"n\" ,  ts=\"1\", ext=\"e\", id=\"a/b:c\", hash=\"h\"");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Attributes{"a/b:c", "1", "n", "h", "e", "m=", "", ""}));
  EXPECT_EQ(parse_header(format_header(*read)).value(), *read);
}

// Requests that Taskcluster's own validator has accepted, so that nobody need trust our reading of
// the rules. The time is 1700000000, the nonce abc123.
TEST(Hawk, permanent_credentials_sign_as_taskclusters_clients_do) {
  EXPECT_EQ(authorization(tester(), get, 1'700'000'000, "abc123"),
            "Hawk id=\"tester\", ts=\"1700000000\", nonce=\"abc123\", "
            "mac=\"W0H4dP0kFaKNlRqbO8idaF+mzFIQJ8XTojhkbesqiJQ=\"");
}

TEST(Hawk, ext_is_signed_too) {
  Attributes attributes{"tester", "1700000000", "abc123", "", "", "", "", ""};
  attributes.ext = base64(R"({"authorizedScopes":["worker-manager:get-worker-pool:pp/ww"]})");
  EXPECT_EQ(attributes.ext,
            "eyJhdXRob3JpemVkU2NvcGVzIjpbIndvcmtlci1tYW5hZ2VyOmdldC13b3JrZXItcG9vbDpwcC93dyJdfQ==");
  EXPECT_EQ(mac_of(Secret("no-secret"), normalized("header", attributes, get)),
            "rfgXzq9PIp2Sxa7CtzNLPFN4wJEY+ZvPmpbukBktIKg=");
}

TEST(Hawk, a_body_is_signed_by_its_hash) {
  Request put = get;
  put.method = "PUT";
  Attributes attributes{"tester", "1700000000", "abc123", "", "", "", "", ""};
  attributes.hash = payload_hash("Application/JSON; charset=utf-8", R"({"a":1})");
  EXPECT_EQ(attributes.hash, "qKG2AtsqLMhIdy7+OrxWG0bU8wTDncYSW0gmNukAKpI=");
  EXPECT_EQ(mac_of(Secret("no-secret"), normalized("header", attributes, put)),
            "1AWS4H+FC8MDxSyH4hNPxJZFwnZz0mcmb+vEOSa3E1A=");
}

TEST(Hawk, temporary_credentials_show_their_certificate) {
  const Credentials temporary{
      "tester", Secret("LBQhdofhIc9aAa3tAkdC1umxxkUQbawB2c5ehAYeoRc"),
      R"({"version":1,"scopes":["worker-manager:get-worker-pool:pp/*"],"start":1699999100000,)"
      R"("expiry":1700003600000,"seed":"JoCCRPCIQW-qvrSuACUQwQuUQab7jRTJ-U6NfTLdwZYg",)"
      R"("signature":"g4WYVtOLzL+n7La0dT6eSTHCpQckwj358XQiLHJCdlk="})"};
  const std::string header = authorization(temporary, get, 1'700'000'000, "abc123");
  EXPECT_EQ(parse_header(header)->mac, "0iYozi5z2Wl6gEeyAMdK350Pt/FHWg51xmYrwgaKYMs=");
}

TEST(Hawk, a_bewit_is_signed_with_a_kind_of_its_own) {
  const Attributes attributes{"tester", "1700000900", "", "", "", "", "", ""};
  EXPECT_EQ(mac_of(Secret("no-secret"), normalized("bewit", attributes, get)),
            "4VFcAeZwNBlUEqTQW2sz3KExEHrrwEJ2ksxHCYuqlSI=");
}

TEST(Hawk, line_ends_in_ext_cannot_forge_another_line) {
  Attributes honest{"a", "1", "n", "", "x\\ny", "", "", ""}, forged = honest;
  forged.ext = "x\ny";
  EXPECT_NE(normalized("header", honest, get), normalized("header", forged, get));
}

TEST(Hawk, the_servers_time_counts_only_if_it_is_signed) {
  const Secret key("no-secret");
  const std::string good = "Hawk ts=\"1700000000\", tsm=\"" +
                           mac_of(key, "hawk.1.ts\n1700000000\n") + "\", error=\"Stale timestamp\"";
  EXPECT_EQ(server_time(good, key).value(), 1'700'000'000);
  EXPECT_FALSE(server_time(good, Secret("other")));
  for (const char* wrong :
       {"", "hawk", "Hawk ts=\"1\"", "Hawk ts=\"1x\", tsm=\"\"", "Basic realm=\"x\""})
    EXPECT_FALSE(server_time(wrong, key)) << wrong;
}

TEST(Hawk, base64_goes_there_and_back) {
  for (const std::string text : {"", "a", "ab", "abc", "abcd"})
    EXPECT_EQ(from_base64(base64(text)).value(), text);
  for (const char* wrong : {"a", "ab=", "****", "a==="}) EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace muster::hawk
