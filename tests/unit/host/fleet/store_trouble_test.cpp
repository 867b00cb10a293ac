// What callers and listeners see while the store fails, hangs or is damaged.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fleet/service.hpp"
#include "host/store/memory_store.hpp"
#include "lib/base/fake_clock.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// What another thread does; false: not in half a minute.
bool comes_true(const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// A disk that stops answering, or answers with errors.
class BadDisk final : public store::Store {
 public:
  Result<void> commit(const store::Batch& batch) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !hangs_; });
    if (failure_) return *failure_;
    return kept_.commit(batch);
  }
  Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override {
    return kept_.scan(scan, sink);
  }
  Result<void> backup(const std::string& file) const override { return kept_.backup(file); }

  void hang(bool hangs) {
    const std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  void fail(std::optional<Error> failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  std::optional<Error> failure_;
  store::MemoryStore kept_;
};

class StoreTrouble : public ::testing::Test {
 protected:
  StoreTrouble() {
    service.emplace(std::make_unique<Fleet>(Settings{}, "host", 1, Now{clock->now(), 1h}),
                    ServiceParts{.store = &disk,
                                 .clock = clock,
                                 .find_plugin = [](const std::string&) { return Callee{}; },
                                 .rebuild_store = [this](store::Batch all) -> Result<void> {
                                   ++rebuilds;
                                   rebuilt_rows = all.size();
                                   return {};
                                 },
                                 .listener =
                                     [this](const std::vector<events::Event>& durable) {
                                       const std::lock_guard lock(mutex);
                                       for (const auto& event : durable)
                                         kinds.push_back(event.kind);
                                     }});
  }
  ~StoreTrouble() override {
    disk.fail({});
    disk.hang(false);
  }
  bool was_told(const std::string& kind) {
    const std::lock_guard lock(mutex);
    return std::ranges::find(kinds, kind) != kinds.end();
  }
  // A change that nobody has answered yet.
  std::future<std::optional<Error>> begin_change() {
    auto told = std::make_shared<std::promise<std::optional<Error>>>();
    auto answer = told->get_future();
    service->post_change(
        [](Fleet& fleet, Now now) { fleet.provider_up({.provider_id = ProviderId("cloud")}, now); },
        [told](const std::optional<Error>& error) { told->set_value(error); });
    return answer;
  }

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  BadDisk disk;
  std::atomic<int> rebuilds = 0;
  std::atomic<std::size_t> rebuilt_rows = 0;
  std::mutex mutex;
  std::vector<std::string> kinds;
  std::optional<Service> service;
};

TEST_F(StoreTrouble, a_change_under_way_is_answered_when_the_disk_stops_answering) {
  ASSERT_FALSE(begin_change().get()) << "all is well";
  disk.hang(true);
  auto answer = begin_change();
  ASSERT_TRUE(comes_true([&] {
    clock->advance(1s);
    return !service->store_health().ok;
  }));
  EXPECT_THAT(service->store_health().sentence, HasSubstr("the disk has not answered for"));
  ASSERT_EQ(answer.wait_for(20s), std::future_status::ready);
  const auto error = answer.get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "readOnly");
  EXPECT_THAT(error->message, HasSubstr("may still be done"));
  disk.hang(false);
  EXPECT_TRUE(comes_true([&] { return service->store_health().ok; }));
  EXPECT_FALSE(begin_change().get());
}

TEST_F(StoreTrouble, a_change_under_way_is_answered_when_the_disk_fails) {
  disk.fail(Error::capacity("the disk is full"));
  const auto error = begin_change().get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "readOnly");
  EXPECT_THAT(error->message, HasSubstr("the disk is full"));
}

TEST_F(StoreTrouble, damage_that_a_reader_reports_is_repaired_from_memory_and_told) {
  ASSERT_FALSE(begin_change().get());
  service->committer().report_damage(Error::internal("a page is damaged"));
  EXPECT_TRUE(comes_true([&] { return was_told("store-repaired"); }));
  EXPECT_EQ(rebuilds, 1);
  EXPECT_GT(rebuilt_rows, 0u);
  EXPECT_TRUE(service->store_health().ok);
}

}  // namespace
}  // namespace muster::fleet
