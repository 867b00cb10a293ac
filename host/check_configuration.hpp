// `musterd --check`: all that can be said of a host configuration without starting a host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/config/read_configuration.hpp"

namespace muster {

struct CheckedConfiguration {
  std::vector<config::Mistake> mistakes;  // of the plugins' own `config`, in the order of the file
  std::vector<std::string> problems;      // of worker configurations and plugins, one line each
  bool good = false;                      // none of it is an error
};

// `text`: what `report` was read from. Plugins are asked in processes of their own: for the schema
// of their configuration, and then whether they start with it.
CheckedConfiguration check_configuration(const config::Report& report, std::string_view text);

}  // namespace muster
