// What every command that asks a host does first, and how it gives up.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/host_client.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

// Ends the program with exit_failed and the message.
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

// Of a document that may come from a host of another version: what is missing is empty. Texts have
// no characters that a terminal acts on.
std::string text_of(const json::object& document, std::string_view key);
json::object table_of(const json::object& document, std::string_view key);
json::array list_of(const json::object& document, std::string_view key);
// The objects of a list; what is none is left out.
std::vector<json::object> objects_of(const json::object& document, std::string_view key);

// Shows the host's document as the options ask for it: JSON, names alone, or in words.
using Shown = std::string (*)(const json::object&, const View&);
void put_out(const json::value& document, bool as_json, const ViewOptions& view, Shown shown);

// The JSON object in a file; "-" is standard input.
json::object document_in(const std::string& file);

// Asks on the terminal before something that cannot easily be undone. Ends the program unless the
// answer is yes; without a terminal, unless `yes` was given.
void confirm(bool yes, const std::string& question);
}  // namespace muster::cli
