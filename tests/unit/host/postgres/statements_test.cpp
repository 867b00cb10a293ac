#include "host/postgres/statements.hpp"

#include <gtest/gtest.h>

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::postgres {
namespace {

using store::testing::parts;
using store::testing::things;

TEST(PostgresStatements, a_step_for_sqlite_becomes_one_for_postgres) {
  EXPECT_EQ(translated("CREATE TABLE a (workerPoolId TEXT NOT NULL, n INTEGER, p REAL,\n"
                       "  PRIMARY KEY (workerPoolId, n)\n) STRICT, WITHOUT ROWID;\n"
                       "CREATE INDEX a_n ON a (n);"),
            "CREATE TABLE \"a\" (\"workerPoolId\" text COLLATE \"C\" NOT NULL, \"n\" bigint, "
            "\"p\" double precision,\n  PRIMARY KEY (\"workerPoolId\", \"n\")\n);"
            "\nCREATE INDEX \"a_n\" ON \"a\" (\"n\");");
  EXPECT_EQ(translated("UPDATE w SET o = CASE WHEN e IS NULL THEN 'launched' ELSE 'Own er' END"),
            "UPDATE \"w\" SET \"o\" = CASE WHEN \"e\" IS NULL THEN 'launched' ELSE 'Own er' END;");
}

TEST(PostgresStatements, a_put_replaces_all_but_the_key) {
  EXPECT_EQ(sql_of({&parts, StatementKind::put, 0, false}),
            "INSERT INTO \"parts\" (\"owner\", \"number\", \"note\") VALUES ($1, $2, $3) "
            "ON CONFLICT (\"owner\", \"number\") DO UPDATE SET \"note\" = excluded.\"note\"");
}

TEST(PostgresStatements, scans_follow_the_key) {
  EXPECT_EQ(sql_of({&parts, StatementKind::scan_beyond, 1, true}),
            "SELECT \"owner\", \"number\", \"note\" FROM \"parts\" WHERE \"owner\" = $1 AND "
            "\"number\" < $2 ORDER BY \"owner\" DESC, \"number\" DESC LIMIT $3::bigint");
  EXPECT_EQ(sql_of({&things, StatementKind::scan, 0, false}),
            "SELECT \"number\", \"name\", \"price\", \"at\" FROM \"things\" ORDER BY \"number\" "
            "LIMIT $1::bigint");
}

}  // namespace
}  // namespace muster::postgres
