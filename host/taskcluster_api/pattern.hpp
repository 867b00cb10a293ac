// The forms that parts of paths and queries may have. Matched by hand in linear time; `text` is how
// clients see the form in an error.
#pragma once

#include <string_view>

namespace muster::taskcluster_api {

struct Pattern {
  std::string_view text;  // "/^[0-9]+$/"
  bool (*matches)(std::string_view);
};

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

}  // namespace muster::taskcluster_api
