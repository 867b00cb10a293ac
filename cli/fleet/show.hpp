// The host's documents about the fleet, as people read them. Pure.
#pragma once

#include <string>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// "build" → "worker-manager/build"; what has a provisioner already stays as it is.
std::string with_provisioner(const std::string& pool);

std::string show_pools(const json::object& document, const Style& style);
std::string show_pool(const json::object& document, const Style& style);
std::string show_launch_configs(const json::object& document, const Style& style);
std::string show_workers(const json::object& document, const Style& style);
std::string show_found_workers(const json::object& document, const Style& style);
std::string show_worker(const json::object& worker, const Style& style);
std::string show_decisions(const json::object& document, const Style& style);
std::string show_errors(const json::object& document, const Style& style);
std::string show_error_counts(const json::object& document, const Style& style);
std::string show_holds(const json::object& document, const Style& style);
std::string show_rows_set_aside(const json::object& document, const Style& style);
std::string show_row_set_aside(const json::object& document, const Style& style);
std::string show_providers(const json::object& document, const Style& style);

}  // namespace muster::cli
