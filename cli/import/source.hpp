// Where worker pools are read from: a file, or a Taskcluster deployment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/import/pools.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::importing {

struct Source {
  std::string name = {};  // a file, "-" for standard input, or a root URL
  std::optional<hawk::Credentials> credentials = {};
  std::string ca_file = {};

  bool is_url() const { return name.starts_with("http://") || name.starts_with("https://"); }
};

// JSON or YAML. A deployment is asked page by page, within a minute each. Failures name the source
// and say what to do.
Result<std::vector<TaskclusterPool>> read_pools(const Source& source, Report& report);

// What a file holds.
Result<json::value> parse_document(std::string_view text);

}  // namespace muster::importing
