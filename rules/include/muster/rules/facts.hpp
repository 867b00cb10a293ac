// Facts are what conditions are matched against; known facts are what a folder of worker
// configurations can be checked against while no host runs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/rules/limits.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

// Name → value: {workerType: build-opt, provider: ec2, region: us-east-1}.
using Facts = std::map<std::string, std::string, std::less<>>;

// The facts that exist whatever the providers: workerType, provider, region.
const std::vector<std::string>& general_fact_names();

struct Provider {
  std::string provider_id;
  std::string plugin;                   // names its section in launch documents; may be empty
  std::vector<std::string> fact_names;  // what it adds to the general ones
  std::vector<Facts> placements;        // at least one; {} where a provider has only one place
};

// What the hosts' providers offer. A host builds this from its running providers; tools read it
// from `facts.toml` beside the worker configurations:
//
//   [providers.ec2]
//   plugin = "aws"                 # optional: the section of launch documents that it reads
//   facts = ["availabilityZone"]   # optional: facts besides those that the placements name
//   placements = [                 # optional: without, one placement that adds no facts
//     { region = "us-east-1", availabilityZone = "us-east-1a" },
//     { region = "us-west-2", availabilityZone = "us-west-2a" },
//   ]
//
// Without the file nothing is known about providers: condition names besides the general ones are
// then not checked, and there are no launch documents to enumerate.
struct KnownFacts {
  std::vector<Provider> providers;  // by provider id

  const Provider* find(std::string_view provider_id) const;
  // General names and those of all providers, sorted, each once.
  std::vector<std::string> fact_names() const;
  std::vector<std::string> provider_ids() const;
};

struct ParsedKnownFacts {
  KnownFacts known;  // to be used only if there are no errors
  Problems problems;
};

ParsedKnownFacts parse_known_facts(std::string_view toml, const std::string& file_name,
                                   const Limits& limits = {});

}  // namespace muster::rules
