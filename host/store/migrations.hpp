// How the tables of the SQLite database came to be, step by step. Once a step was released it is
// never changed: a later one corrects it. tests/unit/host/store/schema_test.cpp holds the rows of
// host/fleet/model/rows.hpp against the outcome, so that a changed row without a step fails.
#pragma once

#include <span>
#include <string_view>

namespace muster::store {

// The number of steps that a database has seen is its version (PRAGMA user_version).
struct Migration {
  std::string_view sql;
};

std::span<const Migration> migrations();

}  // namespace muster::store
