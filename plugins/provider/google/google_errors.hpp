// What Google says when something fails: in an answer, and in an operation that has ended.
#pragma once

#include <optional>
#include <string_view>

#include <muster/json.hpp>

#include "plugins/cloud/error_table.hpp"

namespace muster::google {

// errors.json, which is a part of the plugin.
cloud::ErrorTable error_table();

// {"error": {"code": 403, "message": ..., "errors": [{"reason": ...}], "details": [...]}}. Of the
// several words that Google has for an error the one that the table knows. An empty code: the body
// is none of Google's.
cloud::CloudError read_error(const cloud::ErrorTable& table, int status, std::string_view body);

// Of an operation; nothing if it has not failed (yet).
std::optional<cloud::CloudError> error_of_operation(const json::object& operation);

// Classifies by the table. What one row cannot say: a quota of all regions holds all of them, and
// the message names the quota, its limit and where to raise it.
Error classify(const cloud::ErrorTable& table, const std::string& call,
               const cloud::CloudError& said, const ErrorScope& about);

// "a web page", "nothing", "something that is not JSON"
std::string describe_body(std::string_view body);

}  // namespace muster::google
