// Which variables a team may set in the environment of its workers. A worker runs on somebody
// else's machine: a variable that makes a shell, a loader or an interpreter run other code than the
// operator chose is not the team's to set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster {

// Why a team may not set the variable: "is not a name of letters, digits and _" and so on. Nothing:
// it may. A name is accepted if it is a shell's name of at most 128 characters and neither it nor
// its beginning is known to change how programs are found, loaded or run; `allowed` are names that
// the operator accepts all the same. Names that the agent sets itself (MUSTER_*, TASKCLUSTER_*, but
// not MUSTER_TASKS) are refused whatever the operator allows. Pure.
std::optional<std::string> refused_variable(std::string_view name,
                                            const std::vector<std::string>& allowed = {});

// Whether an operator may allow the name; what is wrong with it otherwise. Pure.
Result<void> check_allowed_variable(std::string_view name);

// The member `environment` of a worker's configuration: `invalid` with the path of the first name
// that is refused, or whose value cannot be in an environment. Values that are no texts are not
// taken as variables, and are accepted. Pure.
Result<void> check_environment(const json::object& worker_config,
                               const std::vector<std::string>& allowed);

}  // namespace muster
