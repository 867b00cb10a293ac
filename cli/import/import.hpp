// `muster import taskcluster`: reads, converts, checks and writes.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace muster::cli {

// Something was written, and something could not be carried over.
constexpr int exit_partial = 3;

struct ImportOptions {
  std::string source = {};
  std::vector<std::string> provider_map = {}, subnet_zones = {}, plugin_folders = {};
  std::string output = ".";
  std::string pool = {};  // a glob; empty: all
  std::string client_id = {}, access_token_file = {}, ca_file = {};
  bool dry_run = false, force = false, facts = false, as_json = false;
};

void import_taskcluster(const ImportOptions& options);

}  // namespace muster::cli
