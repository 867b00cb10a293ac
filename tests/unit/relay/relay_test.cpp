// The whole of the relay but the DNS: over HTTP, with a host that checks signatures.
#include "relay/relay.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"
#include "lib/metrics/metrics.hpp"
#include "relay/readiness.hpp"
#include "relay/routes.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/relay/fake_host.hpp"
#include "tests/unit/relay/zone.hpp"

namespace muster::relay {
namespace {

using namespace std::chrono_literals;

// Everybody who asks comes from 127.0.0.1, which plays the proxy and the machine.
class ZoneResolver final : public Resolver {
 public:
  void ask(const Question& question, SteadyTime, Done done) override {
    done(zone.answer(question));
  }
  Zone zone{
      "1.0.0.127.in-addr.arpa 60 PTR m0.dc\nm0.dc 60 A 127.0.0.1\n"
      "7.0.1.10.in-addr.arpa 60 PTR m7.dc\nm7.dc 60 A 10.1.0.7\n"
      "8.0.1.10.in-addr.arpa 60 PTR m8.dc\nm8.dc 60 A 10.1.0.1\n"
      "9.0.1.10.in-addr.arpa 60 PTR m9.evil\nm9.evil 60 A 10.1.0.9\n"
      "10.0.1.10.in-addr.arpa ! serverFailure\n"
      "11.0.1.10.in-addr.arpa ! timedOut\n"};
};

class RelayTest : public ::testing::Test {
 protected:
  RelayTest() {
    add_routes(router, relay, readiness, workers, metrics);
    http::ServerSettings server_settings;
    server_settings.access_log = false;
    server = http::Server::listen(server_settings, router, clock, log).value();
    server->start();
    EXPECT_TRUE(audit.open(folder / "audit"));
  }
  ~RelayTest() override { server.reset(); }

  static std::shared_ptr<Settings> made_settings(const std::string& url) {
    auto made = std::make_shared<Settings>();
    made->allowed_networks = Networks::parse({"10.1.0.0/16", "127.0.0.1"}).value();
    made->operator_networks = Networks::parse({"127.0.0.1"}).value();
    auto names = std::make_shared<NameRules>();
    names->allowed.push_back(NamePattern::parse("*.dc").value());
    made->names = names;
    made->rate = {.per_minute = 60, .burst = 3};
    made->host.url = url;
    made->host.provider_id = "dc1";
    made->host.client_id = "relay/dc1";
    return made;
  }
  void trust_proxies() {
    auto changed = std::make_shared<Settings>(*relay.settings());
    changed->trusted_proxies = Networks::parse({"127.0.0.1"}).value();
    relay.replace_settings(changed);
  }

  std::string send(const std::string& first_line, const std::string& headers,
                   const std::string& body) {
    testing::RawClient client(server->port());
    client.send(first_line + " HTTP/1.1\r\nHost: relay\r\nConnection: close\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
    return client.read_all();
  }
  std::string ask(const std::string& body = "{}", const std::string& headers = "") {
    return send("POST /api/muster-relay/v1/register", headers, body);
  }
  std::string ask_as(const std::string& address) {
    return ask("{}", "X-Forwarded-For: " + address + "\r\n");
  }
  std::vector<json::object> audit_lines() const {
    std::ifstream in(folder / "audit");
    std::vector<json::object> all;
    for (std::string line; std::getline(in, line);) all.push_back(json::parse_object(line).value());
    return all;
  }
  std::uint64_t counted(RegistrationOutcome outcome) const {
    return counters.answers[static_cast<std::size_t>(outcome)];
  }

  testing::TemporaryFolder folder;
  std::shared_ptr<testing::RecordedLog> lines = std::make_shared<testing::RecordedLog>();
  Log log{lines, LogLevel::debug, LogFormat::json};
  FakeClock clock;
  FakeHost host;
  ZoneResolver resolver;
  std::string token_in_the_file = "the-relays-own-token";
  std::shared_ptr<Settings> settings = made_settings(host.url());
  Verifier verifier{resolver, clock, {}, {}, settings->names};
  HostLink link{settings->host, [this]() -> Result<Secret> { return Secret(token_in_the_file); },
                Secret("the-relays-own-token"), log};
  Counters counters;
  Audit audit{log};
  metrics::Metrics metrics;
  http::WorkerThreads workers{4, 16, log};
  Relay relay{{verifier, link, workers, audit, counters, clock}, settings};
  DnsResult server_says = DnsResult::answered;
  Readiness readiness{{"10.0.0.53:53", "10.0.0.54:53"},
                      [this](const std::string& s) {
                        return DnsAnswer{s == "10.0.0.53:53" ? DnsResult::timed_out : server_says};
                      },
                      [this] { return link.reach(); },
                      clock};
  http::Router router{log};
  std::unique_ptr<http::Server> server;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_F(RelayTest, there_is_nothing_else) {
  for (const char* line : {"GET /", "GET /api/muster-relay/v1/register", "POST /register",
                           "POST /api/muster/v1/relay-registrations", "GET /api/muster/v1/status",
                           "DELETE /healthz", "GET /%zz"}) {
    const std::string answer = send(line, "", "");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << line << "\n" << answer;
  }
  EXPECT_TRUE(host.bodies().empty());
  EXPECT_TRUE(has(send("GET /healthz", "", ""), "200 OK"));
}

TEST_F(RelayTest, a_body_that_makes_no_sense_is_refused) {
  for (const char* body :
       {"[]", "{", "{\"hostName\":\"m1.dc\"}", "{\"address\":\"10.1.0.1\"}",
        "{\"providerId\":\"other\"}", "{\"workerPoolId\":7}", "{\"state\":[]}",
        "{\"state\":{\"os\":14}}", "{\"systemBootTime\":null}", "{\"queue\":\"gpu\"}"}) {
    clock.advance(1min);
    EXPECT_TRUE(has(ask(body), "400 Bad Request")) << body;
  }
  EXPECT_TRUE(host.bodies().empty());
  EXPECT_EQ(counted(RegistrationOutcome::bad_request), 10u);
}

TEST_F(RelayTest, a_forged_header_is_not_looked_at) {
  EXPECT_TRUE(has(ask_as("10.1.0.7"), "200 OK"));
  ASSERT_EQ(host.bodies().size(), 1u);
  EXPECT_EQ(host.bodies()[0].at("hostName"), "m0.dc");
  EXPECT_EQ(host.bodies()[0].at("address"), "127.0.0.1");
}

TEST_F(RelayTest, each_refusal_says_which_check_failed_and_no_name) {
  trust_proxies();
  struct Case {
    const char *address, *status, *code;
    RegistrationOutcome outcome;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"192.0.2.7", "403 ", "AddressNotAllowed", RegistrationOutcome::address_not_allowed},
           {"10.1.0.6", "403 ", "NoReverseName", RegistrationOutcome::no_reverse_name},
           {"10.1.0.8", "403 ", "NameNotConfirmed", RegistrationOutcome::name_not_confirmed},
           {"10.1.0.9", "403 ", "NameNotAllowed", RegistrationOutcome::name_not_allowed},
           {"10.1.0.10", "503 ", "DnsFailed", RegistrationOutcome::dns_failed},
           {"10.1.0.11", "503 ", "DnsFailed", RegistrationOutcome::dns_failed},
           {"nonsense", "403 ", "SenderUnclear", RegistrationOutcome::sender_unclear},
       }) {
    const std::string answer = ask_as(c.address);
    EXPECT_TRUE(answer.starts_with(std::string("HTTP/1.1 ") + c.status)) << answer;
    EXPECT_TRUE(has(answer, std::string("\"code\":\"") + c.code + "\"")) << answer;
    EXPECT_EQ(has(answer, "Retry-After: "), c.outcome == RegistrationOutcome::dns_failed) << answer;
    EXPECT_FALSE(has(answer, "m8")) << answer;
    EXPECT_FALSE(has(answer, "evil")) << answer;
    EXPECT_GE(counted(c.outcome), 1u) << c.address;
    EXPECT_EQ(audit_lines().back().at("reason"), to_string(c.outcome));
    EXPECT_EQ(audit_lines().back().at("acceptedName"), "");
  }
  EXPECT_TRUE(host.bodies().empty());
  EXPECT_EQ(audit_lines().size(), 7u);
  EXPECT_EQ(audit_lines()[2].at("names"), (json::array{"m8.dc"}));
  EXPECT_EQ(audit_lines()[4].at("decision"), "failed");
  EXPECT_TRUE(has(std::string(audit_lines()[4].at("why").as_string()), "serverFailure"));
}

TEST_F(RelayTest, an_address_that_asks_too_often_waits) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(ask(), "200 OK"));
  const std::string answer = ask();
  EXPECT_TRUE(has(answer, "429 Too Many Requests")) << answer;
  EXPECT_TRUE(has(answer, "Retry-After: 1\r\n")) << answer;
  EXPECT_EQ(host.bodies().size(), 3u);
  trust_proxies();
  EXPECT_TRUE(has(ask_as("10.1.0.7"), "200 OK"));  // another one
  relay.replace_settings(settings);
  clock.advance(1s);
  EXPECT_TRUE(has(ask(), "200 OK"));
}

TEST_F(RelayTest, the_right_machine_gets_what_the_host_gives_and_nobody_else_sees_it) {
  trust_proxies();
  host.good = {200, {}, R"({"credentials":{"accessToken":"worker-secret"},"n":1.50})"};
  const std::string answer =
      ask(R"({"workerPoolId":"worker-manager/mac","systemBootTime":"2020-01-01T00:00:00Z",
             "state":{"os":"14.5"},"queue":{"tags":["gpu"]}})",
          "X-Forwarded-For: 10.1.0.7\r\n");
  EXPECT_TRUE(has(answer, "200 OK")) << answer;
  EXPECT_TRUE(answer.ends_with(host.good.body)) << answer;
  EXPECT_TRUE(has(answer, "Cache-Control: no-store\r\n")) << answer;
  ASSERT_EQ(host.bodies().size(), 1u);
  EXPECT_EQ(json::canonical(host.bodies()[0]),
            R"({"address":"10.1.0.7","hostName":"m7.dc","providerId":"dc1",)"
            R"("queue":{"tags":["gpu"]},"state":{"os":"14.5"},)"
            R"("systemBootTime":"2020-01-01T00:00:00Z","workerPoolId":"worker-manager/mac"})");
  ASSERT_EQ(audit_lines().size(), 1u);
  const json::object line = audit_lines()[0];
  EXPECT_EQ(line.at("address"), "10.1.0.7");
  EXPECT_EQ(line.at("acceptedName"), "m7.dc");
  EXPECT_EQ(line.at("decision"), "accepted");
  EXPECT_EQ(line.at("hostStatus"), 200);
  EXPECT_FALSE(line.at("requestId").as_string().empty());
  for (const std::string& logged : lines->lines()) {
    EXPECT_FALSE(has(logged, "worker-secret")) << logged;
    EXPECT_FALSE(has(logged, "the-relays-own-token")) << logged;
  }
  EXPECT_FALSE(has(json::write(line), "worker-secret"));
}

TEST_F(RelayTest, what_the_host_says_about_a_machine_is_passed_on) {
  for (const int status : {400, 404, 410, 429, 503}) {
    clock.advance(1min);
    host.good = {status, {{"Retry-After", "9"}}, "{\"code\":\"TheHostsOwn\"}"};
    const std::string answer = ask();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ")) << answer;
    EXPECT_TRUE(answer.ends_with("{\"code\":\"TheHostsOwn\"}")) << answer;
    EXPECT_TRUE(has(answer, "Retry-After: 9\r\n")) << answer;
    EXPECT_EQ(audit_lines().back().at("hostStatus"), status);
  }
  EXPECT_EQ(counted(RegistrationOutcome::host_refused), 4u);
  EXPECT_EQ(counted(RegistrationOutcome::host_failed), 1u);
}

TEST_F(RelayTest, a_relay_that_the_host_does_not_know_tells_machines_to_come_back) {
  host.token = "it-was-replaced";
  const std::string answer = ask();
  EXPECT_TRUE(has(answer, "503 Service Unavailable")) << answer;
  EXPECT_TRUE(has(answer, "RelayNotAccepted")) << answer;
  EXPECT_TRUE(has(answer, "Retry-After: 60\r\n")) << answer;
  EXPECT_EQ(audit_lines().back().at("hostStatus"), 401);
  EXPECT_EQ(counted(RegistrationOutcome::relay_refused), 1u);
  token_in_the_file = "it-was-replaced";
  EXPECT_TRUE(has(ask(), "200 OK"));
}

TEST_F(RelayTest, metrics_and_readiness_are_for_operators) {
  trust_proxies();
  for (const char* path : {"GET /metrics", "GET /readyz"})
    EXPECT_TRUE(has(send(path, "X-Forwarded-For: 10.1.0.7\r\n", ""), "404 Not Found")) << path;
  relay.replace_settings(settings);
  EXPECT_TRUE(has(send("GET /metrics", "", ""), "200 OK"));
  const std::string ready = send("GET /readyz", "", "");
  EXPECT_TRUE(has(ready, "200 OK")) << ready;
  EXPECT_TRUE(has(ready, R"("10.0.0.53:53":"timedOut","10.0.0.54:53":"answers")")) << ready;
  server_says = DnsResult::unreachable;
  EXPECT_TRUE(has(send("GET /readyz", "", ""), "200 OK"));  // seen a moment ago
  clock.advance(5s);
  EXPECT_TRUE(has(send("GET /readyz", "", ""), "503 Service Unavailable"));
}

}  // namespace
}  // namespace muster::relay
