#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "host/demand/source.hpp"
#include "lib/http_client/client.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::demand {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// Real time, so that signatures are fresh.
class NowContext final : public Context {
 public:
  bool cancelled() const noexcept override { return time_left() == 0ms; }
  std::chrono::milliseconds time_left() const noexcept override {
    return std::max(0ms, std::chrono::duration_cast<std::chrono::milliseconds>(
                             until_ - std::chrono::steady_clock::now()));
  }
  Time now() const noexcept override {
    return std::chrono::time_point_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now());
  }
  void log(LogLevel, std::string_view) const noexcept override {}
  void give(std::chrono::milliseconds time) { until_ = std::chrono::steady_clock::now() + time; }

 private:
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + 60s;
};

std::vector<WorkerPoolId> pools_of(const std::vector<std::string>& names) {
  std::vector<WorkerPoolId> pools;
  for (const std::string& name : names) pools.emplace_back("p/" + name);
  return pools;
}

void write_secret(const fs::path& file, const std::string& text, mode_t mode = 0600) {
  std::ofstream(file) << text;
  ::chmod(file.c_str(), mode);
}

TEST(FileSource, what_cannot_be_read_is_an_error) {
  const testing::TemporaryFolder folder;
  config::DemandSettings settings;
  testing::FakeContext context;
  settings.file = folder / "demand.json";
  EXPECT_FALSE(file_source(settings)->poll({}, context));
  for (const char* text : {"", "{", "[]", "3", "{\"a\":1,\"a\":2}"}) {
    std::ofstream(settings.file) << text;
    EXPECT_FALSE(file_source(settings)->poll({}, context)) << text;
  }
  settings.file = folder / "demand.toml";
  std::ofstream(settings.file) << "\"p/a\" = \n";
  EXPECT_THAT(file_source(settings)->poll({}, context).error().message, HasSubstr("line 1"));
}

TEST(FileSource, is_as_old_as_the_file) {
  const testing::TemporaryFolder folder;
  config::DemandSettings settings;
  testing::FakeContext context;
  settings.file = folder / "demand.json";
  std::ofstream(settings.file) << R"({"p/a": 3})";
  const auto written = context.now() - 1h;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(written.time_since_epoch());
  const timespec times[2] = {{seconds.count(), 0}, {seconds.count(), 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, settings.file.c_str(), times, 0), 0);
  const auto answer = file_source(settings)->poll(pools_of({"a", "b"}), context).value();
  EXPECT_EQ(answer.counts.at(WorkerPoolId("p/a")), (Count{3, {}, written}));
  EXPECT_EQ(answer.counts.at(WorkerPoolId("p/b")), (Count{0, {}, written}));
}

TEST(FileSource, may_be_toml) {
  const testing::TemporaryFolder folder;
  config::DemandSettings settings;
  settings.file = folder / "demand.toml";
  std::ofstream(settings.file)
      << "\"p/a\" = 3\n\"p/b\" = { pending = 1, claimed = 2 }\n\"p/x\" = 1\n";
  const auto answer =
      file_source(settings)->poll(pools_of({"a", "b"}), testing::FakeContext()).value();
  EXPECT_EQ(answer.counts.at(WorkerPoolId("p/a")).pending, 3);
  EXPECT_EQ(answer.counts.at(WorkerPoolId("p/b")).claimed, 2);
  EXPECT_EQ(answer.unknown_pools, std::vector<std::string>{"p/x"});
}

class Queue : public ::testing::Test {
 protected:
  explicit Queue(const std::vector<std::string>& environment = {})
      : service_(MUSTER_TEST_FOLDER "/queue.py", {}, environment) {
    settings.name = "queue";
    settings.root_url = service_.url() + "/base/";
    settings.client_id = "muster";
    settings.access_token_file = folder / "token";
    settings.interval = 1ms;
    settings.timeout = 10s;
    write_secret(folder / "token", "very-secret-access-token\n");
  }

  json::object seen() {
    const std::string body =
        http_client::Client({}).send({.url = service_.url() + "/seen"}).value().body;
    return json::parse_object(body).value();
  }

  testing::TemporaryFolder folder;
  testing::PythonService service_;
  config::DemandSettings settings;
  NowContext context;
};

TEST_F(Queue, secrets_that_others_can_read_are_refused_before_anybody_is_asked) {
  write_secret(folder / "token", "very-secret-access-token", 0644);
  const auto answer = taskcluster_source(settings)->poll(pools_of({"a1"}), context);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::config);
  EXPECT_THAT(answer.error().message, ::testing::Not(HasSubstr("very-secret")));
  EXPECT_EQ(seen().at("requests"), 0);
}

TEST_F(Queue, a_wrong_token_is_one_error_for_all) {
  write_secret(folder / "token", "another");
  const auto answer = taskcluster_source(settings)->poll(pools_of({"a1", "a2"}), context);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::auth);
  EXPECT_THAT(answer.error().message, HasSubstr("401 AuthenticationFailed"));
}

TEST_F(Queue, pools_that_fail_do_not_disturb_the_others) {
  settings.timeout = 300ms;
  const auto answer = taskcluster_source(settings)->poll(
      pools_of({"a7", "broken", "garbage", "negative", "forbidden", "huge", "slow", "b-x9"}),
      context);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->counts.size(), 2u);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/a7")).pending, 7);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/b-x9")).claimed, 1);
  const auto says = [&](const char* pool, const char* what) {
    EXPECT_THAT(answer->pool_errors.at(WorkerPoolId(std::string("p/") + pool)), HasSubstr(what));
  };
  says("broken", "answered 500");
  says("garbage", "no JSON");
  says("negative", "pendingTasks");
  says("forbidden", "queue:pending-count:p/forbidden");
  says("huge", "more than 65536 bytes");
  says("slow", "imeout");
}

TEST_F(Queue, thousands_of_pools_share_few_connections) {
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("pool-" + std::to_string(i));
  settings.at_once = 8;
  const auto source = taskcluster_source(settings);
  const auto answer = source->poll(pools_of(names), context);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->pool_errors.empty());
  ASSERT_EQ(answer->counts.size(), 5000u);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/pool-4999")).pending, 4999);
  const json::object seen_then = seen();
  EXPECT_EQ(seen_then.at("requests"), 5000);
  EXPECT_LE(seen_then.at("most").get_int64(), 8);
  EXPECT_LE(seen_then.at("connections").get_int64(), 10);
}

TEST_F(Queue, what_was_asked_just_now_is_not_asked_again) {
  settings.interval = 1h;
  const auto source = taskcluster_source(settings);
  ASSERT_TRUE(source->poll(pools_of({"a1", "a2"}), context));
  const auto answer = source->poll(pools_of({"a1", "a2", "a3"}), context);
  EXPECT_EQ(answer->counts.size(), 3u);
  EXPECT_EQ(seen().at("requests"), 3);
}

TEST_F(Queue, gives_up_by_its_deadline) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("slow" + std::to_string(i));
  context.give(300ms);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(taskcluster_source(settings)->poll(pools_of(names), context));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_F(Queue, a_server_that_is_down_is_not_asked_a_thousand_times) {
  settings.root_url = "http://127.0.0.1:1";
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("a" + std::to_string(i));
  const auto answer = taskcluster_source(settings)->poll(pools_of(names), context);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::transient);
}

class QueueWithAnotherTime : public Queue {
 protected:
  QueueWithAnotherTime() : Queue({"SKEW=7200"}) {}
};
TEST_F(QueueWithAnotherTime, is_asked_again_with_its_own_time) {
  const auto source = taskcluster_source(settings);
  auto answer = source->poll(pools_of({"a1", "a2", "a3"}), context);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->counts.size(), 3u);
  const auto refused = seen().at("refused").get_int64();
  EXPECT_LE(refused, 3);
  context.give(30s);
  ASSERT_TRUE(source->poll(pools_of({"a1", "a2", "a3", "a4"}), context));
  EXPECT_EQ(seen().at("refused").get_int64(), refused);  // it has learnt
}

class QueueWithOnlyADate : public Queue {
 protected:
  QueueWithOnlyADate() : Queue({"SKEW=-7200", "LEGACY=1"}) {}
};
TEST_F(QueueWithOnlyADate, is_understood_too) {
  const auto answer = taskcluster_source(settings)->poll(pools_of({"a1"}), context);
  ASSERT_TRUE(answer) << answer.error().message;
}

constexpr const char* certificate = R"({"version": 1, "scopes": ["a"], "seed": "x/y+z"})";
class QueueForTemporaryCredentials : public Queue {
 protected:
  QueueForTemporaryCredentials() : Queue({std::string("CERTIFICATE=") + certificate}) {}
};
TEST_F(QueueForTemporaryCredentials, is_shown_the_certificate) {
  EXPECT_FALSE(taskcluster_source(settings)->poll(pools_of({"a1"}), context));
  settings.certificate_file = folder / "certificate";
  write_secret(folder / "certificate", "{\n");
  EXPECT_EQ(taskcluster_source(settings)->poll(pools_of({"a1"}), context).error().error_class,
            ErrorClass::config);
  write_secret(folder / "certificate", std::string(certificate) + "\n");
  const auto answer = taskcluster_source(settings)->poll(pools_of({"a1"}), context);
  ASSERT_TRUE(answer) << answer.error().message;
}

class Endpoint : public Queue {
 protected:
  Result<Answer> ask(const std::string& path, const std::vector<std::string>& names = {"a", "b"}) {
    settings.type = config::DemandType::http;
    settings.url = service_.url() + path;
    settings.token_file = folder / "bearer";
    write_secret(folder / "bearer", "token-of-the-queue\n");
    return make_source(settings)->poll(pools_of(names), context);
  }
};

TEST_F(Endpoint, answers_that_are_none_are_errors) {
  EXPECT_EQ(ask("/pending/garbage").error().error_class, ErrorClass::invalid);
  EXPECT_EQ(ask("/pending/list").error().error_class, ErrorClass::invalid);
  EXPECT_THAT(ask("/pending/redirect").error().message, HasSubstr("302"));
  EXPECT_THAT(ask("/pending/failing").error().message, HasSubstr("500"));
  EXPECT_THAT(ask("/pending/huge").error().message, HasSubstr("more than"));
  settings.token_file.clear();
  settings.url = service_.url() + "/pending/good";
  EXPECT_EQ(http_source(settings)->poll({}, context).error().error_class, ErrorClass::auth);
  settings.url = "http://127.0.0.1:1/";
  EXPECT_EQ(http_source(settings)->poll({}, context).error().error_class, ErrorClass::transient);
}

TEST_F(Endpoint, odd_values_are_errors_of_their_pools_alone) {
  const auto answer = ask("/pending/odd", {"a", "b", "c", "d", "e", "f", "g"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->pool_errors.size(), 5u);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/f")).pending, 6);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/g")).pending, 0);
  EXPECT_THAT(answer->pool_errors.at(WorkerPoolId("p/d")), HasSubstr("unknown key"));
}

TEST_F(Endpoint, is_shown_the_token_and_believed) {
  const auto answer = ask("/pending/good");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/a")).pending, 3);
  EXPECT_EQ(answer->counts.at(WorkerPoolId("p/b")).claimed, 1);
  EXPECT_EQ(answer->unknown_pools, std::vector<std::string>{"p/unknown"});
}

}  // namespace
}  // namespace muster::demand
