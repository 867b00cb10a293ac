// What the host says of itself, as people read it. Pure.
#pragma once

#include <string>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// "ready"; else what it is and why it cannot do its work: "not ready (readOnly: the disk is full)".
std::string readiness_of(const json::object& status);

std::string status_text(const json::object& status, const View& view);

}  // namespace muster::cli
