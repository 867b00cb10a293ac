#include "lib/http/worker_threads.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "lib/http/router.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::http {
namespace {

TEST(WorkerThreadsTest, a_full_line_is_refused_and_what_waited_is_dropped_at_the_end) {
  std::promise<void> started, release;
  std::atomic<int> ran = 0;
  {
    WorkerThreads workers(1, 2, Log());
    workers.run([&] {
      started.set_value();
      release.get_future().wait();
      ++ran;
    });
    started.get_future().wait();
    EXPECT_TRUE(workers.run([&] { ++ran; }));
    EXPECT_TRUE(workers.run([&] { ++ran; }));
    EXPECT_FALSE(workers.run([&] { ++ran; }));
    release.set_value();
  }
  EXPECT_GE(ran, 1);
}

TEST(WorkerThreadsTest, work_that_throws_is_logged_and_the_thread_goes_on) {
  const auto lines = std::make_shared<testing::RecordedLog>();
  std::promise<void> done;
  WorkerThreads workers(1, 10, Log(lines, LogLevel::info, LogFormat::text));
  workers.run([] { throw std::runtime_error("the reason"); });
  workers.run([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_TRUE(lines->contains("the reason"));
}

TEST(WorkerThreadsTest, later_answers_from_a_worker_and_says_503_when_the_line_is_full) {
  std::promise<void> started, release;
  auto released = release.get_future().share();
  WorkerThreads workers(1, 0, Log());
  const Handler handler = later(workers, [](const Request&) { return Response{200, {}, "x"}; });
  std::promise<int> status;
  handler(Request{}, Reply([&](Response&& answer) { status.set_value(answer.status); }, Request{}));
  EXPECT_EQ(status.get_future().get(), 503);

  WorkerThreads roomy(1, 1, Log());
  const auto here = std::this_thread::get_id();
  const Handler good = later(roomy, [here](const Request&) {
    return Response{std::this_thread::get_id() == here ? 500 : 200, {}, ""};
  });
  std::promise<int> second;
  good(Request{}, Reply([&](Response&& answer) { second.set_value(answer.status); }, Request{}));
  EXPECT_EQ(second.get_future().get(), 200);
}

}  // namespace
}  // namespace muster::http
