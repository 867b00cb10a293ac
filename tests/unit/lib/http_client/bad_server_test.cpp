// Servers that are not there, lie, break off or never end.
#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "lib/http_client/client.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/scripted_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::http_client {
namespace {

using namespace std::chrono_literals;
using testing::PythonService;
using testing::ScriptedServer;
using Kind = Failure::Kind;
using std::chrono::steady_clock;

const std::string nasty_script = MUSTER_SOURCE "/tests/support/nasty_service.py";

// The kind of the failure; fails the test if there was an answer.
Kind failure_of(Request request, Settings settings = {}, const Cancellation& cancellation = {}) {
  const Answer answer = Client(std::move(settings)).send(std::move(request), cancellation);
  if (answer) throw std::runtime_error("it answered " + std::to_string(answer->status));
  return answer.error().kind;
}

Kind failure_with(const std::string& raw_answer) {
  const ScriptedServer server([&](const std::string&) { return raw_answer; });
  return failure_of({.url = server.url()});
}

TEST(BadServer, nobody_listens) {
  EXPECT_EQ(failure_of({.url = "http://127.0.0.1:1/"}), Kind::no_connection);
  EXPECT_EQ(failure_of({.url = "http://no-such-host.invalid/"}), Kind::name_unknown);
}

TEST(BadServer, answers_that_are_cut_off_or_never_begin) {
  EXPECT_EQ(failure_with(""), Kind::no_answer);
  EXPECT_EQ(failure_with("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), Kind::cut_off);
  EXPECT_EQ(failure_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
            Kind::cut_off);
}

TEST(BadServer, garbage_is_not_http) {
  EXPECT_EQ(failure_with("\x16\x03\x01 SSH-2.0\r\n\r\n"), Kind::not_http);
  EXPECT_EQ(failure_with("HTTP/1.1 OK\r\n\r\n"), Kind::not_http);
  EXPECT_EQ(failure_with("HTTP/9.9 200 OK\r\n\r\n"), Kind::not_http);
  EXPECT_EQ(failure_with("200 OK\r\n\r\n"), Kind::not_http);
}

TEST(BadServer, a_chunk_without_a_size_is_no_answer) {
  const ScriptedServer server([&](const std::string&) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc";
  });
  EXPECT_FALSE(Client({}).send({.url = server.url()}));
}

TEST(BadServer, answers_are_limited_whether_or_not_they_say_their_length) {
  const Settings small{.max_body_bytes = 1000};
  for (const std::string& head :
       {std::string("Content-Length: 1001\r\n"), std::string("Connection: close\r\n")}) {
    const ScriptedServer server([&](const std::string&) {
      return "HTTP/1.1 200 OK\r\n" + head + "\r\n" + std::string(1001, 'x');
    });
    const Answer answer = Client(small).send({.url = server.url()});
    ASSERT_FALSE(answer) << head;
    EXPECT_EQ(answer.error().kind, Kind::too_large) << head;
    EXPECT_EQ(answer.error().message, "sent more than 1000 bytes");
    EXPECT_EQ(answer.error().status, 200);
  }
  const ScriptedServer exact(
      [&](const std::string&) { return ScriptedServer::ok(std::string(1000, 'x')); });
  EXPECT_EQ(Client(small).send({.url = exact.url()})->body.size(), 1000u);
  std::string headers;
  for (int i = 0; i < 100; ++i)
    headers += "X-" + std::to_string(i) + ": " + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(failure_with("HTTP/1.1 200 OK\r\n" + headers + "\r\n"), Kind::too_large);
}

TEST(BadServer, a_body_that_nobody_wants_may_be_of_any_size) {
  const ScriptedServer server(
      [&](const std::string&) { return ScriptedServer::ok(std::string(5000, 'x')); });
  const Answer answer =
      Client({.max_body_bytes = 10}).send({.url = server.url(), .discard_body = true});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "");
}

TEST(BadServer, silence_and_a_slow_drip_end_with_the_timeout) {
  const ScriptedServer silent([](const std::string&) { return ScriptedServer::hold; });
  EXPECT_EQ(failure_of({.url = silent.url()}, {.timeout = 100ms}), Kind::timed_out);
  EXPECT_EQ(failure_of({.url = silent.url(), .timeout = 100ms}), Kind::timed_out);
  const PythonService nasty(nasty_script);
  EXPECT_EQ(failure_of({.url = nasty.url() + "/drip/x", .timeout = 200ms}), Kind::timed_out);
}

TEST(BadServer, a_stream_that_falls_silent_ends) {
  const ScriptedServer silent([](const std::string&) { return ScriptedServer::hold; });
  EXPECT_EQ(failure_of({.url = silent.url(), .on_body = [](std::string_view) {}, .silence = 1s}),
            Kind::timed_out);
}

TEST(BadServer, a_deadline_of_the_context_is_shorter_than_the_timeout) {
  const ScriptedServer silent([](const std::string&) { return ScriptedServer::hold; });
  testing::FakeContext context;
  context.set_time_left(100ms);
  EXPECT_EQ(failure_of({.url = silent.url()}, {}, context), Kind::timed_out);
}

TEST(BadServer, whoever_cancels_waits_no_longer) {
  std::atomic<bool> stop = false;
  const ScriptedServer silent([&](const std::string&) {
    stop = true;
    return ScriptedServer::hold;
  });
  const auto begin = steady_clock::now();
  EXPECT_EQ(failure_of({.url = silent.url()}, {.timeout = 60s}, stop), Kind::cancelled);
  EXPECT_LT(steady_clock::now() - begin, 30s);
  EXPECT_EQ(silent.requests().size(), 1u);
  EXPECT_EQ(failure_of({.url = silent.url()}, {}, stop), Kind::cancelled);
  EXPECT_EQ(silent.requests().size(), 1u) << "a call that is cancelled already sends nothing";
}

TEST(BadServer, a_redirect_is_an_answer_and_is_not_followed) {
  const ScriptedServer elsewhere([](const std::string&) { return ScriptedServer::ok("secret"); });
  const ScriptedServer server([&](const std::string&) {
    return ScriptedServer::with_status("302 Found", "", "Location: " + elsewhere.url() + "/\r\n");
  });
  const Answer answer =
      Client({}).send({.url = server.url(), .authorization = BearerToken{Secret("my-token")}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 302);
  EXPECT_TRUE(elsewhere.requests().empty());
}

class BadCertificate : public ::testing::Test {
 protected:
  Settings trusting(const std::string& file) const {
    return {.timeout = 10s, .ca_file = (folder / file).string()};
  }
  testing::TemporaryFolder folder;
};

TEST_F(BadCertificate, of_another_name_or_of_a_stranger) {
  testing::write_certificate(folder / "own.pem", folder / "own.key", "DNS:elsewhere.example");
  const PythonService service(nasty_script,
                              {(folder / "own.pem").string(), (folder / "own.key").string()});
  const Request request{.url = service.url() + "/say/fine/x"};
  EXPECT_EQ(failure_of(request, trusting("own.pem")), Kind::untrusted);
  EXPECT_EQ(failure_of(request), Kind::untrusted);
}

TEST_F(BadCertificate, files_that_cannot_be_used) {
  const ScriptedServer server([](const std::string&) { return ScriptedServer::ok(""); });
  const Request request{.url = "https://127.0.0.1:" + std::to_string(server.port())};
  EXPECT_EQ(failure_of(request, trusting("nowhere.pem")), Kind::bad_tls_files);
  Settings client_certificate;
  client_certificate.certificate_file = client_certificate.key_file = folder / "nowhere.pem";
  EXPECT_EQ(failure_of(request, client_certificate), Kind::bad_tls_files);
}

TEST_F(BadCertificate, the_right_one_is_accepted_and_the_same_tricks_end_the_same) {
  testing::write_certificate(folder / "own.pem", folder / "own.key", "IP:127.0.0.1");
  const PythonService service(nasty_script,
                              {(folder / "own.pem").string(), (folder / "own.key").string()});
  Client client(trusting("own.pem"));
  EXPECT_EQ(client.send({.url = service.url() + "/say/fine/x"})->body, "fine");
  EXPECT_EQ(client.send({.url = service.url() + "/huge/x"}).error().kind, Kind::too_large);
  EXPECT_EQ(client.send({.url = service.url() + "/silent/x", .timeout = 200ms}).error().kind,
            Kind::timed_out);
  EXPECT_EQ(client.send({.url = service.url() + "/say/again/x"})->body, "again");
}

TEST(Failures, have_the_class_that_says_whether_to_try_again) {
  const auto class_of = [](Kind kind) { return Failure{kind}.error_class(); };
  EXPECT_EQ(class_of(Kind::bad_request), ErrorClass::invalid);
  EXPECT_EQ(class_of(Kind::bad_tls_files), ErrorClass::config);
  EXPECT_EQ(class_of(Kind::untrusted), ErrorClass::auth);
  EXPECT_EQ(class_of(Kind::not_http), ErrorClass::internal);
  EXPECT_EQ(class_of(Kind::too_large), ErrorClass::internal);
  EXPECT_EQ(class_of(Kind::cancelled), ErrorClass::cancelled);
  for (const Kind kind : {Kind::name_unknown, Kind::no_connection, Kind::no_tls, Kind::no_answer,
                          Kind::cut_off, Kind::timed_out, Kind::other})
    EXPECT_EQ(class_of(kind), ErrorClass::transient);
}

}  // namespace
}  // namespace muster::http_client
