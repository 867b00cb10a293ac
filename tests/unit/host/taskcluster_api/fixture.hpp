// A host as clients of the API see it: the real fleet on a store in memory, the real router and the
// real checks of credentials; only time and the cloud are made up.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/api/services.hpp"
#include "host/auth/authority.hpp"
#include "host/auth/client_store.hpp"
#include "host/events/service.hpp"
#include "host/fleet/service.hpp"
#include "host/history/history.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/registration/registrar.hpp"
#include "host/store/memory_store.hpp"
#include "host/taskcluster_api/api.hpp"
#include "host/taskcluster_api/call.hpp"
#include "host/taskcluster_api/endpoints.hpp"
#include "host/worker_logs/log_store.hpp"
#include "host/worker_state/service.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/http/router.hpp"
#include "lib/http/worker_threads.hpp"
#include "lib/metrics/metrics.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::taskcluster_api {

// A store that fails when it is told to.
class BreakableStore final : public store::Store {
 public:
  Result<void> commit(const store::Batch& batch) override;
  Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override;
  Result<void> backup(const std::string& file) const override;

  std::atomic<bool> broken = false;
  store::MemoryStore inner;
};

struct Reply {
  int status = 0;
  std::vector<http::Header> headers;
  std::string text;
  json::value body;

  std::string header(std::string_view name) const;
  std::string code() const { return field("code"); }
  std::string message() const { return field("message"); }
  std::string field(std::string_view name) const;
  const json::value& at(std::string_view name) const { return body.as_object().at(name); }
};

struct Options {
  json::value body = nullptr;
  std::string query = {};
  std::string token = "root";  // of a client; empty: no credentials
  std::string peer = "192.0.2.1:4711";
  std::string trace_parent = {};  // the header; empty: none
};

// Two providers: "cloud", which launches (region eu-1 and us-1, one machine for each item of
// `types`, identity proof {"token": "good"}), and "rack", whose machines are announced.
class Fixture {
 public:
  explicit Fixture(std::vector<store::Batch> before = {}, registration::FailureLimits limits = {});
  ~Fixture();

  // By the endpoint's name, with the values of its route. An answer of 200 must have the form that
  // the endpoint's schema says.
  Reply call(std::string_view name, const std::vector<std::string>& parameters = {},
             Options options = {});
  // A request as it is. `body` as text, with its content type.
  Reply send(const std::string& method, const std::string& path, const Options& options = {},
             const std::string& body = "", const std::string& type = "application/json");

  // A client with these scopes, for Options::token.
  std::string client(const std::vector<std::string>& scopes);

  const Schemas& schemas() const { return api->schemas; }

  // Does what a provider's threads and the fleet's own would have done by now.
  void let_run();

  json::object pool_body(const std::string& provider = "rack") const;
  json::object cloud_pool_body() const;
  json::object machine_body(const std::string& secret = std::string(44, 's')) const;
  std::string later(std::chrono::seconds from_now) const;
  // When nothing is being committed: a commit under way would seem to take all that time.
  void advance(std::chrono::milliseconds time);

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  BreakableStore store;
  auth::Authority authority{*clock};
  std::unique_ptr<http::WorkerThreads> workers;
  std::unique_ptr<events::Service> events;
  std::unique_ptr<fleet::Service> fleet;
  std::unique_ptr<registration::Registrar> registrar;
  std::unique_ptr<http::Router> router;
  std::shared_ptr<const Api> api;
  worker_logs::LogStore worker_logs;
  history::History history;
  std::unique_ptr<worker_state::Service> runs;
  std::atomic<int> identified = 0;
  std::string last_trace;  // of the request that was identified last
  std::atomic<bool> cloud_runs = true;
  std::function<Result<Identity>(const IdentifyRequest&)> identify_cloud, identify_rack;

 private:
  Parts parts();
  api::Services own_services();
  registration::Dependencies registration_dependencies();
  int clients_ = 0;
  testing::TemporaryFolder folder_;
  metrics::Metrics metrics_;
  std::unique_ptr<plugin_loader::PluginCatalog> plugins_;
  std::unique_ptr<auth::ClientStore> client_store_;
};

inline constexpr const char* root_url = "https://muster.example.com";

}  // namespace muster::taskcluster_api
