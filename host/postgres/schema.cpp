#include "host/postgres/schema.hpp"

namespace muster::postgres {
namespace {

// "must" in ASCII, so that no other program takes the same lock by chance.
constexpr const char* take_lock = "SELECT pg_advisory_xact_lock(1836413812)";

constexpr const char* host_tables = R"sql(
CREATE TABLE IF NOT EXISTS muster_lead (
  id integer PRIMARY KEY CHECK (id = 1),
  epoch bigint NOT NULL,
  holder text NOT NULL,
  address text NOT NULL,
  expires timestamptz NOT NULL,
  number bigint NOT NULL,
  token text NOT NULL,
  at timestamptz NOT NULL
) WITH (fillfactor = 10);
INSERT INTO muster_lead VALUES (1, 0, '', '', 'epoch', 0, '', 'epoch') ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS muster_hosts (
  holder text PRIMARY KEY,
  address text NOT NULL,
  version text NOT NULL,
  problem text NOT NULL,
  seen timestamptz NOT NULL
);
ALTER TABLE muster_hosts ADD COLUMN IF NOT EXISTS place text NOT NULL DEFAULT '';
ALTER TABLE muster_hosts ADD COLUMN IF NOT EXISTS lag bigint;
CREATE TABLE IF NOT EXISTS muster_changes (
  number bigint PRIMARY KEY,
  token text NOT NULL,
  changes text NOT NULL,
  at timestamptz NOT NULL
);
ALTER TABLE muster_changes ALTER COLUMN changes SET STORAGE EXTERNAL;
CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, muster text NOT NULL);
)sql";

Result<void> finish(Connection& connection, Result<void> outcome) {
  const auto ended = connection.run(outcome ? "COMMIT" : "ROLLBACK");
  if (outcome && !ended) return ended.error();
  return outcome;
}

Result<bool> has_host_tables(Connection& connection) {
  const auto found = connection.run(
      "SELECT count(*) FROM unnest(ARRAY['muster_lead', 'muster_hosts', 'muster_changes', "
      "'migrations']) AS wanted WHERE to_regclass(quote_ident(wanted)) IS NOT NULL");
  if (!found) return found.error();
  return number_field(*found, 0) == 4;
}

Result<void> run_locked(Connection& connection, const std::string& sql) {
  if (auto begun = connection.run("BEGIN"); !begun) return begun.error();
  Result<void> outcome;
  for (const std::string& text : {std::string(take_lock), sql})
    if (outcome)
      if (auto ran = connection.run(text); !ran) outcome = ran.error();
  return finish(connection, std::move(outcome));
}

Result<void> apply_steps(Connection& connection, std::span<const store::Migration> steps) {
  if (auto locked = connection.run(take_lock); !locked) return locked.error();
  // Another host may have been quicker.
  if (auto known = check_version(connection, steps); !known) return known;
  const auto version = version_of(connection);
  if (!version) return version.error();
  for (std::size_t next = *version; next < steps.size(); ++next) {
    const auto made =
        connection.run(translated(steps[next].sql) + "INSERT INTO migrations VALUES (" +
                       std::to_string(next + 1) + ", '" MUSTER_VERSION "')");
    if (made) continue;
    Error error = made.error();
    error.message = "the update of the tables to version " + std::to_string(next + 1) +
                    " was undone: " + error.message;
    return error;
  }
  return {};
}

}  // namespace

Result<void> make_host_tables(Connection& connection) {
  const auto there = has_host_tables(connection);
  if (!there) return there.error();
  return *there ? Result<void>() : run_locked(connection, host_tables);
}

Result<std::size_t> version_of(Connection& connection) {
  const auto found = connection.run("SELECT coalesce(max(version), 0) FROM migrations");
  if (!found) return found.error();
  return static_cast<std::size_t>(number_field(*found, 0));
}

Result<void> check_version(Connection& connection, std::span<const store::Migration> steps) {
  const auto newest =
      connection.run("SELECT version, muster FROM migrations ORDER BY version DESC LIMIT 1");
  if (!newest) return newest.error();
  if (number_field(*newest, 0) <= static_cast<std::int64_t>(steps.size())) return {};
  return Error::config(
      "the database " + connection.database() + " was updated by muster " + field(*newest, 1) +
      " (version " + field(*newest, 0) +
      " of its tables; this is muster " MUSTER_VERSION ", which knows versions up to " +
      std::to_string(steps.size()) + "): install that muster or a newer one on this host");
}

Result<void> migrate(Connection& connection, std::span<const store::Migration> steps) {
  if (auto known = check_version(connection, steps); !known) return known;
  const auto version = version_of(connection);
  if (!version) return version.error();
  if (*version == steps.size()) return {};
  if (auto begun = connection.run("BEGIN"); !begun) return begun.error();
  return finish(connection, apply_steps(connection, steps));
}

}  // namespace muster::postgres
