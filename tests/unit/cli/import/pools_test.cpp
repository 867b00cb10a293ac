#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/import/source.hpp"

namespace muster::importing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Pools : public ::testing::Test {
 protected:
  std::vector<std::string> ids(const std::string& text) {
    const auto document = parse_document(text);
    EXPECT_TRUE(document) << document.error().message;
    std::vector<TaskclusterPool> pools;
    const auto added = add_pools(*document, pools, report);
    if (!added) return {added.error().message};
    std::vector<std::string> names;
    for (const TaskclusterPool& pool : pools) names.push_back(pool.worker_pool_id);
    return names;
  }
  Report report;
};

TEST_F(Pools, what_holds_none_says_what_is_expected) {
  for (const char* text : {"{}", "7: 8", R"({"workerPools": {}})", R"({"a": []})"})
    EXPECT_THAT(ids(text).at(0), HasSubstr("listWorkerPools")) << text;
}

TEST_F(Pools, texts_that_are_no_document_are_refused_with_the_place) {
  EXPECT_THAT(parse_document("").error().message, HasSubstr("empty"));
  EXPECT_THAT(parse_document("{\"a\": ").error().message, HasSubstr("no JSON"));
  EXPECT_THAT(parse_document("a: *b").error().message, HasSubstr("line 1"));
  EXPECT_THAT(parse_document(std::string(100'000, '[')).error().message, HasSubstr("no JSON"));
  EXPECT_THAT(parse_document("a: " + std::string(100'000, '[')).error().message, HasSubstr("deep"));
  EXPECT_FALSE(parse_document("\xff\xfe"));
}

TEST_F(Pools, names_that_are_no_pools_are_refused_alone) {
  EXPECT_THAT(
      ids(R"([{"workerPoolId": "../../etc/passwd"}, {"workerPoolId": "a/b\u0000"}, {"workerPoolId": 7}, 7,
                      {"workerPoolId": "a/B"}, {"workerPoolId": "a/b"}, {"workerPoolId": "a/b"}])"),
      ElementsAre("a/b"));
  EXPECT_EQ(report.pools.size(), 6u);
  for (const PoolReport& pool : report.pools) EXPECT_FALSE(pool.refused.empty());
  EXPECT_THAT(report.pools.back().refused, HasSubstr("twice"));
}

TEST_F(Pools, every_form_in_which_pools_are_listed_is_known) {
  EXPECT_THAT(ids(R"({"workerPools": [{"workerPoolId": "a/b"}], "continuationToken": "x"})"),
              ElementsAre("a/b"));
  EXPECT_THAT(ids(R"({"workerPoolId": "a/b", "config": {}})"), ElementsAre("a/b"));
  EXPECT_THAT(
      ids(R"({"resources": [{"kind": "Role", "roleId": "x"}, {"kind": "WorkerPool", "workerPoolId": "a/b"}], "managed": []})"),
      ElementsAre("a/b"));
  EXPECT_THAT(ids("pools:\n  - pool_id: a/b\n    provider_id: aws\n"), ElementsAre("a/b"));
  EXPECT_THAT(ids("- workerPoolId: a/b\n- workerPoolId: a/c\n"), ElementsAre("a/b", "a/c"));
}

}  // namespace
}  // namespace muster::importing
