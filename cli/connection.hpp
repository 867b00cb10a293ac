// What every command that asks a host does first, and how it gives up.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/host_client.hpp"

namespace muster::cli {

// Prints "muster: <message>" and ends the program with exit_failed.
[[noreturn]] void fail(const Error& error);

HostClient connect(const HostOptions& options,
                   std::chrono::seconds deadline = HostClient::usual_deadline);
json::value answer_of(Result<json::value> answer);

// All pages of a list: asks for `path` with what stands in `next` as `parameter` (after, before)
// until there is none. The document of the first page with the whole list under `name`.
json::object all_pages(HostClient& host, const std::string& path, std::string_view name,
                       std::string_view parameter);

// "a=1&b=x%2Fy" with a '?' before it; empty values are left out.
std::string query_of(const std::vector<std::pair<std::string, std::string>>& parameters);

// Of a document that may come from a host of another version: what is missing is empty.
std::string text_of(const json::object& document, std::string_view key);
json::object table_of(const json::object& document, std::string_view key);
json::array list_of(const json::object& document, std::string_view key);
// "2026-01-02T03:04:05.678Z" → "2026-01-02 03:04:05"
std::string short_time(const std::string& time);

}  // namespace muster::cli
