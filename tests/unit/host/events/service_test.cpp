// The whole of it with its threads: a committer, an HTTP server that receives webhooks.
#include "host/events/service.hpp"

#include <fstream>
#include <future>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

#include "host/api/api.hpp"
#include "host/store/committer.hpp"
#include "lib/http/router.hpp"
#include "lib/http_client/client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EventServiceTest : public ::testing::Test {
 protected:
  EventServiceTest() {
    std::ofstream(folder / "secret") << "a secret of the test\n";
    ::chmod((folder / "secret").c_str(), 0600);
  }
  ~EventServiceTest() override { stop(); }

  config::WebhookSettings webhook(std::string name, std::string url) const {
    config::WebhookSettings settings;
    settings.name = std::move(name);
    settings.url = std::move(url);
    settings.secret_file = folder / "secret";
    settings.timeout = 2s;
    return settings;
  }
  void configure(std::vector<config::WebhookSettings> webhooks) {
    auto next = std::make_shared<config::HostConfiguration>();
    next->webhooks = std::move(webhooks);
    configuration = next;
    if (service) service->reconfigure(*configuration);
  }

  void start() {
    committer = std::make_unique<store::Committer>(store, *clock, Log());
    auto made = Service::make({configuration, &store, clock, {}});
    ASSERT_TRUE(made);
    service = std::move(*made);
    ASSERT_TRUE(service->start([this](store::Batch batch, std::function<void()> durable) {
      return committer->submit(std::move(batch), std::move(durable));
    }));
    router = std::make_unique<http::Router>(Log());
    api::Services services;
    services.events = service.get();
    services.clock = clock;
    api::add_routes(*router, services);
  }
  void stop() {
    if (service) service->stop();
    if (committer) committer->stop(10s);
    router = nullptr;
    service = nullptr;
  }
  void happen(std::int64_t from, std::int64_t to) {
    for (; from <= to; ++from) {
      Event event = an_event(from);
      event.at = clock->now();
      committer->submit({store::put(event)}, [this, event] { service->on_durable({event}); });
    }
  }

  http::Response ask(std::string method, const std::string& target,
                     std::vector<http::Header> headers = {{"Accept", "application/json"}}) {
    std::promise<http::Response> answer;
    http::Request request;
    request.method = std::move(method);
    const auto question = std::min(target.find('?'), target.size());
    request.path = "/api/muster/v1/" + target.substr(0, question);
    request.query = target.substr(std::min(question + 1, target.size()));
    request.headers = std::move(headers);
    const http::Reply reply(
        [&](http::Response&& response) { answer.set_value(std::move(response)); }, request);
    auto future = answer.get_future();
    router->route(std::move(request), reply);
    EXPECT_EQ(future.wait_for(30s), std::future_status::ready);
    return future.get();
  }
  json::object get(const std::string& target) {
    const http::Response response = ask("GET", target);
    EXPECT_EQ(response.status, 200) << response.body;
    auto document = json::parse_object(response.body);
    return document ? *document : json::object();
  }

  // What the receiver saw at that path, as soon as it is so much.
  std::vector<json::value> seen(const std::string& path, std::size_t at_least) {
    std::vector<json::value> all;
    EXPECT_TRUE(testing::eventually([&] {
      all.clear();
      const auto answer = http_client::Client({}).send({.url = receiver.url() + "/seen"});
      const auto document = json::parse(answer ? answer->body : "");
      EXPECT_TRUE(document);
      if (!document) return false;
      for (const json::value& one : document->as_array())
        if (one.at("path").as_string() == path) all.push_back(one);
      return all.size() >= at_least;
    })) << all.size();
    return all;
  }
  static std::vector<std::int64_t> numbers(const std::vector<json::value>& seen) {
    std::vector<std::int64_t> all;
    for (const json::value& one : seen) all.push_back(one.at("number").to_number<std::int64_t>());
    return all;
  }

  testing::TemporaryFolder folder;
  testing::PythonService receiver{MUSTER_TEST_FOLDER "/receiver.py",
                                  {MUSTER_SOURCE "/docs/events.md", "a secret of the test"}};
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  store::MemoryStore store;
  std::shared_ptr<const config::HostConfiguration> configuration;
  std::unique_ptr<store::Committer> committer;
  std::unique_ptr<Service> service;
  std::unique_ptr<http::Router> router;
};

TEST_F(EventServiceTest, a_webhook_gets_signed_events_in_order_and_goes_on_after_a_restart) {
  configure({webhook("ci", receiver.url() + "/hook")});
  start();
  happen(1, 20);
  ASSERT_EQ(seen("/hook", 20).size(), 20u);
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).lag == 0; }));
  stop();
  start();
  happen(21, 40);
  const auto all = seen("/hook", 40);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 1; i <= 40; ++i) expected.push_back(i);
  EXPECT_EQ(numbers(all), expected);
  for (const json::value& one : all) {
    EXPECT_EQ(one.at("status"), json::value(204));  // the example of the documentation took it
    EXPECT_EQ(one.at("kind"), json::value("worker-running"));
    EXPECT_EQ(one.at("event").at("workerPoolId"), json::value("proj/build"));
  }
}

TEST_F(EventServiceTest, a_wrong_secret_is_found_out) {
  std::ofstream(folder / "secret") << "another secret\n";
  configure({webhook("ci", receiver.url() + "/hook")});
  start();
  happen(1, 1);
  EXPECT_EQ(seen("/hook", 1).at(0).at("status"), json::value(401));
  EXPECT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).given_up == 1; }));
}

TEST_F(EventServiceTest, without_its_secret_nothing_is_sent) {
  std::filesystem::remove(folder / "secret");
  configure({webhook("ci", receiver.url() + "/hook")});
  start();
  happen(1, 1);
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).attempts == 1; }));
  EXPECT_THAT(service->numbers().webhooks.at(0).problem, HasSubstr("secret"));
  EXPECT_TRUE(seen("/hook", 0).empty());
}

TEST_F(EventServiceTest, a_webhook_that_hangs_blocks_nobody) {
  const int hanging = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(hanging, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(hanging, 5), 0);
  ASSERT_EQ(::getsockname(hanging, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto slow = webhook("slow", "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  slow.timeout = 60s;
  configure({slow, webhook("ci", receiver.url() + "/hook")});
  start();
  happen(1, 10);
  EXPECT_EQ(seen("/hook", 10).size(), 10u);
  const auto before = std::chrono::steady_clock::now();
  stop();  // in the middle of a request
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  ::close(hanging);
}

TEST_F(EventServiceTest, a_webhook_that_is_new_begins_with_what_is_new) {
  configure({});
  start();
  happen(1, 5);
  ASSERT_TRUE(testing::eventually([&] { return service->log().newest() == 5; }));
  configure({webhook("ci", receiver.url() + "/hook")});
  happen(6, 7);
  EXPECT_THAT(numbers(seen("/hook", 2)), ElementsAre(6, 7));
  configure({});
  EXPECT_TRUE(get("webhooks").at("webhooks").as_array().empty());
  happen(8, 9);
  ASSERT_TRUE(testing::eventually([&] { return service->log().newest() == 9; }));
  configure({webhook("ci", receiver.url() + "/hook")});
  happen(10, 10);
  EXPECT_THAT(numbers(seen("/hook", 3)), ElementsAre(6, 7, 10));
  auto changed = webhook("ci", receiver.url() + "/hook");
  changed.kinds = {"worker-*"};
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).lag == 0; }));
  configure({changed});
  happen(11, 11);
  EXPECT_THAT(numbers(seen("/hook", 4)), ElementsAre(6, 7, 10, 11));
}

TEST_F(EventServiceTest, redirects_are_not_followed) {
  configure({webhook("ci", receiver.url() + "/status/307")});
  start();
  happen(1, 1);
  seen("/status/307", 1);
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).failed == 1; }));
  EXPECT_TRUE(seen("/hook", 0).empty());
}

TEST_F(EventServiceTest, dead_letters_are_shown_tried_again_and_deleted) {
  configure({webhook("ci", receiver.url() + "/status/400")});
  start();
  happen(1, 3);
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().webhooks.at(0).given_up == 3; }));
  ASSERT_TRUE(
      testing::eventually([&] { return get("webhooks/ci").at("deadLetters") == json::value(3); }));
  const json::object first = get("webhooks/ci/dead-letters?limit=2");
  EXPECT_EQ(first.at("next"), json::value(2));
  const json::object& letter = first.at("deadLetters").as_array().at(0).as_object();
  EXPECT_EQ(letter.at("number"), json::value(1));
  EXPECT_EQ(letter.at("event").at("kind"), json::value("worker-running"));
  EXPECT_THAT(std::string(letter.at("problem").as_string()), HasSubstr("400"));
  EXPECT_EQ(get("webhooks/ci/dead-letters?after=2").at("deadLetters").as_array().size(), 1u);

  EXPECT_EQ(ask("DELETE", "webhooks/ci/dead-letters/9").status, 404);
  EXPECT_EQ(ask("DELETE", "webhooks/ci/dead-letters/x").status, 400);
  EXPECT_EQ(ask("DELETE", "webhooks/ci/dead-letters/2").status, 204);
  EXPECT_EQ(ask("DELETE", "webhooks/ci/dead-letters/2").status, 404);
  EXPECT_EQ(ask("GET", "webhooks/nobody/dead-letters").status, 404);
  EXPECT_EQ(ask("GET", "webhooks/nobody").status, 404);
  EXPECT_EQ(ask("GET", "webhooks/ci/dead-letters?kind=a").status, 400);
  EXPECT_EQ(ask("POST", "webhooks/ci/dead-letters/2/retry").status, 404);

  configure({webhook("ci", receiver.url() + "/hook")});  // repaired
  EXPECT_EQ(ask("POST", "webhooks/ci/dead-letters/3/retry").status, 202);
  const auto again = seen("/hook", 1);
  EXPECT_EQ(again.at(0).at("again"), json::value(true));
  EXPECT_EQ(again.at(0).at("number"), json::value(3));
  EXPECT_TRUE(
      testing::eventually([&] { return get("webhooks/ci").at("deadLetters") == json::value(1); }));

  configure({});  // its letters stay
  EXPECT_EQ(get("webhooks/ci/dead-letters").at("deadLetters").as_array().size(), 1u);
  EXPECT_EQ(ask("POST", "webhooks/ci/dead-letters/1/retry").status, 409);
}

TEST_F(EventServiceTest, events_come_as_pages_or_as_a_stream) {
  configure({});
  start();
  happen(1, 5);
  ASSERT_TRUE(testing::eventually([&] { return service->log().newest() == 5; }));
  EXPECT_EQ(get("events").at("events").as_array().size(), 5u);
  EXPECT_EQ(get("events?after=3").at("events").as_array().size(), 2u);
  EXPECT_EQ(ask("GET", "events?after=x").status, 400);
  const http::Response gone = ask("GET", "events?after=77");
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(json::parse_object(gone.body)->at("next"), json::value(5));
  EXPECT_EQ(ask("GET", "events?limit=1", {}).headers.at(0).value,
            "application/json; charset=utf-8");

  const http::Response stream = ask("GET", "events", {{"Accept", "text/event-stream"}});
  EXPECT_EQ(stream.headers.at(0).value, "text/event-stream");
  ASSERT_TRUE(stream.stream);
  EXPECT_EQ(service->numbers().listeners, 1);
  const http::Response resumed = ask("GET", "events", {{"Last-Event-ID", "3"}});
  ASSERT_TRUE(resumed.stream);
  std::string out;
  resumed.stream->pull(out);
  EXPECT_THAT(out, ::testing::StartsWith("id: 4\nevent: worker-running\n"));
}

TEST_F(EventServiceTest, a_broker_that_cannot_be_reached_is_told_and_does_not_hold_up_the_end) {
  auto with_broker = std::make_shared<config::HostConfiguration>();
  with_broker->amqp = {.url = "amqp://127.0.0.1:1/"};
  configuration = with_broker;
  start();
  happen(1, 1);
  ASSERT_TRUE(testing::eventually([&] { return !service->numbers().amqp->problem.empty(); }));
  EXPECT_THAT(service->numbers().amqp->problem, HasSubstr("cannot connect to 127.0.0.1:1"));
  EXPECT_EQ(get("amqp").at("amqp").at("connected"), json::value(false));
  service->reconfigure({});
  EXPECT_TRUE(get("amqp").at("amqp").is_null());
}

}  // namespace
}  // namespace muster::events
