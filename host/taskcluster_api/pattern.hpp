// The forms of values in queries that are no identifiers. Matched by hand in linear time; `text` is
// how clients see the form in an error.
#pragma once

#include "host/endpoints/pattern.hpp"

namespace muster::taskcluster_api {

using endpoints::Pattern;

extern const Pattern number_pattern;
extern const Pattern anything_pattern;
extern const Pattern flag_pattern;
extern const Pattern worker_state_pattern;
extern const Pattern launched_state_pattern;  // without "standalone"
extern const Pattern error_id_pattern;
extern const Pattern some_worker_pool_pattern;  // a worker pool, or nothing for all of them

}  // namespace muster::taskcluster_api
