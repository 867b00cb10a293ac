// What a failure of PostgreSQL means for the caller. Pure.
#pragma once

#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::postgres {

// Codes of errors, by which callers tell them apart.
inline constexpr std::string_view connection_lost = "connectionLost";  // the outcome is not known
inline constexpr std::string_view serialization = "serialization";     // try the same again
inline constexpr std::string_view read_only_server = "readOnlyServer";
inline constexpr std::string_view superseded = "superseded";  // another host leads
inline constexpr std::string_view timed_out = "timedOut";
inline constexpr std::string_view disk_full = "diskFull";
inline constexpr std::string_view damage = "damage";

struct ServerFailure {
  std::string sqlstate;  // empty: no answer, the connection is gone
  std::string text;      // what the server or libpq says
};

// `database` names it in the sentence: "muster on db.example:5432".
//   transient  the connection, a conflict, a standby, a timeout: it may work again by itself
//   capacity   the server's disk is full
//   config     password, rights, a database that is not there: an operator must act
//   internal   the server says that its files are damaged
Error error_of(const ServerFailure& failure, const std::string& database);

}  // namespace muster::postgres
