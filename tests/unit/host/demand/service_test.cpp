#include "host/demand/service.hpp"

#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/recorded_log.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::demand {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const WorkerPoolId a("p/a"), b("p/b");

// A source that says what the test tells it to.
class ToldSource final : public DemandSource {
 public:
  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    std::unique_lock lock(mutex);
    ++polls;
    while (hangs && !context.cancelled()) released.wait_for(lock, 1ms);
    if (error) return *error;
    json::object document;
    for (const auto& [pool, pending] : says) document[pool.str()] = pending;
    return read_counts(document, pools, context.now());
  }

  std::mutex mutex;
  std::condition_variable released;
  std::map<WorkerPoolId, std::int64_t> says;
  std::optional<Error> error;
  bool hangs = false;
  int polls = 0;
};

class Listener {
 public:
  DemandService::Publish publish() {
    return [this](const fleet::Demand& demand) {
      const std::lock_guard lock(mutex_);
      told_.push_back(demand);
      changed_.notify_all();
    };
  }
  // Waits until the newest word is so.
  fleet::Demand when(const std::function<bool(const fleet::Demand&)>& so) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [&] { return !told_.empty() && so(told_.back()); }))
      throw std::runtime_error("never told so");
    return told_.back();
  }
  fleet::Demand when_pending(const WorkerPoolId& pool, std::int64_t pending) {
    return when([&](const fleet::Demand& demand) {
      const auto found = demand.find(pool);
      return (found == demand.end() ? 0 : found->second.pending) == pending;
    });
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return told_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<fleet::Demand> told_;
};

ConfiguredSource told(const std::string& name, ToldSource*& source,
                      std::chrono::milliseconds interval = 1h,
                      std::optional<std::chrono::milliseconds> stale_after = {}) {
  auto made = std::make_unique<ToldSource>();
  source = made.get();
  config::DemandSettings settings;
  settings.name = name;
  settings.interval = interval;
  settings.stale_after = stale_after;
  return {settings, std::move(made)};
}

template <class... Sources>
std::vector<ConfiguredSource> all_of(Sources... sources) {
  std::vector<ConfiguredSource> all;
  (all.push_back(std::move(sources)), ...);
  return all;
}

std::unique_ptr<DemandService> start(std::vector<ConfiguredSource> sources, Listener& listener,
                                     OwnQueue* queue = nullptr, Log log = {}) {
  auto service = DemandService::start(std::move(sources), queue, listener.publish(),
                                      std::make_shared<SystemClock>(), std::move(log), {0ms})
                     .value();
  service->set_pools({a, b});
  return service;
}

TEST(DemandService, a_source_that_fails_does_not_stop_the_others_and_its_age_shows) {
  Listener listener;
  ToldSource *good = nullptr, *bad = nullptr;
  auto sources = all_of(told("good", good), told("bad", bad, 5ms));
  good->says[a] = 4;
  bad->error = Error::transient("down");
  const auto log = std::make_shared<testing::RecordedLog>();
  const auto service =
      start(std::move(sources), listener, nullptr, Log(log, LogLevel::debug, LogFormat::text));
  const auto demand = listener.when_pending(a, 4);
  EXPECT_EQ(demand.at(b).note, "bad has not answered yet: down");
  auto status = service->status();
  EXPECT_EQ(status.at(1).error, "down");
  EXPECT_TRUE(status.at(1).failed_since);
  EXPECT_FALSE(status.at(1).age);
  EXPECT_TRUE(status.at(0).age);
  EXPECT_TRUE(log->contains("down"));
  {
    const std::lock_guard lock(bad->mutex);
    bad->error.reset();
    bad->says[b] = 1;
  }
  EXPECT_EQ(listener.when_pending(b, 1).at(b).note, "");
  EXPECT_EQ(service->status().at(1).error, "");
  EXPECT_THAT(json::write(to_json(service->status())), HasSubstr("\"ageSeconds\""));
}

TEST(DemandService, numbers_that_go_stale_are_taken_back) {
  Listener listener;
  ToldSource* source = nullptr;
  auto sources = all_of(told("queue", source, 5ms, 100ms));
  source->says[a] = 4;
  const auto service = start(std::move(sources), listener);
  listener.when_pending(a, 4);
  {
    const std::lock_guard lock(source->mutex);
    source->error = Error::transient("down");
  }
  const auto demand = listener.when_pending(a, 0);
  EXPECT_THAT(demand.at(a).note, HasSubstr("queue is stale since"));
  EXPECT_GT(service->status().at(0).stale_pools, 0u);
}

TEST(DemandService,
     a_source_that_hangs_delays_nobody_after_the_first_round_and_ends_with_the_host) {
  Listener listener;
  ToldSource *quick = nullptr, *stuck = nullptr;
  auto sources = all_of(told("quick", quick, 5ms), told("stuck", stuck, 5ms));
  auto service = start(std::move(sources), listener);
  listener.when([](const fleet::Demand&) { return true; });
  {
    const std::scoped_lock lock(quick->mutex, stuck->mutex);
    stuck->hangs = true;
    quick->says[a] = 2;
  }
  listener.when_pending(a, 2);
  service.reset();
}

TEST(DemandService, tells_only_what_is_news) {
  Listener listener;
  ToldSource* source = nullptr;
  auto sources = all_of(told("queue", source, 1ms));
  source->says[a] = 4;
  const auto service = start(std::move(sources), listener);
  listener.when_pending(a, 4);
  const auto before = listener.count();
  const auto enough = [&] {
    const std::lock_guard lock(source->mutex);
    return source->polls > 50;
  };
  while (!enough()) std::this_thread::yield();
  EXPECT_EQ(listener.count(), before);
}

TEST(DemandService, pools_that_nobody_has_are_told_once) {
  Listener listener;
  ToldSource* source = nullptr;
  auto sources = all_of(told("queue", source, 1ms));
  source->says[WorkerPoolId("p/other")] = 4;
  const auto log = std::make_shared<testing::RecordedLog>();
  const auto service =
      start(std::move(sources), listener, nullptr, Log(log, LogLevel::debug, LogFormat::text));
  const auto enough = [&] {
    const std::lock_guard lock(source->mutex);
    return source->polls > 20;
  };
  while (!enough()) std::this_thread::yield();
  int lines = 0;
  for (const std::string& line : log->lines()) lines += line.find("p/other") != std::string::npos;
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(service->status().at(0).unknown_pools, std::vector<std::string>{"p/other"});
}

TEST(DemandService, a_file_that_is_replaced_is_seen_at_once) {
  Listener listener;
  const testing::TemporaryFolder folder;
  config::DemandSettings settings;
  settings.name = "cron";
  settings.file = folder / "demand.json";
  settings.interval = 1h;
  std::ofstream(settings.file) << R"({"p/a": 1})";
  std::vector<ConfiguredSource> sources;
  sources.push_back({settings, make_source(settings)});
  const auto service = start(std::move(sources), listener);
  listener.when_pending(a, 1);
  std::ofstream(folder / "next") << R"({"p/a": 2, "p/b": 3})";
  fs::rename(folder / "next", settings.file);
  listener.when_pending(b, 3);
}

class CountingQueue final : public OwnQueue {
 public:
  Counts counts() const override {
    const std::lock_guard lock(mutex_);
    return {{a, {pending_, {}, Time{}}}};
  }
  void on_change(std::function<void()> changed) override {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
    calls_.clear();  // waits for them
  }
  void set(std::int64_t pending) {
    const std::lock_guard lock(mutex_);
    pending_ = pending;
    if (changed_) calls_.push_back(std::async(std::launch::async, changed_));
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t pending_ = 0;
  std::function<void()> changed_;
  std::vector<std::future<void>> calls_;
};

TEST(DemandService, musters_own_queue_adds_to_the_others) {
  Listener listener;
  CountingQueue queue;
  ToldSource* source = nullptr;
  auto sources = all_of(told("outside", source));
  source->says[a] = 4;
  const auto service = start(std::move(sources), listener, &queue);
  listener.when_pending(a, 4);
  queue.set(3);
  listener.when_pending(a, 7);
}

TEST(DemandService, runs_without_any_source) {
  Listener listener;
  const auto service = start({}, listener);
  listener.when([](const fleet::Demand& demand) { return demand.empty(); });
}

}  // namespace
}  // namespace muster::demand
