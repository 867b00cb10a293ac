// The store that the configuration names: SQLite in the data directory, or PostgreSQL.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "host/config/host_configuration.hpp"
#include "host/postgres/connection_settings.hpp"
#include "host/store/sqlite_store.hpp"

namespace muster {

// That this host leads those that share its database.
struct HostLead {
  std::int64_t epoch = 0;
  std::string host_name = {};
  // Whether it may still decide, call providers and acknowledge. THREADS: any.
  std::function<bool()> may_act = {};
};

struct OpenedStore {
  std::unique_ptr<store::Store> store;
  store::SqliteStore* sqlite = nullptr;  // the same, if it is one
  std::optional<store::MissingCommits> missing = {};
};

// Without a lead: SQLite. As SqliteStore::open and PostgresStore::open.
Result<OpenedStore> open_store(const config::HostConfiguration& configuration,
                               const std::filesystem::path& data_directory,
                               const std::optional<HostLead>& lead,
                               std::shared_ptr<const Clock> clock, const Log& log);

// How this host reaches its database, under that name.
postgres::ConnectionSettings connection_settings(const config::HostConfiguration& configuration,
                                                 const std::string& host_name);

}  // namespace muster
