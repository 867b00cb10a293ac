// What listeners of the catalog learn, and when they are left alone.
#include <condition_variable>
#include <csignal>
#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/enum_name.hpp>

#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Writes down what it is told, a line for each state.
class Notes final : public PluginListener {
 public:
  void plugins_are(const PluginSnapshot& now) override {
    for (const auto& [key, version] : now.versions) add("is " + line(version));
    for (const auto& [key, instance] : now.instances) add("is " + line(instance));
    add("that is all");
  }
  void plugins_changed(const PluginSnapshot&, const PluginChanges& changes) override {
    EXPECT_FALSE(changes.empty());
    for (const auto& version : changes.versions) add(line(version.now));
    for (const auto& instance : changes.instances) add(line(instance.now));
    for (const InstanceState& instance : changes.removed_instances)
      add(instance.lane_id + " is gone");
  }

  // Waits for it; the bound is only there to end a broken test.
  bool has(const std::string& expected) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, ample, [&] {
      return std::find(lines_.begin(), lines_.end(), expected) != lines_.end();
    });
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  static std::string line(const VersionState& version) {
    return version.version + " " + name_of(version.state);
  }
  static std::string line(const InstanceState& instance) {
    return instance.lane_id + " " + name_of(instance.state) + " " +
           std::string(instance.description->at("version").as_string());
  }
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(text));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

class Changes : public LoaderFixture {
 protected:
  static InstanceSpec spec(Isolation isolation = Isolation::process) {
    return {.instance_id = "it", .plugin_id = "provider/good", .isolation = isolation};
  }
  // All that was to be told has been told: a listener that comes now is served after the others.
  void settle() {
    Notes last;
    const PluginSubscription subscription = catalog_->subscribe(last);
    EXPECT_TRUE(last.has("that is all"));
  }
  Notes notes_;
};

TEST_F(Changes, begin_with_how_things_are) {
  drop("good", "1.0.0");
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  EXPECT_TRUE(notes_.has("that is all"));
  settle();
  EXPECT_THAT(notes_.take(), ElementsAre("is 1.0.0 active", "is it active 1.0.0", "that is all"));
}

TEST_F(Changes, tell_of_a_plugin_that_is_dropped_in) {
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  drop("good", "1.0.0");
  catalog_->rescan();
  EXPECT_TRUE(notes_.has("1.0.0 active"));
  EXPECT_TRUE(notes_.has("it active 1.0.0"));
}

TEST_F(Changes, tell_of_another_version_until_the_old_one_has_retired) {
  for (const Isolation isolation : {Isolation::in_process, Isolation::process}) {
    drop("good", "1.0.0");
    open({spec(isolation)});
    const auto subscription = catalog_->subscribe(notes_);
    ASSERT_TRUE(notes_.has("that is all"));
    drop("good", "2.0.0");
    catalog_->rescan();
    EXPECT_TRUE(notes_.has("it active 2.0.0"));
    EXPECT_TRUE(notes_.has("2.0.0 active"));
    EXPECT_TRUE(notes_.has("1.0.0 retired"));
    notes_.take();
  }
}

TEST_F(Changes, tell_of_a_broken_version_once) {
  drop("good", "1.0.0");
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  drop("good", "9.0.0");
  catalog_->rescan();
  EXPECT_TRUE(notes_.has("9.0.0 rejected"));
  notes_.take();
  catalog_->rescan();
  settle();
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(Changes, tell_of_a_file_that_is_no_plugin_once) {
  open();
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  fs::create_directories(folder_ / "odd");
  ASSERT_TRUE(write_file_atomically(folder_ / "odd" / "plugin.toml", "name = 7\n"));
  catalog_->rescan();
  EXPECT_TRUE(notes_.has(" rejected"));
  notes_.take();
  catalog_->rescan();
  settle();
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(Changes, tell_of_a_quarantine_and_of_its_end) {
  drop("good", "1.0.0");
  settings_.supervision.max_losses = 1;
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  ::kill(static_cast<pid_t>(*status_of("provider/good").instances.front().pid), SIGKILL);
  EXPECT_TRUE(notes_.has("it quarantined 1.0.0"));
  EXPECT_TRUE(notes_.has("1.0.0 quarantined"));
  drop("good", "2.0.0");
  catalog_->rescan();
  EXPECT_TRUE(notes_.has("it active 2.0.0"));
  EXPECT_TRUE(notes_.has("2.0.0 active"));
}

TEST_F(Changes, tell_when_a_killed_cell_is_back) {
  drop("good", "1.0.0");
  settings_.supervision.first_backoff = 1h;
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  ::kill(static_cast<pid_t>(*status_of("provider/good").instances.front().pid), SIGKILL);
  EXPECT_TRUE(notes_.has("it stuck 1.0.0"));
  notes_.take();
  InstanceSpec changed = spec();
  changed.deadline = 1min;  // a reload makes it anew at once
  catalog_->configure(settings_.folders, {changed});
  EXPECT_TRUE(notes_.has("it active 1.0.0"));
}

TEST_F(Changes, tell_of_instances_and_lanes_that_a_reload_adds_and_takes_away) {
  drop("good", "1.0.0");
  open({spec()});
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  InstanceSpec wide = spec();
  wide.concurrency = 2;
  catalog_->configure(settings_.folders, {wide});
  EXPECT_TRUE(notes_.has("it#2 active 1.0.0"));
  EXPECT_THAT(notes_.take(), Not(Contains("it active 1.0.0")));
  catalog_->configure(settings_.folders, {});
  EXPECT_TRUE(notes_.has("it is gone"));
  EXPECT_TRUE(notes_.has("it#2 is gone"));
  EXPECT_TRUE(notes_.has("good-standby active 1.0.0"));
}

// A version that is rolled back to is listed twice, with two states.
TEST_F(Changes, are_not_told_again_after_a_rollback) {
  drop("good", "1.0.0");
  open({spec()});
  drop("good", "2.0.0");
  catalog_->rescan();
  const auto subscription = catalog_->subscribe(notes_);
  ASSERT_TRUE(notes_.has("that is all"));
  ASSERT_TRUE(catalog_->rollback("provider/good"));
  EXPECT_TRUE(notes_.has("it active 1.0.0"));
  EXPECT_TRUE(notes_.has("1.0.0 active"));
  EXPECT_TRUE(notes_.has("2.0.0 retired"));
  notes_.take();
  catalog_->rescan();
  settle();
  EXPECT_THAT(notes_.take(), ElementsAre());
}

// ----------------------------------------------------------------------------------------------------
// Subscriptions

class Feed : public ::testing::Test {
 protected:
  PluginSnapshot now() {
    const std::lock_guard lock(mutex_);
    PluginSnapshot snapshot;
    snapshot.versions[{"provider/x", std::to_string(version_)}] = {
        "provider/x", std::to_string(version_), std::to_string(version_), PluginState::active};
    return snapshot;
  }
  void change() {
    {
      const std::lock_guard lock(mutex_);
      ++version_;
    }
    feed_->changed();
  }

  std::mutex mutex_;
  int version_ = 1;
  std::unique_ptr<PluginChangeFeed> feed_ =
      std::make_unique<PluginChangeFeed>([this] { return now(); });
};

TEST_F(Feed, leaves_a_listener_alone_that_has_unsubscribed) {
  Notes leaving, staying;
  const auto kept = feed_->subscribe(staying);
  {
    const auto subscription = feed_->subscribe(leaving);
    ASSERT_TRUE(leaving.has("is 1 active"));
  }
  change();
  EXPECT_TRUE(staying.has("2 active"));
  EXPECT_THAT(leaving.take(), ElementsAre("is 1 active", "that is all"));
}

TEST_F(Feed, is_silent_when_nothing_is_different) {
  Notes notes;
  const auto subscription = feed_->subscribe(notes);
  ASSERT_TRUE(notes.has("that is all"));
  for (int i = 0; i < 10; ++i) feed_->changed();
  change();
  EXPECT_TRUE(notes.has("2 active"));
  EXPECT_THAT(notes.take(), ElementsAre("is 1 active", "that is all", "2 active"));
}

struct Blocking final : PluginListener {
  void plugins_are(const PluginSnapshot&) override {
    entered.set_value();
    go_on.get_future().wait();
    over = true;
  }
  void plugins_changed(const PluginSnapshot&, const PluginChanges&) override {}
  std::promise<void> entered, go_on;
  std::atomic<bool> over = false;
};

TEST_F(Feed, an_end_of_a_subscription_waits_for_a_call_that_is_under_way) {
  Blocking listener;
  auto subscription = feed_->subscribe(listener);
  listener.entered.get_future().wait();
  std::thread ending([&] {
    subscription = PluginSubscription();
    EXPECT_TRUE(listener.over);
  });
  listener.go_on.set_value();
  ending.join();
}

TEST_F(Feed, a_listener_may_end_its_own_subscription) {
  struct Once final : PluginListener {
    void plugins_are(const PluginSnapshot&) override {
      std::unique_lock lock(mutex);
      subscribed.wait(lock, [&] { return subscription.has_value(); });
      subscription.reset();
      ++calls;
      subscribed.notify_all();
    }
    void plugins_changed(const PluginSnapshot&, const PluginChanges&) override { ++calls; }
    std::mutex mutex;
    std::condition_variable subscribed;
    std::optional<PluginSubscription> subscription;
    int calls = 0;
  } once;
  {
    auto made = feed_->subscribe(once);
    std::unique_lock lock(once.mutex);
    once.subscription = std::move(made);
    once.subscribed.notify_all();
    once.subscribed.wait(lock, [&] { return once.calls == 1; });
  }
  Notes other;
  const auto subscription = feed_->subscribe(other);
  change();
  EXPECT_TRUE(other.has("that is all"));
  EXPECT_EQ(once.calls, 1);
}

TEST_F(Feed, a_subscription_may_outlive_the_feed) {
  Notes notes;
  const auto subscription = feed_->subscribe(notes);
  ASSERT_TRUE(notes.has("that is all"));
  feed_.reset();
}

}  // namespace
}  // namespace muster::plugin_loader
