// From a worker pool of Taskcluster to a worker configuration. Pure.
#pragma once

#include <map>
#include <optional>

#include "cli/import/configuration_text.hpp"
#include "cli/import/pools.hpp"

namespace muster::importing {

struct ConvertOptions {
  std::map<std::string, std::string> providers = {};  // Taskcluster's providerId → ours
  Knowledge knowledge = {};
};

struct Converted {
  const Cloud* cloud = nullptr;
  ConfigurationParts parts = {};
  std::string text = {};
};

// What the worker types are called here, beside the pools: as there, or with the provisionerId if
// several pools share a name.
std::vector<std::string> worker_types_of(const std::vector<TaskclusterPool>& pools);

// Nothing if the pool is refused; `report` says why.
std::optional<Converted> convert(const TaskclusterPool& pool, const std::string& worker_type,
                                 const ConvertOptions& options, PoolReport& report);

// Writes the text of its parts anew, with what `report` says by now at its top. False if it cannot
// be written, and is refused.
bool write_text(Converted& converted, PoolReport& report);

// Takes what stands at `key` ("rules[1].values.aws.launch.Foo") out of all places. False if nothing
// does.
bool leave_out(Converted& converted, const std::string& key);

}  // namespace muster::importing
