#include "host/store/backup_seal.hpp"

#include "host/store/sqlite_schema.hpp"
#include "lib/base/secret.hpp"

namespace muster::store::sqlite {
namespace {

constexpr const char* seal_table = "backup_seal";

// A digest of everything that was added, in its order: each piece is hashed together with the
// digest of those before it.
class RunningDigest {
 public:
  void add(char kind, std::string_view bytes) {
    pending_ += kind;
    pending_ += std::to_string(bytes.size()) + ':';
    pending_ += bytes;
    if (pending_.size() >= piece) close();
  }
  std::string hex() {
    close();
    return to_hex(so_far_);
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 20;

  void close() {
    const std::string before(so_far_.begin(), so_far_.end());
    so_far_ = sha256(before + pending_);
    pending_.clear();
  }

  Sha256 so_far_{};
  std::string pending_;
};

void add_value(RunningDigest& digest, sqlite3_stmt* statement, int column) {
  const int type = sqlite3_column_type(statement, column);
  if (type == SQLITE_NULL) return digest.add('n', {});
  // A real is hashed as it is stored, not as it is printed.
  if (type == SQLITE_FLOAT) {
    const double number = sqlite3_column_double(statement, column);
    return digest.add('r', {reinterpret_cast<const char*>(&number), sizeof number});
  }
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  digest.add(type == SQLITE_INTEGER ? 'i' : 't', {bytes ? bytes : "", size});
}

// The rows in the order of the table itself.
Result<void> add_rows(RunningDigest& digest, Connection& connection, const std::string& sql) {
  auto statement = connection.prepare(sql);
  if (!statement) return statement.error();
  for (;;) {
    const auto row = connection.step(statement->get());
    if (!row) return row.error();
    if (!*row) return {};
    const int columns = sqlite3_column_count(statement->get());
    for (int i = 0; i < columns; ++i) add_value(digest, statement->get(), i);
    digest.add('.', {});
  }
}

Result<std::string> digest_of(Connection& connection) {
  RunningDigest digest;
  const std::string others = " WHERE name <> '" + std::string(seal_table) + "' ORDER BY name";
  if (auto added = add_rows(digest, connection,
                            "SELECT type, name, tbl_name, sql FROM sqlite_schema" + others);
      !added)
    return added.error();
  const auto tables = tables_of(connection);
  if (!tables) return tables.error();
  for (const std::string& table : *tables) {
    if (table == seal_table) continue;
    digest.add('T', table);
    if (auto added = add_rows(digest, connection, "SELECT * FROM \"" + table + "\" NOT INDEXED");
        !added)
      return added.error();
  }
  return digest.hex();
}

}  // namespace

Result<void> write_seal(Connection& connection) {
  if (auto removed = remove_seal(connection); !removed) return removed;
  const auto digest = digest_of(connection);
  if (!digest) return digest.error();
  return connection.run("CREATE TABLE " + std::string(seal_table) +
                        " (id INTEGER PRIMARY KEY, digest TEXT) STRICT; INSERT INTO " + seal_table +
                        " VALUES (1, '" + *digest + "')");
}

Result<Seal> check_seal(Connection& connection, const std::filesystem::path& file) {
  const auto sealed = connection.number("SELECT count(*) FROM sqlite_schema WHERE name = '" +
                                        std::string(seal_table) + "'");
  if (!sealed) return sealed.error();
  if (*sealed == 0) return Seal::none;
  const auto written = connection.text("SELECT digest FROM " + std::string(seal_table));
  if (!written) return written.error();
  const auto digest = digest_of(connection);
  if (!digest) return digest.error();
  if (*digest == *written) return Seal::intact;
  return Error::internal("the database " + file.string() +
                         " is damaged (its content is not what was written: the digest is " +
                         *digest + ", and " + *written + " was written)");
}

Result<void> remove_seal(Connection& connection) {
  return connection.run("DROP TABLE IF EXISTS " + std::string(seal_table));
}

}  // namespace muster::store::sqlite
