// What a schema cannot say: that things fit together and to the machine.
#pragma once

#include <vector>

#include "host/config/host_configuration.hpp"
#include "lib/toml/mistake.hpp"
#include "lib/toml/toml_document.hpp"

namespace muster::config {

// `host` was read from `document`. Looks at the file system (folders, manifests) and the list of
// users, and changes nothing.
std::vector<Mistake> cross_check(const HostConfiguration& host, const TomlDocument& document);

}  // namespace muster::config
