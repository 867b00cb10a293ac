// What the host says of itself, as people read it. Pure.
#pragma once

#include <string>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

std::string status_text(const json::object& status, const Style& style);

}  // namespace muster::cli
