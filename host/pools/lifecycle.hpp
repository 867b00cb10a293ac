// The pool setting `lifecycle`, from the document to values.
#pragma once

#include "host/fleet/model/configuration.hpp"
#include "host/pools/finding.hpp"

namespace muster::pools {

struct ReadLifecycle {
  fleet::Lifecycle lifecycle;  // to be used only if there are no findings
  Findings findings;           // paths begin with `at`
};

// Pure. Durations are whole seconds, as Taskcluster has them, or texts such as "30m". `at` is where
// the table stands.
ReadLifecycle read_lifecycle(const json::object& table, const rules::Path& at = {"lifecycle"});

}  // namespace muster::pools
