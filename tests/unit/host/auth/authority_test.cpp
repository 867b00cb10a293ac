#include "host/auth/authority.hpp"

#include <atomic>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class AuthorityTest : public ::testing::Test {
 protected:
  // Who fails often here does so on purpose.
  static AuthoritySettings patient() {
    AuthoritySettings settings;
    settings.lockout.failures = 0;
    return settings;
  }
  FakeClock clock;
  Authority authority{clock, patient()};

  std::string refused(const http::Request& request) const {
    const auto caller = authority.authenticate(request);
    return caller ? "let in " + (*caller)->client_id : caller.error().message;
  }
  std::string let_in(const http::Request& request) const {
    const auto caller = authority.authenticate(request);
    return caller ? (*caller)->client_id : "refused: " + caller.error().message;
  }
  Signing now(std::string id = "me", std::string key = "my-key") const {
    Signing how{std::move(id), std::move(key)};
    how.ts = seconds_of(clock);
    return how;
  }
  Signing temporary(const Authority::TemporaryCredentials& credentials) const {
    Signing how = now(credentials.client_id, credentials.access_token);
    how.ext = hawk::base64("{\"certificate\":" + credentials.certificate + "}");
    return how;
  }
};

TEST_F(AuthorityTest, nobody_is_a_caller_without_a_name) {
  const auto caller = authority.authenticate(plain_request());
  ASSERT_TRUE(caller);
  EXPECT_EQ((*caller)->client_id, "");
  EXPECT_EQ((*caller)->scopes.list(), std::vector<std::string>{"assume:anonymous"});
  authority.configure({}, Roles::make({{"anonymous", {"ping"}}}).value(), {});
  EXPECT_TRUE((*authority.authenticate(plain_request()))->scopes.satisfies("ping"));
}

TEST_F(AuthorityTest, a_token_is_known_by_its_digest) {
  authority.configure({token_client("ci", "good", {"a"}), token_client("old", "gone")}, {}, {});
  for (const char* bad : {"Bearer", "Bearer ", "Bearer  ", "Bearer goo", "Bearer goodd",
                          "Bearer GOOD", "Basic good", "Bearergood", "Bearer good,other", "good"})
    EXPECT_FALSE(authority.authenticate(with_header(bad))) << bad;
  EXPECT_FALSE(authority.authenticate(with_header("Bearer " + to_hex(sha256("good")))));
  EXPECT_FALSE(authority.authenticate(with_header("Bearer " + std::string(5000, 'a'))));
  EXPECT_EQ(let_in(with_header("bearer  good")), "ci");
  authority.configure({token_client("ci", "good")}, {}, {});
  EXPECT_FALSE(authority.authenticate(with_header("Bearer gone")));
}

TEST_F(AuthorityTest, a_tokens_name_and_digest_are_no_hawk_credentials) {
  authority.configure({token_client("ci", "good", {"*"})}, {}, {});
  const Sha256 digest = sha256("good");
  const std::string key(reinterpret_cast<const char*>(digest.data()), digest.size());
  EXPECT_EQ(refused(signed_request(now("ci", key))), "Client with clientId 'ci' not found");
}

TEST_F(AuthorityTest, clients_come_in_until_they_are_disabled_expired_or_gone) {
  EXPECT_EQ(refused(signed_request(now())), "Client with clientId 'me' not found");
  Client me = hawk_client("me", "my-key", {"a"});
  me.expires = clock.now() + 1h;
  authority.put(me);
  EXPECT_EQ(let_in(signed_request(now())), "me");
  EXPECT_EQ((*authority.authenticate(signed_request(now())))->expires, *me.expires);
  clock.advance(1h + 1ms);
  EXPECT_EQ(refused(signed_request(now())), "Client with clientId: 'me' has expired");
  me.expires.reset();
  me.disabled = true;
  authority.put(me);
  EXPECT_EQ(refused(signed_request(now())), "Client with clientId 'me' is disabled");
  me.disabled = false;
  authority.put(me);
  EXPECT_EQ(let_in(signed_request(now())), "me");
  authority.remove("me");
  EXPECT_EQ(refused(signed_request(now())), "Client with clientId 'me' not found");
}

TEST_F(AuthorityTest, what_the_configuration_says_of_a_client_wins) {
  authority.put(hawk_client("me", "api-key", {"*"}));
  authority.configure({hawk_client("me", "my-key", {"a"})}, {}, {});
  EXPECT_TRUE(authority.is_configured("me"));
  EXPECT_EQ(refused(signed_request(now("me", "api-key"))), "Unauthorized: Bad mac");
  EXPECT_EQ(let_in(signed_request(now())), "me");
}

TEST_F(AuthorityTest, clocks_may_differ_by_a_quarter_of_an_hour) {
  authority.put(hawk_client("me", "my-key"));
  for (const std::int64_t skew : {-901, 901, -1'000'000, 1'000'000}) {
    Signing how = now();
    how.ts += skew;
    const auto caller = authority.authenticate(signed_request(how));
    ASSERT_FALSE(caller);
    EXPECT_EQ(caller.error().message, "Unauthorized: Stale timestamp");
    // The client learns our time, and that it is ours.
    EXPECT_EQ(hawk::server_time(Authority::challenge(caller.error()), Secret("my-key")).value(),
              seconds_of(clock));
  }
  for (const std::int64_t skew : {-900, 900}) {
    Signing how = now();
    how.ts += skew;
    EXPECT_EQ(let_in(signed_request(how)), "me");
  }
  EXPECT_EQ(Authority::challenge(Error::auth("Unauthorized: Bad mac")), "hawk");
}

TEST_F(AuthorityTest, a_signature_is_about_the_very_request) {
  authority.put(hawk_client("me", "my-key"));
  const auto good = signed_request(now(), plain_request("/a%2Fb?limit=2"));
  EXPECT_EQ(let_in(good), "me");
  const auto spoilt = [&](const auto& spoil) {
    auto request = good;
    spoil(request);
    return refused(request);
  };
  const std::string bad_mac = "Unauthorized: Bad mac";
  EXPECT_EQ(spoilt([](auto& request) { request.method = "PUT"; }), bad_mac);
  EXPECT_EQ(spoilt([](auto& request) { request.path = "/a/b"; }), bad_mac);
  EXPECT_EQ(spoilt([](auto& request) { request.query = "limit=3"; }), bad_mac);
  EXPECT_EQ(spoilt([](auto& request) { request.has_query = false; }), bad_mac);
  EXPECT_EQ(spoilt([](auto& request) { request.headers[0].value = "other.example:8600"; }),
            bad_mac);
  EXPECT_EQ(spoilt([](auto& request) { request.headers[0].value = "fleet.example"; }), bad_mac);
  for (const char* host : {"", "a b:80", "fleet.example:8600:1", "fleet.example:99999", "/x",
                           "[::1", "user@fleet.example:8600"})
    EXPECT_EQ(spoilt([&](auto& request) { request.headers[0].value = host; }),
              "Bad Request: Invalid Host header")
        << host;
  EXPECT_EQ(spoilt([](auto& request) { request.headers.erase(request.headers.begin()); }),
            "Bad Request: Invalid Host header");
  auto shouted = good;
  shouted.headers[0].value = "FLEET.example:8600";
  EXPECT_EQ(let_in(shouted), "me");
}

TEST_F(AuthorityTest, ports_that_are_not_written_follow_from_tls) {
  authority.put(hawk_client("me", "my-key"));
  auto request = plain_request();
  request.headers[0].value = "fleet.example";
  Signing how = now();
  how.port = 80;
  EXPECT_EQ(let_in(signed_request(how, request)), "me");
  request.secure = true;
  EXPECT_EQ(refused(signed_request(how, request)), "Unauthorized: Bad mac");
  how.port = 443;
  EXPECT_EQ(let_in(signed_request(how, request)), "me");
  request.headers[0].value = "[2001:db8::1]:8600";
  how.host = "[2001:db8::1]", how.port = 8600;
  EXPECT_EQ(let_in(signed_request(how, request)), "me");
}

TEST_F(AuthorityTest, only_trusted_proxies_say_where_a_request_was_sent_to) {
  authority.put(hawk_client("me", "my-key"));
  Signing how = now();
  how.port = 443;
  auto by_port = signed_request(how), by_scheme = by_port;
  by_port.headers.push_back({"X-Forwarded-Port", "443"});
  by_scheme.headers.push_back({"X-Forwarded-Proto", "https"});
  EXPECT_EQ(refused(by_port), "Unauthorized: Bad mac");
  EXPECT_EQ(refused(by_scheme), "Unauthorized: Bad mac");
  by_port.forwarded = by_scheme.forwarded = true;
  EXPECT_EQ(let_in(by_port), "me");
  EXPECT_EQ(let_in(by_scheme), "me");
  by_scheme.headers.push_back({"X-Forwarded-Port", "nonsense"});
  EXPECT_EQ(refused(by_scheme), "Unauthorized: Bad mac");
}

TEST_F(AuthorityTest, a_signed_hash_must_be_the_bodys) {
  authority.put(hawk_client("me", "my-key"));
  auto request = plain_request("/x", "PUT");
  request.body = "{\"a\":1}";
  request.headers.push_back({"Content-Type", "Application/JSON; charset=utf-8"});
  hawk::Attributes attributes{"me", std::to_string(seconds_of(clock)), "n"};
  attributes.hash = hawk::payload_hash("application/json", request.body);
  attributes.mac =
      hawk::mac_of(Secret("my-key"),
                   hawk::normalized("header", attributes, {"PUT", "/x", "fleet.example", 8600}));
  request = with_header(hawk::format_header(attributes), request);
  EXPECT_EQ(let_in(request), "me");
  request.body = "{\"a\":2}";
  EXPECT_THAT(refused(request),
              HasSubstr("Invalid payload hash: " + attributes.hash + "\nComputed payload hash: "));
}

TEST_F(AuthorityTest, issued_credentials_let_a_worker_in_and_nothing_more) {
  const auto start = clock.now() - 15min, expiry = clock.now() + 1h;
  const auto issued =
      authority.issue("worker/p/w", {"assume:worker-pool:p", "claim"}, start, expiry);
  const auto caller = authority.authenticate(signed_request(temporary(issued)));
  ASSERT_TRUE(caller) << caller.error().message;
  EXPECT_EQ((*caller)->client_id, "worker/p/w");
  EXPECT_EQ((*caller)->expires, expiry);
  EXPECT_EQ((*caller)->scopes.list(),
            (std::vector<std::string>{"assume:anonymous", "assume:worker-pool:p", "claim"}));
  auto other = temporary(issued);
  other.id = "worker/p/other";
  EXPECT_EQ(refused(signed_request(other)),
            "ext.certificate.signature is not valid, or wrong clientId provided");
  clock.advance(1h + 5min);
  EXPECT_EQ(let_in(signed_request(temporary(issued))), "worker/p/w");
  clock.advance(1ms);
  EXPECT_EQ(refused(signed_request(temporary(issued))), "ext.certificate.expiry < now");
}

TEST_F(AuthorityTest, issued_credentials_survive_a_restart_of_the_host) {
  authority.put(hawk_client(host_client_id, "the-hosts-key", {"*"}));
  const auto issued = authority.issue("worker/w", {}, clock.now(), clock.now() + 1h);
  Authority next(clock);
  EXPECT_FALSE(next.authenticate(signed_request(temporary(issued))));
  next.put(hawk_client(host_client_id, "the-hosts-key", {"*"}));
  EXPECT_TRUE(next.authenticate(signed_request(temporary(issued))));
}

TEST_F(AuthorityTest, certificates_die_with_their_issuer) {
  authority.put(hawk_client(host_client_id, "the-hosts-key", {"*"}));
  const auto issued = authority.issue("worker/w", {"a"}, clock.now(), clock.now() + 1h);
  const auto request = signed_request(temporary(issued));
  EXPECT_EQ(let_in(request), "worker/w");
  authority.put(hawk_client("somebody", "else"));  // changes nothing for others
  EXPECT_EQ(let_in(request), "worker/w");
  authority.put(hawk_client(host_client_id, "the-hosts-key", {"auth:create-client:worker/*"}));
  EXPECT_THAT(refused(request), HasSubstr("doesn't satisfy all certificate scopes a."));
  authority.remove(host_client_id);
  EXPECT_EQ(refused(request), "Client with clientId 'muster/host' not found");
}

TEST_F(AuthorityTest, a_replaced_key_counts_for_its_time) {
  authority.put(hawk_client(host_client_id, "old", {"*"}));
  const auto issued = authority.issue("worker/w", {}, clock.now(), clock.now() + 20h);
  Client rotated = hawk_client(host_client_id, "new", {"*"});
  rotated.keys.push_back({Secret("old"), clock.now() + 1h});
  authority.put(rotated);
  EXPECT_EQ(let_in(signed_request(temporary(issued))), "worker/w");
  EXPECT_EQ(let_in(signed_request(now(host_client_id, "old"))), host_client_id);
  EXPECT_EQ(let_in(signed_request(now(host_client_id, "new"))), host_client_id);
  clock.advance(1h);
  EXPECT_EQ(refused(signed_request(temporary(issued))), "Unauthorized: Bad mac");
  EXPECT_EQ(refused(signed_request(now(host_client_id, "old"))), "Unauthorized: Bad mac");
}

TEST_F(AuthorityTest, both_ways_to_sign_no_scopes_are_known) {
  authority.put(hawk_client("me", "my-key", {}));
  const auto ms = std::to_string(clock.now().time_since_epoch().count());
  const std::string seed(44, 's');
  for (const char* end : {"", "\n"}) {
    const std::string text =
        "version:1\nseed:" + seed + "\nstart:" + ms + "\nexpiry:" + ms + "\nscopes:" + end;
    Signing how = now();
    how.ext = hawk::base64(R"({"certificate":{"version":1,"scopes":[],"start":)" + ms +
                           R"(,"expiry":)" + ms + R"(,"seed":")" + seed + R"(","signature":")" +
                           hawk::mac_of(Secret("my-key"), text) + "\"}}");
    std::string key = hawk::mac_of(Secret("my-key"), seed);
    key.pop_back();
    for (char& c : key) c = c == '+' ? '-' : c == '/' ? '_' : c;
    how.key = key;
    EXPECT_EQ(let_in(signed_request(how)), "me");
  }
}

TEST_F(AuthorityTest, a_replay_is_refused_where_the_client_allows_it) {
  Client me = hawk_client("me", "my-key", {"auth:create-client:me/*"});
  authority.put(me);
  const auto first = signed_request(now());
  EXPECT_EQ(let_in(first), "me");
  EXPECT_EQ(let_in(first), "me");
  me.replay_protection = true;
  authority.put(me);
  EXPECT_EQ(let_in(first), "me");
  EXPECT_EQ(refused(first), "Unauthorized: Invalid nonce");
  auto spoilt = first;
  spoilt.path = "/y";
  EXPECT_EQ(refused(spoilt), "Unauthorized: Bad mac");
  Signing second = now();
  second.nonce = "n2";
  EXPECT_EQ(let_in(signed_request(second)), "me");
  clock.advance(1s);
  EXPECT_EQ(let_in(signed_request(now())), "me");  // the same nonce in another second
  clock.advance(16min);
  EXPECT_EQ(refused(first), "Unauthorized: Stale timestamp");
}

TEST_F(AuthorityTest, a_restart_lets_no_replay_in_and_refuses_no_new_request) {
  testing::TemporaryFolder folder;
  Client me = hawk_client("me", "my-key");
  me.replay_protection = true;
  // Clocks that are right, behind and ahead.
  for (const std::int64_t skew : {0, -30, 30}) {
    const auto file = folder / ("seen" + std::to_string(skew));
    const auto at_skew = [&] {
      Signing how = now();
      how.ts += skew;
      return signed_request(how);
    };
    std::vector<http::Request> sent;
    for (int start = 0; start < 3; ++start) {
      Authority host(clock);
      host.put(me);
      ASSERT_TRUE(host.keep_seen_times(file));
      for (const auto& request : sent) {
        const auto again = host.authenticate(request);
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().message, "Unauthorized: Stale timestamp");
      }
      // Of the very first start it is not known what was there before.
      if (start == 0) clock.advance(31s);
      for (int i = 0; i < 2; ++i) {
        clock.advance(1s);
        sent.push_back(at_skew());
        EXPECT_TRUE(host.authenticate(sent.back())) << skew << " " << start;
      }
      clock.advance(1s);
    }
  }
}

TEST_F(AuthorityTest, without_what_was_seen_nothing_from_before_the_start_is_taken) {
  testing::TemporaryFolder folder;
  Client me = hawk_client("me", "my-key");
  me.replay_protection = true;
  const auto before = signed_request(now());
  std::ofstream(folder / "spoilt") << "not what it was";
  for (const char* file : {"none/none", "spoilt", "new"}) {
    Authority host(clock);
    host.put(me);
    EXPECT_EQ(host.keep_seen_times(folder / file).has_value(), std::string(file) != "none/none");
    EXPECT_FALSE(host.authenticate(before)) << file;
    clock.advance(1s);
    EXPECT_TRUE(host.authenticate(signed_request(now()))) << file;
  }
}

TEST_F(AuthorityTest, forgetting_nonces_lets_no_replay_in) {
  AuthoritySettings settings;
  settings.most_nonces_per_client = 10;
  authority.configure({}, {}, settings);
  Client me = hawk_client("me", "my-key");
  me.replay_protection = true;
  authority.put(me);
  std::vector<http::Request> sent;
  for (int i = 0; i < 40; ++i) {
    sent.push_back(signed_request(now()));
    ASSERT_EQ(let_in(sent.back()), "me") << i;
    clock.advance(1s);
  }
  for (const auto& request : sent) EXPECT_FALSE(authority.authenticate(request));
}

TEST_F(AuthorityTest, a_bewit_is_for_reading_and_for_a_time) {
  authority.put(hawk_client("me", "my-key"));
  const auto bewit = [&](const std::string& resource, std::int64_t expiry,
                         const std::string& key = "my-key") {
    hawk::Attributes attributes;
    attributes.ts = std::to_string(expiry);
    const std::string mac = hawk::mac_of(
        Secret(key),
        hawk::normalized("bewit", attributes, {"GET", resource, "fleet.example", 8600}));
    std::string text = hawk::base64("me\\" + attributes.ts + "\\" + mac + "\\");
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
  };
  const std::int64_t later = seconds_of(clock) + 60;
  const std::string good = bewit("/x", later), with_query = bewit("/x?a=b&c=d", later);
  EXPECT_EQ(let_in(plain_request("/x?bewit=" + good)), "me");
  EXPECT_EQ(let_in(plain_request("/x?bewit=" + good, "HEAD")), "me");
  EXPECT_EQ(let_in(plain_request("/x?a=b&c=d&bewit=" + with_query)), "me");
  EXPECT_EQ(let_in(plain_request("/x?bewit=" + with_query + "&a=b&c=d")), "me");
  EXPECT_EQ(refused(plain_request("/x?bewit=" + good, "PUT")), "Unauthorized: Invalid method");
  EXPECT_EQ(refused(plain_request("/y?bewit=" + good)), "Unauthorized: Bad mac");
  EXPECT_EQ(refused(plain_request("/x?bewit=" + bewit("/x", later, "k"))), "Unauthorized: Bad mac");
  EXPECT_EQ(refused(plain_request("/x?bewit=")), "Unauthorized: Empty bewit");
  EXPECT_EQ(refused(plain_request("/x?bewit=" + good + "&")), "Unauthorized");
  EXPECT_EQ(refused(plain_request("/x?bewit=$" + good)), "Unauthorized");
  EXPECT_EQ(refused(plain_request("/x?bewit=" + good + "=")),
            "Bad Request: Invalid bewit encoding");
  EXPECT_EQ(refused(plain_request("/x?bewit=YQ")), "Bad Request: Invalid bewit structure");
  EXPECT_EQ(refused(plain_request("/x?bewit=XFxc")), "Bad Request: Missing bewit attributes");
  EXPECT_EQ(refused(with_header("Bearer x", plain_request("/x?bewit=" + good))),
            "Cannot use two authentication schemes at once this request has both bewit in "
            "querystring and 'authorization' header");
  clock.advance(60s);
  EXPECT_EQ(refused(plain_request("/x?bewit=" + good)), "Unauthorized: Access expired");
}

TEST_F(AuthorityTest, many_threads_ask_while_clients_come_and_go) {
  authority.put(hawk_client("me", "my-key", {"a"}));
  const auto issued = authority.issue("worker/w", {"a"}, clock.now(), clock.now() + 1h);
  const auto mine = signed_request(now());
  const auto worker = signed_request(temporary(issued));
  std::atomic<int> let_in_count = 0, surprises = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        if (authority.authenticate(mine)) ++let_in_count;
        if (!authority.authenticate(worker)) ++surprises;
      }
    });
  threads.emplace_back([&] {
    for (int round = 0; round < 50; ++round) {
      authority.remove("me");
      authority.configure({}, Roles::make({{"anonymous", {"x"}}}).value(), patient());
      authority.put(hawk_client("me", "my-key", {"a"}));
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(surprises, 0);
  EXPECT_EQ(let_in(mine), "me");
}

}  // namespace
}  // namespace muster::auth
