// Worker configurations over a small simulated cloud, whose calls are counted and may fail.
#pragma once

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "host/pools/builder.hpp"
#include "host/pools/launch_specs.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::pools {

class Fixture {
 public:
  Fixture() : cloud_(*simulated::read_settings(simulated::example_config())) {
    ProviderDescription description;
    description.section = "simulated";
    description.section_schema = simulated::section_schema();
    description.facts = {{"availabilityZone", ""}};
    description.field_classes.behavioural_fields = {"simulated.label"};
    provider_context.providers[ProviderId("sim")] =
        ask_provider(description, "1", cloud_, context_);
    provider_context.strategies = {"classic", "cheapest"};
  }

  Expand expand() {
    return [this](const ProviderId& id, const ExpandRequest& request) -> Result<Expansion> {
      ++calls;
      last_provider = id;
      last_request = request;
      if (failure) return *failure;
      return cloud_.expand(request, context_);
    };
  }

  Outcome build(const std::string& toml, const std::string& revision = "r1") {
    return build(std::vector<rules::SourceFile>{{"build.toml", toml}}, revision);
  }
  Outcome build(const std::vector<rules::SourceFile>& files, const std::string& revision = "r1") {
    return builder.build(files, revision, provider_context, expand());
  }

  ProviderFacts& provider() { return provider_context.providers.at(ProviderId("sim")); }

  ProviderContext provider_context;
  Builder builder;
  int calls = 0;
  ProviderId last_provider;
  ExpandRequest last_request;
  std::optional<Error> failure;

 private:
  testing::FakeContext context_;
  simulated::Cloud cloud_;
};

// A worker configuration of one worker type; `more` stands in its only rule's values.
inline std::string configuration(const std::string& more = "",
                                 const std::string& types = R"(["build"])") {
  return "workerTypes = " + types + R"(
[[rules]]
ruleId = "all"
description = "All of them"
[rules.values]
providers = ["sim"]
maxCapacity = 10
owner = "team@example.com"
description = "Builds"
)" + more;
}

inline std::string texts_of(const rules::Problems& problems,
                            rules::Severity severity = rules::Severity::error) {
  std::string all;
  for (const rules::Problem& problem : problems)
    if (problem.severity == severity) all += rules::to_string(problem) + "\n";
  return all;
}

}  // namespace muster::pools
