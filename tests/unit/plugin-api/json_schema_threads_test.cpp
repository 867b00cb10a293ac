#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <muster/json_schema.hpp>

namespace muster::json {
namespace {

TEST(JsonSchema, is_used_by_many_threads_at_once) {
  const auto schema = Schema::compile(
      parse(R"({"items": {"pattern": "^[a-z]+$"}, "unevaluatedItems": false})").value());
  const value good = parse(R"(["a", "b"])").value();
  const value bad = parse(R"(["a", "B"])").value();
  std::vector<std::thread> threads;
  std::vector<std::size_t> violations(4);
  for (std::size_t i = 0; i < violations.size(); ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round)
        violations[i] += schema->validate(good).size() + schema->validate(bad).size();
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(violations, std::vector<std::size_t>(4, 200));
}

}  // namespace
}  // namespace muster::json
