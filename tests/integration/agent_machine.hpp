// A machine of a datacenter with an agent, and a real host that knows it.
#pragma once

#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "lib/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::testing {

inline const std::string api = "/api/worker-manager/v1";
inline const std::string worker_path = api + "/workers/rack%2Fbuild/row/machine";

inline bool lives(pid_t pid) {
  return pid > 0 && ::kill(pid, 0) == 0;
}

// A host with a pool of announced machines, one of them announced, and a folder for its agent.
class Machine : public ::testing::Test {
 protected:
  explicit Machine(const Variables& of_host = {})
      : host("[providers.rack]\nplugin = \"provider/static\"\n", of_host, MUSTER_SHIPPED_PLUGINS) {}

  // `lasts`: seconds that credentials are good for.
  void announce(int lasts = 3600) {
    set_pool(lasts, "first");
    secret = random_token().reveal() + "x";
    ok(host.client().put(worker_path, {{"expires", "2099-01-01T00:00:00Z"},
                                       {"capacity", 1},
                                       {"providerInfo", json::object{{"staticSecret", secret}}}}));
    write_secret(secret);
    configure();
  }

  void set_pool(int lasts, const std::string& value) {
    const json::object pool{
        {"providerId", "rack"},
        {"owner", "lab@example.com"},
        {"description", ""},
        {"emailOnError", false},
        {"config", json::object{{"lifecycle", json::object{{"reregistrationTimeout", lasts}}},
                                {"workerConfig",
                                 json::object{{"environment", json::object{{"VALUE", value}}}}}}}};
    const std::string path = api + "/worker-pool/rack%2Fbuild";
    ok(made_ ? host.client().post(path, pool) : host.client().put(path, pool));
    made_ = true;
  }

  void write_secret(const std::string& text) const {
    std::ofstream(folder / "secret") << text;
    ::chmod((folder / "secret").c_str(), 0600);
  }

  void configure(const std::string& root_url = "", const std::string& more = "") const {
    std::ofstream(folder / "agent.toml")
        << "rootUrl = \"" << (root_url.empty() ? host.address().url : root_url)
        << "\"\nworkerPoolId = \"rack/build\"\nproviderId = \"rack\"\nworkerGroup = \"row\"\n"
        << "workerId = \"machine\"\nfolder = \"state\"\n"
        << top_keys << "[identity]\nkind = \"staticSecret\"\n"
        << "secretFile = \"secret\"\n[timings]\nretryMin = \"50ms\"\nretryMax = \"200ms\"\n"
        << "requestTimeout = \"10s\"\n"
        << more << "[worker]\nstopGrace = \"10s\"\n"
        << "command = [\"" << (folder / "worker").string() << "\"]\n";
    write_worker(
        "trap 'echo \"worker told to end\"; exit 0' TERM\n"
        "trap '. \"$MUSTER_ENVIRONMENT_FILE\"; echo \"worker has $VALUE\"' HUP\n"
        "echo idle >\"$MUSTER_REPORTS\"\necho \"worker runs with $VALUE\"\n"
        "while :; do sleep 1000 & wait $!; done\n");
  }

  void write_worker(const std::string& script) const {
    std::ofstream(folder / "worker") << "#!/bin/sh\n" << script;
    ::chmod((folder / "worker").c_str(), 0700);
  }

  std::unique_ptr<Process> start(const Variables& variables = {}) const {
    return std::make_unique<Process>(
        "muster-agent", std::vector<std::string>{"--config", (folder / "agent.toml").string()},
        variables);
  }

  // It may run a moment before that is noted.
  pid_t worker_pid() const {
    pid_t pid = 0;
    if (!eventually([&] {
          std::ifstream(folder / "state/worker.pid") >> pid;
          return pid > 1;
        }))
      throw std::runtime_error("no worker runs");
    return pid;
  }
  std::string worker_state() const {
    const auto answer = host.client().get(worker_path);
    return answer ? std::string(answer->at("state").as_string()) : "gone";
  }
  std::string errors() const {
    const auto answer = host.client().get(api + "/worker-pool-errors/rack%2Fbuild");
    return answer ? json::write(*answer) : answer.error().message;
  }

  static void ok(const Result<json::value>& answer) {
    if (!answer) throw std::runtime_error(answer.error().message);
  }

  Musterd host;
  TemporaryFolder folder;
  std::string secret;
  std::string top_keys;  // further lines of the agent's configuration

 private:
  bool made_ = false;
};

}  // namespace muster::testing
