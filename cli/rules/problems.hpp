// Problems of worker configurations, for people, for programs and for GitHub.
#pragma once

#include <span>
#include <string>

#include <muster/json.hpp>
#include <muster/rules/configuration_set.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// Each with its line of the file and a mark under the place.
std::string problems_text(std::span<const rules::Problem> problems,
                          std::span<const rules::SourceFile> files, const Style& style);

json::array problems_json(std::span<const rules::Problem> problems);

// Workflow commands, which GitHub shows beside the lines of a change.
std::string problems_github(std::span<const rules::Problem> problems);

}  // namespace muster::cli
