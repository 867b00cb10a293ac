// A real host whose queue has workers to hand out, and its command line.
#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <openssl/hmac.h>

#include "lib/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {

inline const std::string queue_api = "/api/muster/v1/";

// With one pool, worker-manager/build, of so many simulated workers, all of which have registered.
class QueueHost {
 public:
  explicit QueueHost(std::size_t workers, const std::string& more_rules = {},
                     const Variables& variables = {}) {
    std::filesystem::create_directories(folder_ / "workers");
    std::ofstream(folder_ / "workers" / "build.toml")
        << "workerTypes = [\"build\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
           "[rules.values]\nproviders = [\"sim\"]\nowner = \"team@example.com\"\n"
           "description = \"Builds\"\nminCapacity = "
        << workers << "\nmaxCapacity = " << workers << "\nsimulated.instanceTypes = [\"small\"]\n"
        << more_rules;
    host_ = std::make_unique<Musterd>(configuration(), variables, MUSTER_SHIPPED_PLUGINS);
    if (!eventually([&] { return this->workers().size() == workers; }))
      throw std::runtime_error("not all workers are launched");
    for (const json::value& worker : this->workers()) register_worker(worker.as_object());
  }

  Musterd& host() const { return *host_; }
  cli::HostClient client() const { return host_->client(); }

  // What the host is told; `more` at the end.
  std::string configuration(const std::string& more = {}) const {
    return "workerConfigurations = \"" + (folder_ / "workers").string() +
           "\"\n[http]\naccessLog = false\nmaxConnections = 2000\nmaxConnectionsPerPeer = 0\n"
           "requestsPerSecondPerPeer = 0\n"
           "[teams.limited]\nmaxHeld = 2\n"
           "[providers.sim]\nplugin = \"provider/simulated\"\n[providers.sim.config]\n"
           "secret = \"a long random text\"\nstateFile = \"" +
           (folder_ / "cloud.json").string() + "\"\n" + more;
  }

  json::array workers() const {
    const auto answer = client().get(queue_api + "pools/worker-manager%2Fbuild/workers?limit=1000");
    json::array known;
    if (answer)
      for (const json::value& worker : answer->at("workers").as_array())
        if (!worker.at("workerId").as_string().empty()) known.push_back(worker);
    return known;
  }

  json::object load() const { return client().get(queue_api + "queue")->as_object(); }
  json::object load_of_pool() const {
    const json::object all = load();
    for (const json::value& pool : all.at("workerPools").as_array())
      if (pool.at("workerPoolId") == "worker-manager/build") return pool.as_object();
    throw std::runtime_error("the queue does not know the pool");
  }
  std::int64_t used() const { return load_of_pool().at("used").as_int64(); }
  std::int64_t waiting() const { return load().at("waiting").as_int64(); }

  // Asks for a worker as somebody else does, and waits for it. Its path.
  std::string hold_one() const {
    const std::string requests = queue_api + "teams/holder/requests";
    const auto request = client().post(requests, {{"heartbeatSeconds", 3600}});
    if (!request) throw std::runtime_error(request.error().message);
    const std::string path = requests + "/" + std::string(request->at("requestId").as_string());
    const auto held = client().get(path + "?wait=30");
    if (!held || held->at("state") != "held") throw std::runtime_error("there is no worker");
    return path;
  }

  Variables variables() const {
    return {{"MUSTER_URL", host_->address().url}, {"MUSTER_TOKEN", host_->address().token}};
  }
  Finished muster(const std::vector<std::string>& arguments) const {
    return run("muster", arguments, variables());
  }

 private:
  // As the worker itself does it: with a proof that the simulated cloud has given it.
  void register_worker(const json::object& worker) const {
    const std::string group(worker.at("workerGroup").as_string());
    const std::string id(worker.at("workerId").as_string());
    const std::string signed_text = "worker-manager/build\n" + group + "\n" + id;
    const std::string secret = "a long random text";
    Sha256 proof{};
    ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(),
           proof.data(), nullptr);
    const auto done = client().post("/api/worker-manager/v1/worker/register",
                                    {{"workerPoolId", "worker-manager/build"},
                                     {"providerId", "sim"},
                                     {"workerGroup", group},
                                     {"workerId", id},
                                     {"workerIdentityProof", {{"token", to_hex(proof)}}}});
    if (!done) throw std::runtime_error(done.error().message);
  }

  TemporaryFolder folder_;
  std::unique_ptr<Musterd> host_;
};

}  // namespace muster::testing
