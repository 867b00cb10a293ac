// The forms that parts of paths and queries may have. Matched by hand in linear time; `text` is how
// clients see the form in an error.
#pragma once

#include "host/endpoints/pattern.hpp"

namespace muster::taskcluster_api {

using endpoints::Pattern;

extern const Pattern worker_pool_id_pattern;
extern const Pattern name_pattern;  // of a worker group, or a worker
extern const Pattern launch_config_id_pattern;
extern const Pattern number_pattern;
extern const Pattern anything_pattern;
extern const Pattern flag_pattern;
extern const Pattern worker_state_pattern;
extern const Pattern launched_state_pattern;  // without "standalone"
extern const Pattern error_id_pattern;
extern const Pattern some_worker_pool_pattern;  // a worker pool, or nothing for all of them

// nullptr: a parameter of that name may be anything.
const Pattern* pattern_of_parameter(std::string_view name);

}  // namespace muster::taskcluster_api
