// The host's documents about the queue, as people read them. Pure.
#pragma once

#include <string>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// One line: what becomes of the request, and when if that is known.
std::string request_line(const json::object& request, const View& view);

// "p50 2026-01-02 12:03:00 (in 3m), p90 ..."
std::string eta_text(const json::object& eta, const View& view);

std::string show_why(const json::object& document, const View& view);
std::string show_expectations(const json::object& document, const View& view);
std::string show_load(const json::object& document, const View& view);
std::string show_requests(const json::object& document, const View& view);
std::string show_teams(const json::object& document, const View& view);
std::string show_worker_pools(const json::object& document, const View& view);

}  // namespace muster::cli
