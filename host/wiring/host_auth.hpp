// Who may ask this host: what the configuration says, the admin that the host makes at its first
// start, and the clients that were made since.
#pragma once

#include <filesystem>
#include <memory>

#include "host/auth/client_store.hpp"
#include "host/config/host_configuration.hpp"
#include "host/fleet/service.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// THREADS: load(), write_admin_file() and open_store() on the host's thread, before requests are
// served or between signals; the rest from any.
class HostAuth {
 public:
  HostAuth(const Clock& clock, TimeWatch& watch, Log log)
      : clock_(clock), log_(std::move(log)), authority_(clock, {}, &watch) {}

  // Reads tokens, clients and roles, and makes the admin's secrets if there are none. On an error
  // nothing has changed. Idempotent.
  Result<void> load(const config::HostConfiguration& configuration,
                    const std::filesystem::path& data_directory);
  // `admin.env`, which makes Taskcluster's clients the admin of the host at `url`. Idempotent.
  Result<void> write_admin_file(const std::filesystem::path& data_directory,
                                const std::string& url);
  // The clients in the store. Without them those of load() come in all the same.
  void open_store(const store::Store& store, fleet::Service& fleet,
                  const std::filesystem::path& data_directory);
  // Whether this host can decrypt the secrets in a store that others have used. `config`: no.
  static Result<void> check_key(const store::Store& store,
                                const std::filesystem::path& data_directory);
  void store_unavailable(std::string reason) { store_unavailable_ = std::move(reason); }

  // How many requests were not let in.
  void write_metrics(metrics::Page& page) const;

  auth::Authority& authority() { return authority_; }
  auth::ClientStore* book() { return book_.get(); }
  const std::string& why_store_unavailable() const { return store_unavailable_; }

 private:
  void keep_sessions(const store::Store& store, fleet::Service& fleet);
  Result<auth::Client> admin_client(const std::filesystem::path& data_directory);

  const Clock& clock_;
  const Log log_;
  auth::Authority authority_;
  bool keeps_seen_times_ = false;
  std::string url_ = "http://127.0.0.1:8600";
  std::unique_ptr<auth::ClientStore> book_;
  std::string store_unavailable_ = "the host is starting";
};

}  // namespace muster
