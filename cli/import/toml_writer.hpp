// Tables as TOML that people like to read: a header for each larger table, small ones in one line,
// long lists with a line for each item.
#pragma once

#include <string>

#include <muster/error.hpp>
#include <muster/json.hpp>
#include <muster/rules/path.hpp>

namespace muster::importing {

// `table` below the header [path]. Fails for null, which TOML cannot say.
Result<std::string> toml_table(const rules::Path& path, const json::object& table);

}  // namespace muster::importing
