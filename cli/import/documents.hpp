// What several documents have in common, and in what they differ, by the merging of rules: tables
// merge, everything else replaces. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::importing {

// Laid below each of the documents it changes none: what all of them say.
json::object common_part(std::span<const json::object* const> documents);

// What must be laid over `below`, a part of `document`, to get `document`.
json::object difference(const json::object& document, const json::object& below);

// The dotted path at which two documents first differ; empty if they do not.
std::string first_difference(const json::object& one, const json::object& other);

// The table or text of that name; null or empty if there is none.
const json::object* table_in(const json::object& document, std::string_view key);
std::string text_in(const json::object& document, std::string_view key);

// Takes a member out of a document; null if it is not there.
json::value take(json::object& document, std::string_view key);

}  // namespace muster::importing
