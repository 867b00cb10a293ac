// What workers print: sent by their agents, bounded, read by those who may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/taskcluster_api/fixture.hpp"

namespace muster::testing {
namespace {

using taskcluster_api::Fixture;
using taskcluster_api::Reply;
using ::testing::HasSubstr;
using worker_logs::LogStore;

std::string text_of(const LogStore& store, const std::string& worker, std::int64_t from = 0) {
  const auto part = store.read(worker, from);
  return part ? part->text : "(none)";
}

TEST(WorkerLogs, are_read_on_from_where_the_last_answer_ended) {
  LogStore store;
  EXPECT_FALSE(store.read("w", 0));
  store.append("w", {0, 4, "one\n"});
  store.append("w", {4, 8, "two\n"});
  EXPECT_EQ(text_of(store, "w"), "one\ntwo\n");
  EXPECT_EQ(text_of(store, "w", 4), "two\n");
  EXPECT_EQ(text_of(store, "w", 8), "");
  EXPECT_EQ(text_of(store, "w", 1000), "");
}

TEST(WorkerLogs, a_part_that_is_sent_twice_counts_once) {
  LogStore store;
  store.append("w", {0, 4, "one\n"});
  store.append("w", {0, 4, "one\n"});
  EXPECT_EQ(text_of(store, "w"), "one\n");
}

TEST(WorkerLogs, say_what_is_missing) {
  LogStore store;
  store.append("w", {100, 104, "one\n"});
  store.append("w", {0, 4, "two\n"});
  EXPECT_EQ(text_of(store, "w"), "[100 bytes are not kept]\none\n[the agent began anew]\ntwo\n");
}

TEST(WorkerLogs, keep_the_newest_of_each_worker_and_of_all) {
  LogStore store({.bytes_of_worker = 10, .bytes_of_all = 25, .longest_part = 10});
  store.append("a", {0, 12, "0123456789ab"});
  EXPECT_EQ(text_of(store, "a"), "23456789ab");
  EXPECT_EQ(store.read("a", 0)->from, 2);
  store.append("b", {0, 10, "bbbbbbbbbb"});
  store.append("a", {12, 13, "c"});
  store.append("c", {0, 10, "cccccccccc"});
  EXPECT_EQ(text_of(store, "b"), "(none)") << "it was silent the longest";
  EXPECT_EQ(text_of(store, "a"), "3456789abc");
  EXPECT_LE(store.bytes(), 25U);
}

constexpr const char* log_path = "/api/muster/v1/pools/p%2Frack/workers/g/w/log";

std::unique_ptr<Fixture> with_worker() {
  auto host = std::make_unique<Fixture>();
  EXPECT_EQ(host->call("createWorkerPool", {"p/rack"}, {.body = host->pool_body()}).status, 200);
  EXPECT_EQ(host->call("createWorker", {"p/rack", "g", "w"}, {.body = host->machine_body()}).status,
            200);
  return host;
}

TEST(WorkerLogs, only_the_worker_itself_may_send_and_only_readers_of_logs_may_read) {
  const auto host = with_worker();
  const std::string body = R"({"from": 0, "next": 3, "text": "hi\n"})";
  const std::string own = host->client({"worker-manager:should-worker-terminate:p/rack/g/w"});
  const std::string other = host->client({"worker-manager:should-worker-terminate:p/rack/g/x"});
  EXPECT_EQ(host->send("POST", log_path, {.token = other}, body).status, 403);
  EXPECT_EQ(host->send("POST", log_path, {.token = own}, body).status, 200);
  EXPECT_EQ(host->send("GET", log_path, {.token = own}).status, 403);
  EXPECT_EQ(
      host->send("GET", log_path, {.token = host->client({"muster:get:logs:p/other"})}).status,
      403);
  const Reply log =
      host->send("GET", log_path, {.token = host->client({"muster:get:logs:p/rack"})});
  EXPECT_EQ(log.status, 200) << log.text;
  EXPECT_EQ(log.field("text"), "hi\n");
  EXPECT_EQ(log.at("next").as_int64(), 3);
}

TEST(WorkerLogs, a_report_that_is_wrong_or_too_large_is_refused) {
  const auto host = with_worker();
  for (const std::string& body :
       {std::string(R"({"from": 4, "next": 3, "text": "x"})"),
        std::string(R"({"from": -1, "next": 3, "text": "x"})"),
        std::string(R"({"from": 0, "next": 3})"),
        std::string(R"({"from": 0, "next": 3, "text": "x", "more": 1})"),
        R"({"from": 0, "next": 3, "text": ")" + std::string(20'000, 'x') + R"("})"})
    EXPECT_EQ(host->send("POST", log_path, {}, body).status, 400) << body.substr(0, 60);
  EXPECT_EQ(host->send("POST", "/api/muster/v1/pools/p%2Frack/workers/g/none/log", {},
                       R"({"from": 0, "next": 1, "text": "x"})")
                .status,
            404);
  EXPECT_EQ(host->send("GET", "/api/muster/v1/pools/p%2Frack/workers/g/none/log").status, 404);
}

TEST(WorkerLogs, a_worker_that_has_said_nothing_has_an_empty_log) {
  const Reply log = with_worker()->send("GET", log_path);
  EXPECT_EQ(log.status, 200);
  EXPECT_EQ(log.field("text"), "");
}

}  // namespace
}  // namespace muster::testing
