#include "host/postgres/errors.hpp"

#include <gtest/gtest.h>

namespace muster::postgres {
namespace {

Error of(const std::string& state, const std::string& text = "ERROR:  words") {
  return error_of({state, text}, "muster on db:5432");
}

TEST(PostgresErrors, a_lost_connection_has_no_state_and_an_unknown_outcome) {
  for (const char* state : {"", "08006", "08003", "57P01", "57P02", "57P03"}) {
    EXPECT_EQ(of(state).code, connection_lost) << state;
    EXPECT_EQ(of(state).error_class, ErrorClass::transient) << state;
  }
}

TEST(PostgresErrors, kinds_of_failure_are_told_apart) {
  EXPECT_EQ(of("40001").code, serialization);
  EXPECT_EQ(of("40P01").code, serialization);
  EXPECT_EQ(of("25006").code, read_only_server);
  EXPECT_EQ(of("25006").error_class, ErrorClass::transient);
  EXPECT_EQ(of("57014").code, timed_out);
  EXPECT_EQ(of("53100").error_class, ErrorClass::capacity);
  EXPECT_EQ(of("58030", "could not extend file: No space left on device").error_class,
            ErrorClass::capacity);
  EXPECT_EQ(of("58030", "could not read: Input/output error").error_class, ErrorClass::transient);
  for (const char* state : {"XX001", "XX002", "58P01"}) {
    EXPECT_EQ(of(state).error_class, ErrorClass::internal) << state;
    EXPECT_EQ(of(state).code, damage) << state;
  }
}

TEST(PostgresErrors, what_an_operator_must_change_is_config_and_says_what) {
  for (const char* state : {"28P01", "28000", "3D000", "42501"}) {
    EXPECT_EQ(of(state).error_class, ErrorClass::config) << state;
    EXPECT_NE(of(state).message.find(": ", of(state).message.find("words")), std::string::npos);
  }
}

TEST(PostgresErrors, a_sentence_names_the_database_and_one_line_of_the_server) {
  EXPECT_EQ(of("40001", "ERROR:  could not serialize\nCONTEXT: secret rows").message,
            "the database muster on db:5432: could not serialize");
}

}  // namespace
}  // namespace muster::postgres
