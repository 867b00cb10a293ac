// Sessions of the dashboard, and how somebody would try to get one that is not his.
#include "host/auth/sessions.hpp"

#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"
#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() { configure(); }

  void configure(bool disabled = false, const std::string& secret = "the reader's token") {
    Client reader = token_client("reader", secret, {"muster:get:*"});
    reader.disabled = disabled;
    Client signer{"team/signer", ClientKind::hawk, {{Secret("an access token")}}, {"muster:a"}};
    authority.configure({reader, signer}, {}, {});
  }
  static http::Request from_page(const std::string& method = "GET",
                                 const std::string& path = "/api/muster/v1/pools") {
    http::Request request = plain_request(path, method);
    request.peer = "192.0.2.7:4000";
    return request;
  }
  // "name=value" of the header Set-Cookie.
  static std::string cookie_of(const Authority::OpenedSession& opened) {
    return opened.set_cookie.substr(0, opened.set_cookie.find(';'));
  }
  Authority::OpenedSession log_in(const http::Request& request = from_page("POST")) {
    auto opened = authority.open_session(request, {"the reader's token", "", Secret("")});
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : Authority::OpenedSession{};
  }
  static http::Request with_cookie(const std::string& cookie, http::Request request = from_page()) {
    request.headers.push_back({"Cookie", cookie});
    return request;
  }
  // Whose request it is; "refused" if it is not let in.
  std::string who(const http::Request& request) {
    const auto caller = authority.authenticate(request);
    return caller ? (*caller)->client_id : "refused";
  }

  FakeClock clock;
  Authority authority{clock};
};

TEST_F(SessionTest, of_a_client_that_was_disabled_does_not_come_back_with_it) {
  Client guest = token_client("guest", "the guest's token", {"muster:get:*"});
  authority.put(guest);
  auto opened = authority.open_session(from_page("POST"), {"the guest's token", "", Secret("")});
  ASSERT_TRUE(opened);
  const std::string cookie = cookie_of(*opened);
  ASSERT_EQ(who(with_cookie(cookie)), "guest");
  guest.disabled = true;
  authority.put(guest);
  guest.disabled = false;
  authority.put(guest);
  EXPECT_NE(who(with_cookie(cookie)), "guest");
}

TEST_F(SessionTest, a_wrong_secret_opens_none) {
  for (const Authority::Login& login :
       {Authority::Login{"wrong", "", Secret("")}, Authority::Login{"", "", Secret("")},
        Authority::Login{"", "team/signer", Secret("wrong")},
        Authority::Login{"", "nobody", Secret("an access token")},
        Authority::Login{"", "reader", Secret("the reader's token")}})
    EXPECT_FALSE(authority.open_session(from_page("POST"), login));
}

TEST_F(SessionTest, guesses_are_counted_as_those_of_tokens_are) {
  for (int i = 0; i < 20; ++i)
    EXPECT_FALSE(authority.open_session(from_page("POST"), {"wrong", "", Secret("")}));
  const auto locked =
      authority.open_session(from_page("POST"), {"the reader's token", "", Secret("")});
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().error_class, ErrorClass::throttle);
}

TEST_F(SessionTest, a_cookie_stands_for_its_client_and_its_scopes_alone) {
  const std::string cookie = cookie_of(log_in());
  EXPECT_EQ(who(with_cookie(cookie)), "reader");
  const auto caller = authority.authenticate(with_cookie(cookie));
  EXPECT_TRUE((*caller)->scopes.satisfies("muster:get:pools"));
  EXPECT_FALSE((*caller)->scopes.satisfies("muster:backup"));
  const auto signer =
      authority.open_session(from_page("POST"), {"", "team/signer", Secret("an access token")});
  ASSERT_TRUE(signer);
  EXPECT_EQ(who(with_cookie(cookie_of(*signer))), "team/signer");
}

TEST_F(SessionTest, scripts_and_other_sites_do_not_see_it) {
  const std::string plain = log_in().set_cookie;
  EXPECT_NE(plain.find("; HttpOnly; SameSite=Strict"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("Secure"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("Domain"), std::string::npos) << plain;
  http::Request secure = from_page("POST");
  secure.secure = true;
  const std::string by_tls = log_in(secure).set_cookie;
  EXPECT_TRUE(by_tls.starts_with("__Host-")) << by_tls;
  EXPECT_TRUE(by_tls.ends_with("; Secure")) << by_tls;
  http::Request proxied = from_page("POST");
  proxied.headers.push_back({"X-Forwarded-Proto", "https"});
  EXPECT_FALSE(log_in(proxied).set_cookie.starts_with("__Host-")) << "nobody trusts this sender";
  proxied.forwarded = true;
  EXPECT_TRUE(log_in(proxied).set_cookie.starts_with("__Host-"));
}

TEST_F(SessionTest, a_change_needs_the_token_that_only_the_page_knows) {
  const auto opened = log_in();
  const auto change = [&](const std::string& token, const std::string& site) {
    http::Request request = with_cookie(cookie_of(opened), from_page("POST"));
    if (!token.empty()) request.headers.push_back({"X-Muster-Csrf", token});
    if (!site.empty()) request.headers.push_back({"Sec-Fetch-Site", site});
    return who(request);
  };
  EXPECT_EQ(change("", ""), "refused");
  EXPECT_EQ(change("1", ""), "refused");
  EXPECT_EQ(change(opened.csrf_token, "cross-site"), "refused");
  EXPECT_EQ(change(opened.csrf_token, "same-site"), "refused") << "another port of this host";
  EXPECT_EQ(change(log_in().csrf_token, "same-origin"), "refused") << "of another session";
  EXPECT_EQ(change(opened.csrf_token, "same-origin"), "reader");
  EXPECT_EQ(change(opened.csrf_token, ""), "reader");
  for (const char* method : {"PUT", "DELETE", "PATCH", "get"})
    EXPECT_EQ(who(with_cookie(cookie_of(opened), from_page(method))), "refused") << method;
}

TEST_F(SessionTest, it_is_for_musters_own_api_alone) {
  const std::string cookie = cookie_of(log_in());
  for (const char* path : {"/metrics", "/api/worker-manager/v1/ping", "/api/auth/v1/scopes/current",
                           "/api/musterd/v1/pools", "/"})
    EXPECT_EQ(who(with_cookie(cookie, from_page("GET", path))), "") << path;
}

TEST_F(SessionTest, a_session_that_was_closed_or_is_over_is_refused) {
  const std::string cookie = cookie_of(log_in());
  authority.close_session(with_cookie(cookie));
  EXPECT_EQ(who(with_cookie(cookie)), "refused");
  const std::string another = cookie_of(log_in());
  clock.advance(Sessions::lifetime - 1s);
  EXPECT_EQ(who(with_cookie(another)), "reader");
  clock.advance(1s);
  EXPECT_EQ(who(with_cookie(another)), "refused");
}

TEST_F(SessionTest, it_ends_with_its_client_and_with_the_secret) {
  const std::string cookie = cookie_of(log_in());
  configure(true);
  EXPECT_EQ(who(with_cookie(cookie)), "refused");
  configure();
  EXPECT_EQ(who(with_cookie(cookie)), "reader");
  configure(false, "another token");
  EXPECT_EQ(who(with_cookie(cookie)), "refused");
  authority.configure({}, {}, {});
  EXPECT_EQ(who(with_cookie(cookie)), "refused");
}

TEST_F(SessionTest, nobody_can_fix_the_session_of_another) {
  const std::string name = cookie_of(log_in()).substr(0, cookie_of(log_in()).find('='));
  const std::string planted = name + "=" + std::string(43, 'a');
  EXPECT_EQ(who(with_cookie(planted)), "refused");
  const std::string fresh = cookie_of(log_in(with_cookie(planted, from_page("POST"))));
  EXPECT_NE(fresh, planted);
  EXPECT_EQ(who(with_cookie(planted)), "refused");
  // A second cookie, from another port of this host, does not decide who somebody is.
  const std::string of_attacker = cookie_of(log_in());
  EXPECT_EQ(who(with_cookie(of_attacker + "; " + fresh)), "refused");
}

TEST_F(SessionTest, a_log_in_ends_the_session_before) {
  const std::string before = cookie_of(log_in());
  log_in(with_cookie(before, from_page("POST")));
  EXPECT_EQ(who(with_cookie(before)), "refused");
}

TEST_F(SessionTest, credentials_of_a_request_win_over_its_cookie) {
  const std::string cookie = cookie_of(log_in());
  EXPECT_EQ(who(with_header("Bearer wrong", with_cookie(cookie))), "refused");
}

TEST(Sessions, hostile_cookies_are_no_sessions) {
  EXPECT_EQ(find_cookie("", "s").count, 0U);
  EXPECT_EQ(find_cookie("xs=1; sx=2; s", "s").count, 0U);
  EXPECT_EQ(find_cookie("a=b;s=1", "s").value, "1");
  EXPECT_EQ(find_cookie("  s=1=2;;;", "s").value, "1=2");
  EXPECT_EQ(find_cookie("s=1; s=1", "s").count, 2U);
  EXPECT_EQ(find_cookie(std::string(100'000, ';'), "s").count, 0U);
  EXPECT_FALSE(Sessions().find(std::string(10'000, 'x'), Time{}));
}

TEST(Sessions, are_bounded_for_each_client) {
  Sessions sessions;
  const Time now{1'000'000'000s};
  const std::string first = sessions.open({ClientKind::token, "a", {}}, now);
  const std::string other = sessions.open({ClientKind::token, "b", {}}, now);
  for (std::size_t i = 0; i < Sessions::most_of_client; ++i)
    sessions.open({ClientKind::token, "a", {}}, now + 1s);
  EXPECT_FALSE(sessions.find(first, now + 1s));
  EXPECT_TRUE(sessions.find(other, now + 1s));
}

TEST(Sessions, outlive_a_restart_and_a_takeover_and_a_log_out_does_too) {
  store::MemoryStore store;
  const auto submit = [&](store::Batch batch, const std::function<void()>& durable) {
    EXPECT_TRUE(store.commit(batch));
    if (durable) durable();
    return true;
  };
  const Time now{1'000'000'000s};
  Sessions before;
  ASSERT_TRUE(before.keep(store, submit, "host", now));
  const std::string stays = before.open({ClientKind::hawk, "a", sha256("k")}, now);
  const std::string gone = before.open({ClientKind::hawk, "a", sha256("k")}, now);
  const std::string disabled = before.open({ClientKind::token, "b", sha256("k")}, now);
  before.close(gone);
  before.close_all_of(ClientKind::token, "b");
  Sessions after;
  ASSERT_TRUE(after.keep(store, submit, "host", now + 1s));
  EXPECT_EQ(after.name(), before.name());
  const auto found = after.find(stays, now + 1s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->owner.client_id, "a");
  EXPECT_EQ(found->owner.key, sha256("k"));
  EXPECT_FALSE(after.find(gone, now + 1s));
  EXPECT_FALSE(after.find(disabled, now + 1s));
  std::size_t rows = 0;
  ASSERT_TRUE(store::read_rows<SessionRow>(store, [&](const SessionRow& row) {
    ++rows;
    EXPECT_EQ(row.digest.find(stays), std::string::npos) << "who reads the rows must not get in";
  }));
  EXPECT_EQ(rows, 1U);
  Sessions late;
  ASSERT_TRUE(late.keep(store, submit, "another", now + Sessions::lifetime + 1s));
  EXPECT_NE(late.name(), before.name()) << "browsers send cookies to all ports of a machine";
  rows = 0;
  ASSERT_TRUE(store::read_rows<SessionRow>(store, [&](const SessionRow&) { ++rows; }));
  EXPECT_EQ(rows, 0U) << "what has expired is erased";
}

TEST(Sessions, a_disk_that_does_not_answer_keeps_nobody_in) {
  store::MemoryStore store;
  Sessions sessions;
  ASSERT_TRUE(sessions.keep(
      store, [](const store::Batch&, const std::function<void()>&) { return false; }, "host", {}));
  const std::string cookie = sessions.open({ClientKind::hawk, "a", {}}, Time{});
  EXPECT_TRUE(sessions.find(cookie, Time{}));
  sessions.close(cookie);
  EXPECT_FALSE(sessions.find(cookie, Time{}));
}

TEST_F(SessionTest, two_headers_with_cookies_are_as_bad_as_one_with_two) {
  const std::string cookie = cookie_of(log_in());
  http::Request twice = with_cookie(cookie);
  twice.headers.push_back({"cookie", cookie});
  EXPECT_EQ(who(twice), "refused");
  http::Request other = with_cookie("theme=dark");
  other.headers.push_back({"cookie", cookie});
  EXPECT_EQ(who(other), "reader");
}

TEST_F(SessionTest, a_stream_goes_on_only_for_as_long_as_its_client_may) {
  const http::Request by_cookie = with_cookie(cookie_of(log_in()));
  const http::Request by_token = with_header("Bearer the reader's token", from_page());
  const http::Request by_nobody = from_page();
  for (const http::Request& request : {by_cookie, by_token}) {
    const auto caller = authority.authenticate_again(request);
    ASSERT_TRUE(caller);
    EXPECT_TRUE((*caller)->scopes.satisfies("muster:get:events"));
  }
  authority.configure({token_client("reader", "the reader's token", {"muster:other"})}, {}, {});
  for (const http::Request& request : {by_cookie, by_token}) {
    const auto caller = authority.authenticate_again(request);
    ASSERT_TRUE(caller);
    EXPECT_FALSE((*caller)->scopes.satisfies("muster:get:events"));
  }
  configure(true);
  for (int i = 0; i < 100; ++i) {  // no guesses, so nobody is locked out
    EXPECT_FALSE(authority.authenticate_again(by_cookie));
    EXPECT_FALSE(authority.authenticate_again(by_token));
  }
  configure(false, "another token");
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(authority.authenticate_again(by_token));
  EXPECT_TRUE(authority.authenticate_again(by_nobody));
  configure();
  EXPECT_EQ(who(by_token), "reader");
}

}  // namespace
}  // namespace muster::auth
