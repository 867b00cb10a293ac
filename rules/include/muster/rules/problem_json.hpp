// A problem as a document, the same in the command line's --json and in the host's API.
#pragma once

#include <muster/json.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

// severity, file, line, column, key, reason, remedy, code.
json::object to_json(const Problem& problem);

}  // namespace muster::rules
