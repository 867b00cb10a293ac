// A handler that throws, on whatever thread, costs its own request an answer of 500 and nothing
// else.
#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/endpoints/dispatch.hpp"
#include "host/fleet/service.hpp"
#include "host/store/memory_store.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/http/answer.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::endpoints {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* secret_reason = "the password is 1234";

[[noreturn]] Answer throw_now(const Call&) {
  throw std::runtime_error(secret_reason);
}
[[noreturn]] Answer throw_in_a_read(const Call&, const fleet::Fleet&, fleet::Now) {
  throw std::runtime_error(secret_reason);
}
[[noreturn]] FleetChangeOrFailure throw_before_a_change(const Call&) {
  throw std::runtime_error(secret_reason);
}
FleetChangeOrFailure throw_in_a_change(const Call&) {
  return FleetChange(
      [](fleet::Fleet&, fleet::Now) -> Answer { throw std::runtime_error(secret_reason); });
}
[[noreturn]] void throw_by_itself(const CallPtr&) {
  throw 7;  // no std::exception
}
FleetChangeOrFailure throw_amid_a_change(const Call&) {
  return FleetChange([](fleet::Fleet& fleet, fleet::Now now) -> Answer {
    fleet.change_queue(now);
    throw std::runtime_error(secret_reason);
  });
}
void throw_in_a_post(const CallPtr& call) {
  post_to_fleet(call, [](fleet::Fleet&, fleet::Now) { throw std::runtime_error(secret_reason); });
}
void throw_when_durable(const CallPtr& call) {
  post_to_fleet(
      call, [](fleet::Fleet&, fleet::Now) {}, [] { throw std::runtime_error(secret_reason); });
}
Answer answer_well(const Call&) {
  return std::string("{}");
}

Endpoint row(std::string_view name, Handler handler) {
  return {.name = name,
          .method = "GET",
          .path = "/" + std::string(name),
          .scopes = open_to_all("a test"),
          .handler = std::move(handler)};
}

const std::vector<Endpoint>& rows() {
  static const std::vector<Endpoint> all{row("now", throw_now),
                                         row("read", throw_in_a_read),
                                         row("beforeChange", throw_before_a_change),
                                         row("change", throw_in_a_change),
                                         row("amidChange", throw_amid_a_change),
                                         row("worker", OnWorkerThread{throw_now}),
                                         row("workerWithFleet", OnWorkerThreadWithFleet{throw_now}),
                                         row("itself", throw_by_itself),
                                         row("post", throw_in_a_post),
                                         row("durable", throw_when_durable),
                                         row("good", answer_well)};
  return all;
}

// Admits everything, and answers in the usual form.
class PlainApi final : public Api {
 public:
  explicit PlainApi(Host host) : host_(std::move(host)) {}
  const Host& host() const override { return host_; }
  http::Access access(const Endpoint&) const override { return http::Access::open; }
  bool admit(Call&) const override { return true; }
  http::Response answer(const Call&, std::string body) const override { return {200, {}, body}; }
  http::Response failure(const Call& call, const Failure& failure,
                         std::vector<http::Header>) const override {
    return http::error_answer(call.request(), status_of(failure.code), failure.code,
                              failure.message);
  }
  Failure no_fleet() const override { return {"NoFleet", ""}; }

 private:
  const Host host_;
};

class Exceptions : public ::testing::TestWithParam<std::string> {
 protected:
  Exceptions() {
    auto loaded = fleet::Fleet::load(store, {}, "host-1", {clock->now(), 1h});
    fleet = std::make_unique<fleet::Service>(
        std::move(*loaded),
        fleet::ServiceParts{
            .store = &store, .clock = clock, .log = {}, .find_plugin = [](const std::string&) {
              return fleet::Callee{};
            }});
    Host host;
    host.fleet = fleet.get();
    host.workers = &workers;
    host.clock = clock;
    host.log = Log(log, LogLevel::debug, LogFormat::text, clock);
    add_routes(router, std::make_shared<PlainApi>(host), rows());
  }
  ~Exceptions() override { fleet->stop(1s); }

  http::Response ask(const std::string& path) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.id = "request-77";
    std::promise<http::Response> answer;
    auto future = answer.get_future();
    router.route(
        http::Request(request),
        http::Reply([&](http::Response&& response) { answer.set_value(std::move(response)); },
                    request));
    EXPECT_EQ(future.wait_for(20s), std::future_status::ready) << path;
    return future.get();
  }

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<testing::RecordedLog> log = std::make_shared<testing::RecordedLog>();
  store::MemoryStore store;
  std::unique_ptr<fleet::Service> fleet;
  http::WorkerThreads workers{1, 8, Log()};
  http::Router router{Log()};
};

TEST_P(Exceptions, are_answered_with_500_and_logged) {
  const http::Response answer = ask("/" + GetParam());
  EXPECT_EQ(answer.status, 500);
  const auto body = json::parse_object(answer.body);
  ASSERT_TRUE(body) << answer.body;
  EXPECT_EQ(body->at("code"), "InternalServerError");
  EXPECT_EQ(body->at("requestInfo").at("requestId"), "request-77");
  EXPECT_THAT(answer.body, Not(HasSubstr("1234")));
  EXPECT_TRUE(log->contains("a handler failed"));
  EXPECT_TRUE(log->contains("request-77"));
  if (GetParam() != "itself") {
    EXPECT_TRUE(log->contains(secret_reason));
  }
  EXPECT_EQ(ask("/good").status, 200);
}

// The handler's exception must reach the fleet: else half of a change would be made durable.
class ExceptionsAmidAChange : public Exceptions {};

TEST_F(ExceptionsAmidAChange, stop_the_fleets_decisions) {
  EXPECT_EQ(ask("/amidChange").status, 500);
  EXPECT_TRUE(testing::eventually([&] { return !fleet->store_health().ok; }));
  EXPECT_EQ(ask("/change").status, 503);
  EXPECT_EQ(ask("/good").status, 200);
}

INSTANTIATE_TEST_SUITE_P(Handlers, Exceptions,
                         ::testing::Values("now", "read", "beforeChange", "change", "worker",
                                           "workerWithFleet", "itself", "post", "durable"));

}  // namespace
}  // namespace muster::endpoints
