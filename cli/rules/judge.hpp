// Who judges worker configurations: muster itself with the plugins that are installed beside it and
// those of other folders, or a host.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <muster/rules/configuration_set.hpp>

#include "cli/host_address.hpp"

namespace muster::cli {

struct JudgeOptions {
  std::vector<std::string> plugin_folders = {};  // besides the one that comes with muster
  HostOptions host = {};                         // asked if its `url` is not empty
};

struct Judgement {
  rules::Problems problems;        // sorted
  std::vector<std::string> notes;  // why something could not be checked: sentences
};

// Ends the program with a sentence if a host that is asked does not answer.
Judgement judge(std::span<const rules::SourceFile> files, const JudgeOptions& options,
                bool as_json);

}  // namespace muster::cli
