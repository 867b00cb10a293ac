// The names that workers and their pools can have. They become parts of scopes and of paths.
#pragma once

#include <string_view>

namespace muster::registration {

// "provisioner/worker-type"
bool is_worker_pool_id(std::string_view text);

// Of a worker group, or of a worker: 1 to 38 letters, digits, - and _.
bool is_worker_name(std::string_view text);

}  // namespace muster::registration
