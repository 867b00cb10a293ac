#include "host/postgres/errors.hpp"

#include <array>
#include <utility>

namespace muster::postgres {
namespace {

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  for (const std::string_view one : states)
    if (state == one) return true;
  return false;
}

// The first line: the rest is detail and context, which repeats the statement.
std::string first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  for (const std::string_view prefix : {"ERROR:  ", "FATAL:  ", "PANIC:  "})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  return std::string(text);
}

Error with(Error error, std::string_view code) {
  return std::move(error).with_code(std::string(code));
}

// An operator must act; retrying does not help.
std::string_view remedy_of(std::string_view state) {
  if (state.starts_with("28")) return ": check user, password and pg_hba.conf of the server";
  if (state == "3D000") return ": make the database, see docs/high-availability.md";
  if (state == "42501")
    return ": the role needs a schema of its own, see docs/high-availability.md for the statements";
  return {};
}

}  // namespace

Error error_of(const ServerFailure& failure, const std::string& database) {
  const std::string_view state = failure.sqlstate;
  const std::string what = "the database " + database + ": " + first_line(failure.text);
  // Before anything of class 57: these end the connection.
  if (state.empty() || state.starts_with("08") ||
      is_one_of(state, {"57P01", "57P02", "57P03", "57P05", "25P03"}))
    return with(Error::transient(what), connection_lost);
  if (state.starts_with("40")) return with(Error::transient(what), serialization);
  if (state == "25006")
    return with(
        Error::transient(what + ". The server is a standby or read-only: name all servers in the "
                                "address, so that the host finds the one that takes changes"),
        read_only_server);
  if (is_one_of(state, {"57014", "55P03"})) return with(Error::transient(what), timed_out);
  if (is_one_of(state, {"53100", "58030"}) &&
      failure.text.find("o space left") != std::string::npos)
    return with(Error::capacity(what + ": make room at the database"), disk_full);
  if (state == "53100")
    return with(Error::capacity(what + ": make room at the database"), disk_full);
  if (is_one_of(state, {"XX001", "XX002", "58P01"}))
    return with(
        Error::internal(what + ". The server says that its files are damaged: restore it, see "
                               "docs/high-availability.md"),
        damage);
  if (const std::string_view remedy = remedy_of(state); !remedy.empty())
    return Error::config(what + std::string(remedy));
  if (state.starts_with("42")) return Error::internal(what);  // a table or a column is not there
  return Error::transient(what).with_code(std::string(state));
}

}  // namespace muster::postgres
