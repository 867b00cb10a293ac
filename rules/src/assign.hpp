// Deep assignment, shared by the plain evaluation and the cached one.
#pragma once

#include <muster/json.hpp>
#include <muster/rules/path.hpp>

namespace muster::rules {

// RFC 7386: tables merge, null deletes, everything else replaces.
void deep_assign(json::object& target, const json::object& values);

// Nothing happens if there is no such path.
void unset_path(json::object& target, const Path& path);

}  // namespace muster::rules
