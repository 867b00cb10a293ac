// Stores in databases of their own, on the one server of the program.
#pragma once

#include "host/postgres/connection.hpp"
#include "host/postgres/postgres_store.hpp"
#include "tests/support/postgres.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::postgres::testing {

using muster::testing::Postgres;
using muster::testing::shared_postgres;

inline StoreSettings settings_of(const std::string& address) {
  StoreSettings settings;
  settings.connection.address = address;
  settings.migrations = store::testing::steps;
  return settings;
}

inline std::unique_ptr<PostgresStore> open_store(StoreSettings settings) {
  auto opened = PostgresStore::open(std::move(settings));
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

inline std::unique_ptr<PostgresStore> open_store(const std::string& address) {
  return open_store(settings_of(address));
}

inline std::unique_ptr<Connection> connect(const std::string& address) {
  auto opened = Connection::open({.address = address});
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

}  // namespace muster::postgres::testing
