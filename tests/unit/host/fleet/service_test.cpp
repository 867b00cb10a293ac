// The fleet's thread goes on, or stops visibly, whatever the functions that are handed to it throw.
#include "host/fleet/service.hpp"

#include <atomic>
#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "host/store/memory_store.hpp"
#include "lib/base/fake_clock.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Lines final : public LogOutput {
 public:
  void write(LogLevel, const std::string& line) override {
    const std::lock_guard lock(mutex_);
    text_ += line + "\n";
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class ServiceExceptions : public ::testing::Test {
 protected:
  ServiceExceptions() {
    service.emplace(std::make_unique<Fleet>(Settings{}, "host", 1, Now{clock->now(), 1h}),
                    ServiceParts{.store = &store,
                                 .clock = clock,
                                 .log = Log(lines, LogLevel::info, LogFormat::text, clock),
                                 .find_plugin = [](const std::string&) { return Callee{}; }});
  }

  Result<int> works() {
    return service->change<int>([](Fleet& fleet, Now now) -> Result<int> {
      fleet.provider_up({.provider_id = ProviderId("cloud")}, now);
      return 7;
    });
  }

  std::shared_ptr<Lines> lines = std::make_shared<Lines>();
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  store::MemoryStore store;
  std::optional<Service> service;
};

TEST_F(ServiceExceptions, of_a_change_are_answered_and_the_fleet_goes_on) {
  const auto answer = service->change<int>(
      [](Fleet&, Now) -> Result<int> { throw std::runtime_error("no such member"); });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::internal);
  EXPECT_THAT(answer.error().message, HasSubstr("no such member"));
  EXPECT_THAT(lines->text(), HasSubstr("no such member"));
  EXPECT_TRUE(service->store_health().ok);
  EXPECT_TRUE(works());
}

TEST_F(ServiceExceptions, that_are_no_standard_ones_are_answered_too) {
  const auto answer = service->change<int>([](Fleet&, Now) -> Result<int> { throw 7; });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::internal);
  EXPECT_TRUE(works());
}

TEST_F(ServiceExceptions, after_complete_calls_to_the_fleet_keep_what_these_have_changed) {
  const auto answer = service->change<int>([](Fleet& fleet, Now now) -> Result<int> {
    fleet.provider_up({.provider_id = ProviderId("cloud")}, now);
    throw std::runtime_error("later");
  });
  EXPECT_FALSE(answer);
  std::size_t providers = 0;
  service->read([&](const Fleet& fleet, Now) { providers = fleet.providers().size(); });
  EXPECT_EQ(providers, 1u);
  EXPECT_TRUE(works());
}

TEST_F(ServiceExceptions, within_a_change_stop_all_decisions_visibly) {
  const auto answer = service->change<int>([](Fleet& fleet, Now now) -> Result<int> {
    fleet.change_queue(now);
    throw std::runtime_error("half of it");
  });
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::internal);
  EXPECT_THAT(answer.error().message, HasSubstr("half of it"));
  EXPECT_FALSE(service->store_health().ok);
  EXPECT_THAT(service->store_health().sentence, HasSubstr("restart the host"));
  EXPECT_THAT(lines->text(), HasSubstr("half of it"));
  const auto later = works();
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, "readOnly");
  EXPECT_THAT(later.error().message, HasSubstr("decisions have stopped"));
}

TEST_F(ServiceExceptions, within_a_change_leave_readers_alone_and_make_nothing_durable) {
  ASSERT_TRUE(works());
  const auto before = store.contents();
  EXPECT_FALSE(service->change<int>([](Fleet& fleet, Now now) -> Result<int> {
    fleet.provider_up({.provider_id = ProviderId("other")}, now);
    fleet.change_queue(now);
    throw std::runtime_error("half of it");
  }));
  bool looked = false;
  service->read([&](const Fleet&, Now) { looked = true; });
  EXPECT_TRUE(looked);
  service->stop(1s);
  EXPECT_EQ(store.contents(), before);
}

TEST_F(ServiceExceptions, within_a_posted_change_are_told_to_its_caller) {
  std::promise<std::optional<Error>> told;
  service->post_change(
      [](Fleet& fleet, Now now) {
        fleet.change_queue(now);
        throw std::runtime_error("half of it");
      },
      [&](const std::optional<Error>& error) { told.set_value(error); });
  const auto error = told.get_future().get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "readOnly");
  EXPECT_THAT(error->message, HasSubstr("half of it"));
}

TEST_F(ServiceExceptions, of_a_posted_change_are_logged) {
  service->post([](Fleet&, Now) { throw std::runtime_error("nobody waits for this"); });
  EXPECT_TRUE(works());
  EXPECT_THAT(lines->text(), HasSubstr("nobody waits for this"));
}

TEST_F(ServiceExceptions, of_a_read_reach_its_caller) {
  EXPECT_THROW(service->read([](const Fleet&, Now) { throw std::runtime_error("unreadable"); }),
               std::runtime_error);
  EXPECT_TRUE(works());
}

TEST_F(ServiceExceptions, of_a_look_are_logged) {
  service->query([](const Fleet&, Now) { throw std::runtime_error("unseen"); });
  EXPECT_TRUE(works()) << "a look that had to wait has run before a later change";
  EXPECT_THAT(lines->text(), HasSubstr("unseen"));
}

// A store whose disk is full for as long as the test wants.
class FullStore final : public store::Store {
 public:
  Result<void> commit(const store::Batch& batch) override {
    if (full) return Error::transient("the disk is full");
    return inner.commit(batch);
  }
  Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override {
    return inner.scan(scan, sink);
  }
  Result<void> backup(const std::string& file) const override { return inner.backup(file); }

  std::atomic<bool> full = false;
  store::MemoryStore inner;
};

TEST(ServiceWithAFullDisk, tells_who_waits_for_a_change_at_once_and_only_once) {
  FullStore store;
  const auto clock = std::make_shared<SystemClock>();
  Service service(
      std::make_unique<Fleet>(Settings{}, "host", 1, Now{clock->now(), 1h}),
      ServiceParts{.store = &store, .clock = clock, .log = {}, .find_plugin = [](const auto&) {
                     return Callee{};
                   }});
  const auto change = [](Fleet& fleet, Now now) {
    fleet.provider_up({.provider_id = ProviderId("cloud")}, now);
  };
  std::promise<std::optional<Error>> stored;
  service.post_change(change, [&](const auto& error) { stored.set_value(error); });
  EXPECT_FALSE(stored.get_future().get());

  store.full = true;
  std::promise<std::optional<Error>> refused;
  service.post_change(
      [](Fleet& fleet, Now now) { fleet.provider_down(ProviderId("cloud"), "gone", now); },
      [&](const auto& error) { refused.set_value(error); });  // a second call would throw
  const auto error = refused.get_future().get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "readOnly");
  EXPECT_THAT(error->message, HasSubstr("the disk is full"));

  std::promise<std::optional<Error>> late;
  service.post_change(change, [&](const auto& problem) { late.set_value(problem); });
  EXPECT_TRUE(late.get_future().get());
  store.full = false;
  service.stop(1s);
}

// Somebody waits in the queue, and has to be heard once in a minute.
class DeafService : public ::testing::Test {
 protected:
  DeafService() {
    const auto made = service.change<std::int64_t>([](Fleet& fleet, Now now) {
      queue::NewRequest ask;
      ask.team = queue::TeamId("team");
      ask.heartbeat = 60s;
      return fleet.request_worker(ask, now);
    });
    if (made) request = *made;
  }

  bool decides() {
    return service.change<int>([](Fleet&, Now) -> Result<int> { return 7; }).has_value();
  }
  void listen(std::chrono::seconds time) {
    for (; time > 0s; time -= 1s) {
      clock->advance(1s);
      ASSERT_TRUE(decides());
    }
  }
  bool waits() {
    bool waits = false;
    service.read([&](const Fleet& fleet, Now) {
      const queue::Request* found = fleet.queue().find(request);
      waits = found && found->state == queue::RequestState::waiting;
    });
    return waits;
  }

  FullStore store;
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  Service service{std::make_unique<Fleet>(Settings{}, "host", 1, now_of(*clock)),
                  ServiceParts{.store = &store, .clock = clock, .find_plugin = [](const auto&) {
                                 return Callee{};
                               }}};
  std::int64_t request = 0;
};

TEST_F(DeafService, that_listens_ends_who_is_silent) {
  listen(59s);
  EXPECT_TRUE(waits());
  listen(1s);
  EXPECT_FALSE(waits());
}

TEST_F(DeafService, that_was_frozen_waits_for_those_who_could_not_be_heard) {
  listen(50s);
  clock->advance(62s);
  ASSERT_TRUE(decides());
  EXPECT_TRUE(waits());
  listen(69s);
  EXPECT_TRUE(waits());
  listen(2s);
  EXPECT_FALSE(waits());
}

TEST_F(DeafService, whose_disk_was_full_waits_for_those_who_could_not_be_heard) {
  listen(50s);
  store.full = true;
  EXPECT_FALSE(service.change<int>([](Fleet& fleet, Now now) -> Result<int> {
    fleet.provider_up({.provider_id = ProviderId("cloud")}, now);
    return 7;
  }));
  for (int second = 0; second < 75; ++second) clock->advance(1s);
  store.full = false;
  service.committer().retry_now();
  std::promise<void> stored;
  service.post([](Fleet&, Now) {}, [&] { stored.set_value(); });
  stored.get_future().wait();
  EXPECT_TRUE(waits());
  listen(60s);
  EXPECT_TRUE(waits());
  listen(12s);
  EXPECT_FALSE(waits());
}

}  // namespace
}  // namespace muster::fleet
