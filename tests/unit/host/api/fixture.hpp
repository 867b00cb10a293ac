// Muster's own API as its clients see it: the real fleet on a store in memory, the real router with
// its guard, the real table of endpoints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/api/api.hpp"
#include "host/auth/authority.hpp"
#include "host/fleet/service.hpp"
#include "host/history/history.hpp"
#include "host/store/memory_store.hpp"
#include "host/worker_logs/log_store.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/http/router.hpp"
#include "lib/http/worker_threads.hpp"

namespace muster::api {

struct Reply {
  int status = 0;
  json::value body;

  std::string text(std::string_view name) const;
  std::string code() const { return text("code"); }
  std::string message() const { return text("message"); }
};

class Fixture {
 public:
  // Without a fleet nothing works but what is about the host itself.
  explicit Fixture(bool with_fleet = true);
  ~Fixture();

  // The target is below /api/muster/v1 unless it is a whole path. The client "root" may do
  // everything; no token: no credentials.
  Reply ask(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& token = "root");
  // A token with these scopes.
  std::string client(const std::vector<std::string>& scopes);

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  store::MemoryStore store;
  auth::Authority authority{*clock};
  worker_logs::LogStore worker_logs;
  history::History history;
  std::function<pools::ProviderContext()> provider_context = [] {
    return pools::ProviderContext();
  };
  std::unique_ptr<fleet::Service> fleet;
  std::unique_ptr<http::Router> router;
  http::WorkerThreads workers{2, 16, Log()};  // ends before what it works on

 private:
  int clients_ = 0;
};

}  // namespace muster::api
