#include <chrono>
#include <functional>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Errors : ::testing::Test {
  Fixture fixture;

  void SetUp() override {
    ASSERT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
    ASSERT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
  }

  json::object report(const std::string& title, json::object extra = {}) const {
    return {{"workerGroup", "g"},
            {"workerId", "m"},
            {"kind", "worker-error"},
            {"title", title},
            {"description", "it does not work"},
            {"extra", std::move(extra)}};
  }
};

TEST_F(Errors, a_worker_reports_only_about_itself) {
  const std::string token =
      fixture.client({"assume:worker-pool:p/w", "assume:worker-id:g/another"});
  const Reply reply =
      fixture.call("reportWorkerError", {"p/w"}, {.body = report("disk"), .token = token});
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.message(), HasSubstr("assume:worker-id:g/m"));
}

TEST_F(Errors, of_nobody_are_not_found) {
  EXPECT_EQ(fixture.call("reportWorkerError", {"p/none"}, {.body = report("disk")}).status, 404);
  json::object body = report("disk");
  body["workerId"] = "nobody";
  EXPECT_EQ(fixture.call("reportWorkerError", {"p/w"}, {.body = body}).status, 404);
  body = report(std::string(129, 'x'));
  EXPECT_EQ(fixture.call("reportWorkerError", {"p/w"}, {.body = body}).code(),
            "InputValidationError");
}

TEST_F(Errors, that_are_too_large_or_too_many_are_refused_with_a_sentence) {
  const Reply large = fixture.call("reportWorkerError", {"p/w"},
                                   {.body = report("disk", {{"log", std::string(1 << 20, 'x')}})});
  EXPECT_EQ(large.status, 400);
  EXPECT_THAT(large.message(), HasSubstr("a report may have 16384"));
  std::map<int, int> statuses;
  for (int i = 0; i < 60; ++i)
    ++statuses[fixture.call("reportWorkerError", {"p/w"}, {.body = report("disk")}).status];
  EXPECT_EQ(statuses, (std::map<int, int>{{200, 20}, {429, 40}}));
  const Reply listed = fixture.call("listWorkerPoolErrors", {"p/w"});
  EXPECT_EQ(listed.at("workerPoolErrors").as_array().size(), 20u);
}

// As a host before the limits has left them: twenty errors of a megabyte, in two pools.
struct LargeErrors : Errors {
  static constexpr std::size_t count = 20;

  void SetUp() override {
    Errors::SetUp();
    store::Batch rows;
    for (std::int64_t number = 1'000'000; number < 1'000'020; ++number)
      rows.push_back(store::put(
          fleet::PoolErrorRow{.worker_pool_id = WorkerPoolId(number % 2 ? "p/w" : "p/other"),
                              .number = number,
                              .at = Time(1h),
                              .kind = "k",
                              .title = std::to_string(number),
                              .description = "d",
                              .launch_config_id = LaunchConfigId("c"),
                              .extra = {{"log", std::string(1 << 20, 'x')}}}));
    ASSERT_TRUE(fixture.store.commit(rows));
  }

  // All titles, page by page in falling order; `next` is the query of the page after.
  std::size_t walk(const std::function<Reply(const std::string&)>& page_of, const char* list,
                   const std::function<std::string(const json::object&)>& next) {
    std::string query, last = "~";
    std::size_t seen = 0;
    for (pages = 1; pages < 100; ++pages) {
      const Reply page = page_of(query);
      EXPECT_EQ(page.status, 200) << page.text;
      EXPECT_LT(page.text.size(), std::size_t{6} << 20);
      for (const json::value& error : page.at(list).as_array()) {
        const std::string title(error.at("title").as_string());
        EXPECT_LT(title, last);
        last = title;
        ++seen;
      }
      query = next(page.body.as_object());
      if (query.empty()) break;
    }
    return seen;
  }
  std::size_t walk_own(const std::string& path) {
    return walk(
        [&](const std::string& query) {
          return fixture.send("GET", "/api/muster/v1" + path, {.query = query});
        },
        "errors",
        [](const json::object& page) {
          const json::value* number = page.if_contains("next");
          return number ? "before=" + std::to_string(number->as_int64()) : "";
        });
  }
  std::size_t pages = 0;
};

TEST_F(LargeErrors, come_in_pages_of_bounded_size_and_none_is_missing) {
  const std::size_t seen = walk(
      [&](const std::string& query) {
        return fixture.call("listWorkerPoolErrors", {"p/w"}, {.query = query});
      },
      "workerPoolErrors",
      [](const json::object& page) {
        const json::value* token = page.if_contains("continuationToken");
        return token ? "continuationToken=" + std::string(token->as_string()) : "";
      });
  EXPECT_EQ(seen, count / 2);
  EXPECT_EQ(pages, 3u);
}

TEST_F(LargeErrors, come_in_such_pages_of_the_own_api_too) {
  EXPECT_EQ(walk_own("/pools/p%2Fw/errors"), count / 2);
  EXPECT_EQ(pages, 3u);
  EXPECT_EQ(walk_own("/errors"), count);
  EXPECT_GE(pages, 5u);
}

TEST_F(Errors, are_listed_the_newest_first) {
  const std::string token = fixture.client({"assume:worker-pool:p/w", "assume:worker-id:g/m"});
  for (const char* title : {"one", "two", "three"}) {
    const Reply reply =
        fixture.call("reportWorkerError", {"p/w"}, {.body = report(title), .token = token});
    ASSERT_EQ(reply.status, 200) << reply.text;
    EXPECT_EQ(reply.at("extra"), json::value({{"workerGroup", "g"}, {"workerId", "m"}}));
    EXPECT_TRUE(reply.body.as_object().contains("launchConfigId"));
  }
  const auto titles = [](const Reply& reply) {
    std::string all;
    for (const json::value& error : reply.at("workerPoolErrors").as_array())
      all += std::string(error.at("title").as_string()) + " ";
    return all;
  };
  const Reply first = fixture.call("listWorkerPoolErrors", {"p/w"}, {.query = "limit=2"});
  EXPECT_EQ(titles(first), "three two ");
  const Reply second =
      fixture.call("listWorkerPoolErrors", {"p/w"},
                   {.query = "limit=2&continuationToken=" + first.field("continuationToken")});
  EXPECT_EQ(titles(second), "one ");
  EXPECT_FALSE(second.body.as_object().contains("continuationToken"));
  const json::value& newest = first.at("workerPoolErrors").as_array()[0];
  const std::string id(newest.at("errorId").as_string());
  EXPECT_EQ(titles(fixture.call("listWorkerPoolErrors", {"p/w"}, {.query = "errorId=" + id})),
            "three ");
  EXPECT_EQ(titles(fixture.call("listWorkerPoolErrors", {"p/w"}, {.query = "errorId=other"})), "");
  const std::string launch_config(newest.at("launchConfigId").as_string());
  EXPECT_EQ(titles(fixture.call("listWorkerPoolErrors", {"p/w"},
                                {.query = "launchConfigId=" + launch_config})),
            "three two one ");
  EXPECT_EQ(titles(fixture.call("listWorkerPoolErrors", {"p/w"}, {.query = "launchConfigId=x"})),
            "");
  EXPECT_EQ(titles(fixture.call("listWorkerPoolErrors", {"p/none"})), "");
}

TEST_F(Errors, are_counted_by_hour_and_day) {
  EXPECT_EQ(fixture.call("workerPoolErrorStats", {}, {.query = "workerPoolId=p/none"}).status, 404);
  const Reply none = fixture.call("workerPoolErrorStats", {}, {.query = "workerPoolId=p/w"});
  ASSERT_EQ(none.status, 200) << none.text;
  EXPECT_EQ(none.at("totals").at("total"), json::value(0));
  EXPECT_EQ(none.at("totals").at("hourly").as_object().size(), 24u);
  EXPECT_EQ(none.at("totals").at("daily").as_object().size(), 7u);
  fixture.call("reportWorkerError", {"p/w"}, {.body = report("disk", {{"code", "E7"}})});
  fixture.advance(2h);
  fixture.call("reportWorkerError", {"p/w"}, {.body = report("disk")});
  const Reply some = fixture.call("workerPoolErrorStats", {}, {.query = "workerPoolId=p/w"});
  const json::value& totals = some.at("totals");
  EXPECT_EQ(totals.at("total"), json::value(2));
  EXPECT_EQ(totals.at("hourly").at("2001-09-09T01:00:00.000Z"), json::value(1));
  EXPECT_EQ(totals.at("hourly").at("2001-09-09T03:00:00.000Z"), json::value(1));
  EXPECT_EQ(totals.at("daily").at("2001-09-09T00:00:00.000Z"), json::value(2));
  EXPECT_EQ(totals.at("title"), json::value({{"disk", 2}}));
  EXPECT_EQ(totals.at("code"), json::value({{"E7", 1}, {"other", 1}}));
  EXPECT_EQ(totals.at("workerPool"), json::value({{"p/w", 2}}));
  EXPECT_EQ(totals.at("launchConfig").as_object().size(), 1u);
}

TEST_F(Errors, of_all_pools_are_for_those_who_may_see_all) {
  const std::string one = fixture.client({"worker-manager:list-worker-pool-errors:p/w"});
  EXPECT_EQ(
      fixture.call("workerPoolErrorStats", {}, {.query = "workerPoolId=p/w", .token = one}).status,
      200);
  EXPECT_EQ(fixture.call("workerPoolErrorStats", {}, {.token = one}).status, 403);
  const std::string all = fixture.client({"worker-manager:list-worker-pool-errors:*"});
  const Reply reply = fixture.call("workerPoolErrorStats", {}, {.token = all});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.at("workerPoolId"), json::value(""));
}

}  // namespace
}  // namespace muster::taskcluster_api
