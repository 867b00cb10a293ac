// From one launch document to launch configurations: what worker configurations and pools of the
// API have in common. Pure, but for the provider that is asked to expand.
#pragma once

#include <list>
#include <map>
#include <memory>

#include <muster/json_schema.hpp>

#include "host/fleet/model/configuration.hpp"
#include "host/pools/finding.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster::pools {

// What muster itself reads of a launch document.
struct WorkerManagerSection {
  std::optional<std::int64_t> capacity_per_instance = {};
  std::optional<std::int64_t> max_capacity = {};
  double initial_weight = 1;
  std::string launch_config_id = {};  // only the API may name one
  Findings findings = {};
};

// Keys besides the three that every launch document may have are named by `also`.
WorkerManagerSection read_worker_manager(const json::object& document,
                                         const std::vector<std::string>& also = {});

// What is wrong with the parts of an evaluated document that muster itself reads when it launches:
// `workerManager`, `workerConfig` and its `queue`.
Findings check_launch_document(const json::object& document);

// The code of findings about a key that a section lacks.
inline constexpr const char* missing_in_section = "missingInSection";

// Providers' own schemas, compiled once. THREADS: one.
class SectionSchemas {
 public:
  // What the provider's schema says of its section; a section that is not there is checked as an
  // empty one. A schema that cannot be compiled is the provider's fault: `internal`.
  Result<Findings> check(const ProviderDescription& description, const json::object& document);

 private:
  struct Compiled {
    json::object source;
    Result<json::Schema> schema;
  };
  const Result<json::Schema>& schema_of(const ProviderDescription& description);

  // By section; those of several versions of a provider are there at the same time only while one
  // replaces the other.
  std::map<std::string, std::list<Compiled>> compiled_;
};

using LaunchConfigSpecs = std::vector<std::shared_ptr<const fleet::LaunchConfigSpec>>;

// What the provider made of `request`, as launch configurations. `internal` if its answer makes no
// sense.
Result<LaunchConfigSpecs> make_specs(const ProviderId& provider_id, const ExpandRequest& request,
                                     const WorkerManagerSection& settings,
                                     const Expansion& expansion);

bool same(const fleet::LaunchConfigSpec& a, const fleet::LaunchConfigSpec& b);
bool same(const fleet::PoolSpec& a, const fleet::PoolSpec& b);

// A provider's own words, with the path that they may begin with ("aws.ImageId: is missing") taken
// apart, so that its place can be found.
Finding finding_of(const Error& error, const std::string& section);

}  // namespace muster::pools
