// What strangers may put into a header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;

class HostileTest : public ::testing::Test {
 protected:
  HostileTest() { authority.put(hawk_client("me", "my-key", {"a:*", "auth:create-client:t/*"})); }

  static AuthoritySettings patient() {
    AuthoritySettings settings;
    settings.lockout.failures = 0;
    return settings;
  }
  std::string refused(const http::Request& request) const {
    const auto caller = authority.authenticate(request);
    return caller ? "let in " + (*caller)->client_id : caller.error().message;
  }
  std::string header(const std::string& value) const { return refused(with_header(value)); }
  std::string with_ext(const std::string& ext, const std::string& id = "me") const {
    Signing how{id, "my-key", ext};
    how.ts = seconds_of(clock);
    return refused(signed_request(how));
  }
  std::string with_document(const std::string& json, const std::string& id = "me") const {
    return with_ext(hawk::base64(json), id);
  }
  // A certificate that is right but for its signature, with some of it replaced.
  std::string certificate(const json::object& changes, const std::string& id = "me") const {
    const auto now = clock.now().time_since_epoch().count();
    json::object fields{{"version", 1},         {"scopes", json::array{"a:1"}},
                        {"start", now},         {"expiry", now + 1000},
                        {"signature", "wrong"}, {"seed", std::string(44, 's')}};
    for (const auto& [key, value] : changes)
      if (value.is_null())
        fields.erase(key);
      else
        fields[key] = value;
    return with_document(json::write(json::object{{"certificate", fields}}), id);
  }
  FakeClock clock;
  Authority authority{clock, patient()};
};

TEST_F(HostileTest, headers_that_are_none) {
  const std::string format = "Bad Request: Bad header format";
  EXPECT_EQ(header("Basic abc"), "Unauthorized");
  EXPECT_EQ(header("Hawk"), "Unauthorized");
  EXPECT_EQ(header("Hawk "), "Bad Request: Missing attributes");
  EXPECT_EQ(header("Hawk id"), format);
  EXPECT_EQ(header("Hawk id=me"), format);
  EXPECT_EQ(header("Hawk id=\"me"), format);
  EXPECT_EQ(header("Hawk id=\"me\","), format);
  EXPECT_EQ(header("Hawk id=\"me\" ts=\"1\""), format);
  EXPECT_EQ(header("Hawk id=\"me\""), "Bad Request: Missing attributes");
  EXPECT_EQ(header("Hawk id=\"me\", id=\"you\""), "Bad Request: Duplicate attribute: id");
  EXPECT_EQ(header("Hawk id=\"\", id=\"you\""), "Bad Request: Bad attribute value: id");
  EXPECT_EQ(header("Hawk what=\"me\""), "Bad Request: Unknown attribute: what");
  EXPECT_EQ(header("Hawk id=\"m\\e\""), "Bad Request: Bad attribute value: id");
  EXPECT_EQ(header("Hawk id=\"m\xc3\xa4\""), "Bad Request: Bad attribute value: id");
  EXPECT_EQ(header("Hawk id=\"me\", ext=\"" + std::string(20'000, 'A') + "\""),
            "Bad Request: Header length too long");
  EXPECT_EQ(header(std::string(100'000, ',')), "Bad Request: Header length too long");
}

TEST_F(HostileTest, times_that_are_none) {
  for (const char* ts : {"x", "-1", "1e9", "99999999999999999999", "0x10", " 1", "1.5"}) {
    hawk::Attributes attributes{"me", ts, "n"};
    attributes.mac =
        hawk::mac_of(Secret("my-key"),
                     hawk::normalized("header", attributes, {"GET", "/x", "fleet.example", 8600}));
    EXPECT_EQ(header(hawk::format_header(attributes)), "Unauthorized: Stale timestamp") << ts;
  }
}

TEST_F(HostileTest, ext_that_is_no_document) {
  const std::string failed = "Failed to parse ext";
  for (const char* bad : {"!", "A", "AAAA", "====", "e30==A", "e3 0="})
    EXPECT_EQ(with_ext(bad), failed);
  for (const char* bad : {"", "{", "[]", "null", "1", "\"x\"", "{\"a\":1,\"a\":2}", "{}x", "NaN",
                          "{\"certificate\":{\"start\":NaN}}", "\xff"})
    EXPECT_EQ(with_document(bad), *bad ? failed : "let in me") << bad;
  EXPECT_EQ(with_document(std::string(2000, '[')), failed);
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "{\"a\":";
  EXPECT_EQ(with_document(deep), failed);
  // With another alphabet and without its end, as some clients write it.
  EXPECT_EQ(with_ext("e30"), "let in me");
}

TEST_F(HostileTest, nothing_in_the_place_of_something) {
  for (const char* nothing : {"null", "false", "0", "\"\""}) {
    EXPECT_EQ(with_document(std::string("{\"certificate\":") + nothing + "}"), "let in me");
    EXPECT_EQ(with_document(std::string("{\"authorizedScopes\":") + nothing + "}"), "let in me");
  }
  EXPECT_EQ(with_document("{\"authorizedScopes\":[]}"), "let in me");
}

TEST_F(HostileTest, authorized_scopes_of_a_wrong_type) {
  EXPECT_EQ(with_document("{\"authorizedScopes\":\"a\"}"), "ext.authorizedScopes must be an array");
  for (const char* bad : {"[1]", "[null]", "[\"\\n\"]", "[[\"a\"]]", "[\"\\u00e4\"]"})
    EXPECT_EQ(with_document(std::string("{\"authorizedScopes\":") + bad + "}"),
              "ext.authorizedScopes must be an array of valid scopes");
}

TEST_F(HostileTest, certificates_of_wrong_types) {
  EXPECT_EQ(with_document("{\"certificate\":1}"), "ext.certificate must be a JSON object");
  EXPECT_EQ(with_document("{\"certificate\":true}"), "ext.certificate must be a JSON object");
  EXPECT_EQ(with_document("{\"certificate\":\"x\"}"), "ext.certificate must be a JSON object");
  EXPECT_EQ(with_document("{\"certificate\":[]}"), "ext.certificate.version must be 1");
  for (const json::value& bad :
       {json::value("1"), json::value(2), json::value(nullptr), json::value(true)})
    EXPECT_EQ(certificate({{"version", bad}}), "ext.certificate.version must be 1");
  EXPECT_EQ(certificate({{"seed", 1}}), "ext.certificate.seed must be a string");
  EXPECT_EQ(certificate({{"seed", nullptr}}), "ext.certificate.seed must be a string");
  EXPECT_EQ(certificate({{"seed", "short"}}), "ext.certificate.seed must be 44 characters");
  EXPECT_EQ(certificate({{"start", "1"}}), "ext.certificate.start must be a number");
  EXPECT_EQ(certificate({{"start", json::array()}}), "ext.certificate.start must be a number");
  EXPECT_EQ(certificate({{"expiry", nullptr}}), "ext.certificate.expiry must be a number");
  EXPECT_EQ(certificate({{"scopes", "a"}}), "ext.certificate.scopes must be an array");
  EXPECT_EQ(certificate({{"scopes", json::array{1}}}),
            "ext.certificate.scopes must be an array of valid scopes");
  EXPECT_EQ(certificate({{"issuer", 5}}), "ext.certificate.issuer must be a string");
  EXPECT_EQ(certificate({{"issuer", json::object()}}), "ext.certificate.issuer must be a string");
  EXPECT_EQ(certificate({{"issuer", "me"}}),
            "ext.certificate.issuer must differ from the supplied clientId");
  EXPECT_EQ(certificate({{"issuer", "nobody"}}), "Client with clientId 'nobody' not found");
  EXPECT_EQ(certificate({{"clientId", "t/1"}}),
            "ext.certificate.clientId must only be used with ext.certificate.issuer");
  for (const json::value& bad : {json::value(), json::value(1), json::value(""), json::value("x")})
    EXPECT_EQ(certificate({{"signature", bad}}), "ext.certificate.signature is not valid");
  EXPECT_EQ(certificate({{"issuer", "me"}}, "t/1"),
            "ext.certificate.signature is not valid, or wrong clientId provided");
  EXPECT_EQ(certificate({{"issuer", "me"}}, "u/1"),
            "ext.certificate.signature is not valid, or wrong clientId provided");
  for (const char* bad : {"t/bad id", "t/*", "bad id*"})
    EXPECT_EQ(certificate({{"issuer", "me"}}, bad),
              "the clientId of temporary credentials has 1 to 1024 letters, digits and !@/:.+|_-");
}

// A stranger who knows a client's name learns nothing about it.
TEST_F(HostileTest, nothing_is_told_before_the_signature_was_checked) {
  Client away = hawk_client("away", "my-key", {"secret:scope"});
  away.disabled = true;
  Client late = hawk_client("late", "my-key", {"secret:scope"});
  late.expires = clock.now() - 1h;
  authority.put(away);
  authority.put(late);
  for (const char* id : {"me", "away", "late"})
    for (const char* document : {"{\"authorizedScopes\":[\"b\"]}", "{}"}) {
      Signing how{id, "wrong", hawk::base64(document)};
      how.ts = seconds_of(clock);
      EXPECT_EQ(refused(signed_request(how)), "Unauthorized: Bad mac") << id << document;
      how.ext.clear();
      EXPECT_EQ(refused(signed_request(how)), "Unauthorized: Bad mac") << id;
    }
  // Those who have the key learn what to do.
  EXPECT_THAT(with_document("{\"authorizedScopes\":[\"b\"]}"), ::testing::HasSubstr("a:*"));
  EXPECT_THAT(with_document("{}", "away"), ::testing::HasSubstr("is disabled"));
}

TEST_F(HostileTest, certificates_of_strange_times) {
  EXPECT_EQ(certificate({{"start", 1e300}}), "ext.certificate.start > now");
  EXPECT_EQ(certificate({{"expiry", -1e300}}), "ext.certificate.expiry < now");
  EXPECT_EQ(certificate({{"start", -1e300}}), "ext.certificate cannot last longer than 31 days!");
  EXPECT_EQ(certificate({{"expiry", 1e300}}), "ext.certificate cannot last longer than 31 days!");
  EXPECT_EQ(certificate({{"expiry", std::int64_t{9'223'372'036'854'775'807}}}),
            "ext.certificate cannot last longer than 31 days!");
  EXPECT_EQ(certificate({{"expiry", 0}}), "ext.certificate.expiry < now");
}

TEST_F(HostileTest, as_many_scopes_as_fit) {
  json::array many;
  for (int i = 0; i < 10'000; ++i) many.emplace_back("a:" + std::to_string(i));
  const std::string document = json::write(json::object{{"authorizedScopes", many}});
  EXPECT_EQ(with_document(document), "Bad Request: Header length too long");
  many.resize(1000);
  EXPECT_EQ(with_document(json::write(json::object{{"authorizedScopes", many}})), "let in me");
  // A client with as many is served as fast as any.
  std::vector<std::string> scopes;
  for (int i = 0; i < 10'000; ++i) scopes.push_back("b:" + std::to_string(i));
  authority.put(hawk_client("rich", "my-key", scopes));
  EXPECT_EQ(with_document("{\"authorizedScopes\":[\"b:9999\"]}", "rich"), "let in rich");
}

}  // namespace
}  // namespace muster::auth
