// The host's documents about the queue, as people read them. Pure.
#pragma once

#include <string>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// One line: what becomes of the request, and when if that is known.
std::string verdict_line(const json::object& request);

// "p50 12:03, p90 12:07"
std::string eta_text(const json::object& eta);

std::string show_why(const json::object& document, const Style& style);
std::string show_expectations(const json::object& document, const Style& style);
std::string show_load(const json::object& document, const Style& style);
std::string show_worker_pools(const json::object& document, const Style& style);

}  // namespace muster::cli
