// The host's documents about the fleet, as people read them. Pure.
#pragma once

#include <string>
#include <string_view>

#include <muster/json.hpp>

#include "cli/terminal.hpp"

namespace muster::cli {

// "build" → "worker-manager/build"; what has a provisioner already stays as it is.
std::string with_provisioner(const std::string& pool);

// A number of the document, such as "0.75"; empty if there is none.
std::string two_digits(const json::object& document, std::string_view key);

// The colour of a verdict, by its kind: "placed", "blocked" or what waits.
Look verdict_look(std::string_view kind);

std::string show_pools(const json::object& document, const View& view);
std::string show_pool(const json::object& document, const View& view);
std::string show_launch_configs(const json::object& document, const View& view);
std::string show_workers(const json::object& document, const View& view);
std::string show_found_workers(const json::object& document, const View& view);
std::string show_worker(const json::object& worker, const View& view);
// Without those that repeat what was decided, or that found that no more is needed; the newest
// last.
json::array decisions_that_changed(const json::array& newest_first);
std::string show_decisions(const json::object& document, const View& view);
std::string show_errors(const json::object& document, const View& view);
std::string show_error_counts(const json::object& document, const View& view);
std::string show_runs(const json::object& document, const View& view);
std::string show_source_of_runs(const json::object& document, const View& view);
std::string show_holds(const json::object& document, const View& view);
std::string show_rows_set_aside(const json::object& document, const View& view);
std::string show_row_set_aside(const json::object& document, const View& view);
// Any document: a line for each member, with those of its tables and lists below it.
std::string show_members(const json::object& document, const View& view);
std::string show_diagnosis(const json::object& document, const View& view);
std::string show_payload_check(const json::object& document, const View& view);
std::string show_demand(const json::object& document, const View& view);
std::string show_webhooks(const json::object& document, const View& view);
std::string show_dead_letters(const json::object& document, const View& view);
std::string show_configuration_difference(const json::object& document, const View& view);
std::string show_configuration_files(const json::object& document, const View& view);
std::string show_configuration_text(const json::object& document, const View& view);
// Whether something is wrong, so that a person has to do something.
bool has_configuration_errors(const json::object& status);
std::string show_configuration_problems(const json::object& status, const View& view);
std::string show_providers(const json::object& document, const View& view);

}  // namespace muster::cli
