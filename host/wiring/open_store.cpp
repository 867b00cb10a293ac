#include "host/wiring/open_store.hpp"

#include "host/postgres/postgres_store.hpp"
#include "host/wiring/follower_state.hpp"

namespace muster {
namespace {

constexpr const char* sqlite_name = "muster.db";
constexpr const char* mark_name = "postgres.mark";

}  // namespace

postgres::ConnectionSettings connection_settings(const config::HostConfiguration& configuration,
                                                 const std::string& host_name) {
  postgres::ConnectionSettings settings;
  settings.address = configuration.store.postgres;
  settings.password_file = configuration.store.password_file;
  settings.application_name = postgres::application_name(host_name);
  return settings;
}

Result<OpenedStore> open_store(const config::HostConfiguration& configuration,
                               const std::filesystem::path& data_directory,
                               const std::optional<HostLead>& lead,
                               std::shared_ptr<const Clock> clock, const Log& log) {
  OpenedStore opened;
  if (lead) {
    auto store = postgres::PostgresStore::open(
        {.connection = connection_settings(configuration, lead->host_name),
         .epoch = lead->epoch,
         .mark = data_directory / mark_name,
         .followed = followed_tables(),
         .clock = std::move(clock),
         .log = log});
    if (!store) return store.error();
    opened.missing = (*store)->missing();
    opened.store = std::move(*store);
    return opened;
  }
  store::SqliteSettings settings;
  settings.synchronous_full = configuration.store.synchronous_full;
  settings.clock = std::move(clock);
  settings.log = log;
  auto store = store::SqliteStore::open(data_directory / sqlite_name, settings);
  if (!store) return store.error();
  opened.missing = (*store)->missing();
  opened.sqlite = store->get();
  opened.store = std::move(*store);
  return opened;
}

}  // namespace muster
