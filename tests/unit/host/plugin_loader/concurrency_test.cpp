// `concurrency = N`: N lanes, each an instance of the plugin of its own, which take calls at the
// same time.
#include <fcntl.h>
#include <functional>
#include <pthread.h>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

using ::testing::HasSubstr;

constexpr unsigned lanes = 3;

// A barrier in a file, for threads of several processes.
class SharedBarrier {
 public:
  SharedBarrier(fs::path path, unsigned count) : path_(std::move(path)) {
    std::ofstream(path_) << std::string(sizeof(pthread_barrier_t), '\0');
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    barrier_ = static_cast<pthread_barrier_t*>(
        ::mmap(nullptr, sizeof *barrier_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ::close(file);
    pthread_barrierattr_t attributes;
    ::pthread_barrierattr_init(&attributes);
    ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(barrier_, &attributes, count);
    ::pthread_barrierattr_destroy(&attributes);
  }
  ~SharedBarrier() { ::munmap(barrier_, sizeof *barrier_); }
  SharedBarrier(const SharedBarrier&) = delete;
  SharedBarrier& operator=(const SharedBarrier&) = delete;

  std::string request() const { return R"({"barrier":")" + path_.string() + "\"}"; }

 private:
  const fs::path path_;
  pthread_barrier_t* barrier_ = nullptr;
};

class Concurrency : public LoaderFixture, public ::testing::WithParamInterface<Isolation> {
 protected:
  InstanceSpec spec(const std::string& plugin, std::int64_t concurrency) const {
    return {.instance_id = "it",
            .plugin_id = "provider/" + plugin,
            .isolation = GetParam(),
            .concurrency = concurrency};
  }

  // Which instances served `count` calls that all had to be inside before one of them returned.
  std::set<std::string> meet(unsigned count, const std::function<std::shared_ptr<Channel>()>& way) {
    const SharedBarrier barrier(home_ / "barrier", count);
    std::set<std::string> served;
    std::mutex mutex;
    std::vector<std::thread> callers;
    for (unsigned i = 0; i < count; ++i)
      callers.emplace_back([&] {
        const auto answer = way()->call("meet", barrier.request(), DeadlineContext(20s));
        const std::lock_guard lock(mutex);
        served.insert(answer ? *answer : answer.error().message);
      });
    for (std::thread& caller : callers) caller.join();
    return served;
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, Concurrency,
                         ::testing::Values(Isolation::in_process, Isolation::process),
                         [](const auto& transport) {
                           return std::string(to_string(transport.param));
                         });

TEST_P(Concurrency, so_many_calls_run_at_the_same_time_each_in_an_instance_of_its_own) {
  drop("meets_others");
  open({spec("meets_others", lanes)});
  // As the fleet does it: each call asks the catalog for the way.
  const auto served = meet(lanes, [&] { return catalog_->channel("it"); });
  EXPECT_EQ(served.size(), lanes) << ::testing::PrintToString(served);
}

TEST_P(Concurrency, a_channel_that_is_held_uses_all_lanes_too) {
  drop("meets_others");
  open({spec("meets_others", lanes)});
  const auto channel = catalog_->channel("it");
  const auto served = meet(lanes, [&] { return channel; });
  EXPECT_EQ(served.size(), lanes) << ::testing::PrintToString(served);
}

TEST_P(Concurrency, a_reload_changes_it_for_a_channel_that_is_held) {
  drop("meets_others");
  open({spec("meets_others", 1)});
  const auto channel = catalog_->channel("it");
  catalog_->configure(settings_.folders, {spec("meets_others", lanes)});
  EXPECT_EQ(meet(lanes, [&] { return channel; }).size(), lanes);
  catalog_->configure(settings_.folders, {spec("meets_others", 1)});
  EXPECT_EQ(status_of("provider/meets_others").instances.size(), 1U);
  EXPECT_EQ(meet(1, [&] { return channel; }).size(), 1U);
}

TEST_P(Concurrency, a_reload_changes_the_deadline_of_calls_too) {
  drop("misbehaves");
  InstanceSpec patient = spec("misbehaves", 1);
  patient.deadline = 1h;
  open({patient});
  InstanceSpec impatient = patient;
  impatient.deadline = 30ms;
  catalog_->configure(settings_.folders, {impatient});
  EXPECT_EQ(ask(catalog_->channel("it"), "wait", 1h), "cancelled: gave up politely");
}

TEST_P(Concurrency, a_lane_in_quarantine_gets_no_calls_while_another_one_serves) {
  drop("misbehaves");
  open({spec("misbehaves", 2)});
  const auto channel = catalog_->channel("it");
  EXPECT_THAT(ask(channel, "throw across"), HasSubstr("an exception crossed the boundary"));
  EXPECT_EQ(status_of("provider/misbehaves").state, PluginState::quarantined);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
  EXPECT_THAT(ask(channel, "throw across"), HasSubstr("an exception crossed the boundary"));
  EXPECT_THAT(ask(channel, "echo"), HasSubstr("the plugin provider/misbehaves is quarantined"));
}

TEST_P(Concurrency, a_wrong_answer_counts_against_the_lane_that_gave_it) {
  drop("misbehaves");
  open({spec("misbehaves", 2)});
  const auto channel = catalog_->channel("it");
  ask(channel, "throw across");  // the first lane is out, so the second answers
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ask(channel, "echo"), R"({"do":"echo"})");
    channel->answer_was_wrong("placements", "nonsense");
  }
  EXPECT_THAT(ask(channel, "echo"), HasSubstr("the plugin provider/misbehaves is quarantined"));
}

TEST_P(Concurrency, an_instance_that_is_no_longer_configured_answers_no_more) {
  drop("meets_others");
  open({spec("meets_others", 2)});
  const auto channel = catalog_->channel("it");
  catalog_->configure(settings_.folders, {});
  EXPECT_EQ(catalog_->channel("it"), nullptr);
  EXPECT_EQ(channel->call("who", "{}", DeadlineContext(ample)).error(),
            Error::transient("the plugin instance it is no longer configured"));
}

}  // namespace
}  // namespace muster::plugin_loader
