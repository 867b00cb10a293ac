// Pools of Taskcluster for tests, and what they become.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/rules/document.hpp>
#include <muster/rules/evaluate.hpp>

#include "cli/import/convert.hpp"

namespace muster::importing {

inline json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

class ImportTest : public ::testing::Test {
 protected:
  // A pool with these launch configurations (JSON objects with commas between them).
  static TaskclusterPool pool_with(const std::string& launch_configs,
                                   const std::string& more_config = "") {
    return {
        "proj/build",
        object(R"({"workerPoolId": "proj/build", "providerId": "cloud", "owner": "a@example.com",
                       "description": "builds", "emailOnError": false,
                       "config": {"minCapacity": 0, "maxCapacity": 10, )" +
               more_config + R"("launchConfigs": [)" + launch_configs + "]}}")};
  }

  std::optional<Converted> convert(const TaskclusterPool& pool) {
    report = {};
    return importing::convert(pool, "build", options, report);
  }
  // Ends the test with the reason if the pool is refused.
  Converted converted(const std::string& launch_configs, const std::string& more_config = "") {
    auto made = convert(pool_with(launch_configs, more_config));
    EXPECT_TRUE(made) << report.refused;
    return made ? std::move(*made) : Converted{};
  }
  static json::object evaluated(const Converted& made, rules::Facts facts) {
    facts["workerType"] = "build";
    facts["provider"] = made.parts.provider_id;
    const auto parsed = rules::parse_toml(made.text, "build.toml");
    EXPECT_TRUE(parsed.document) << made.text;
    return parsed.document ? rules::evaluate(*parsed.document, facts).document : json::object();
  }
  std::string losses() const {
    std::string text;
    for (const Loss& loss : report.losses)
      text += loss.launch_config + "|" + loss.path + "|" + loss.reason + "\n";
    return text;
  }

  ConvertOptions options;
  PoolReport report;
};

}  // namespace muster::importing
