// Many real clients of a real host: none shares its worker, the dead give theirs back, and a host
// that is killed changes nothing of that.
#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include "host/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

const std::string api = "/api/muster/v1/";
constexpr std::size_t pool_size = 20;

// A host with a pool of simulated workers, all of which have registered.
class QueueOfHost : public ::testing::Test {
 protected:
  QueueOfHost() {
    std::filesystem::create_directories(folder_ / "workers");
    std::ofstream(folder_ / "workers" / "build.toml")
        << "workerTypes = [\"build\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
           "[rules.values]\nproviders = [\"sim\"]\nowner = \"team@example.com\"\n"
           "description = \"Builds\"\nminCapacity = "
        << pool_size << "\nmaxCapacity = " << pool_size
        << "\nsimulated.instanceTypes = [\"small\"]\n";
    host_ = std::make_unique<Musterd>(configuration(), Variables{}, MUSTER_SHIPPED_PLUGINS);
    if (!eventually([&] { return workers().size() == pool_size; }))
      throw std::runtime_error("not all workers are launched");
    for (const json::value& worker : workers()) register_worker(worker.as_object());
  }

  json::array workers() const {
    const auto answer =
        host_->client().get(api + "pools/worker-manager%2Fbuild/workers?limit=1000");
    json::array known;
    if (answer)
      for (const json::value& worker : answer->at("workers").as_array())
        if (!worker.at("workerId").as_string().empty()) known.push_back(worker);
    return known;
  }

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
    const auto done = host_->client().post("/api/worker-manager/v1/worker/register",
                                           {{"workerPoolId", "worker-manager/build"},
                                            {"providerId", "sim"},
                                            {"workerGroup", group},
                                            {"workerId", id},
                                            {"workerIdentityProof", {{"token", to_hex(proof)}}}});
    ASSERT_TRUE(done) << done.error().message;
  }

  json::object queue() const { return host_->client().get(api + "queue")->as_object(); }

  Finished muster(std::vector<std::string> arguments) const {
    return run("muster", arguments,
               {{"MUSTER_URL", host_->address().url}, {"MUSTER_TOKEN", host_->address().token}});
  }

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

  TemporaryFolder folder_;
  std::unique_ptr<Musterd> host_;
};

// Who holds which worker, as the clients see it.
class Holders {
 public:
  void take(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    if (!held_.insert(worker).second) ++shared_;
    ++grants_;
  }
  void give_back(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    held_.erase(worker);
  }
  int shared() const { return shared_; }
  int grants() const { return grants_; }

 private:
  std::mutex mutex_;
  std::set<std::string> held_;
  std::atomic<int> shared_ = 0, grants_ = 0;
};

// One client: asks, waits, holds, gives back; and again. `dies`: it holds its last worker and is
// never heard of again.
void live(const cli::HostAddress& first, const std::function<cli::HostAddress()>& address, int name,
          bool dies, Holders& holders) {
  auto host = std::make_unique<cli::HostClient>(first);
  const auto insist = [&](const std::function<Result<json::value>(cli::HostClient&)>& call) {
    for (;;) {
      auto answer = call(*host);
      if (answer || answer.error().error_class == ErrorClass::not_found ||
          answer.error().error_class == ErrorClass::invalid)
        return answer;
      std::this_thread::sleep_for(1ms);
      host = std::make_unique<cli::HostClient>(address());  // it may have been started again
    }
  };
  const std::string requests = api + "teams/team-" + std::to_string(name % 7) + "/requests";
  constexpr int rounds = 3;
  for (int round = 0; round < rounds; ++round) {
    const bool last = dies && round + 1 == rounds;
    const json::object body{{"token", std::to_string(name) + "-" + std::to_string(round)},
                            {"heartbeatSeconds", last ? 5 : 60}};
    auto request = insist([&](cli::HostClient& to) { return to.post(requests, body); });
    ASSERT_TRUE(request) << request.error().message;
    const std::string one = requests + "/" + std::string(request->at("requestId").as_string());
    while (request->at("state") == "waiting") {
      request = insist([&](cli::HostClient& to) { return to.get(one + "?wait=2"); });
      ASSERT_TRUE(request) << request.error().message;
    }
    ASSERT_EQ(request->at("state"), "held");
    const std::string worker(request->at("worker").at("workerId").as_string());
    holders.take(worker);
    ASSERT_TRUE(insist([&](cli::HostClient& to) { return to.post(one + "/heartbeat"); }));
    std::this_thread::sleep_for(1ms);
    holders.give_back(worker);
    if (last) return;
    // After a lost answer it is not there any more.
    (void)insist([&](cli::HostClient& to) { return to.remove(one); });
  }
}

TEST_F(QueueOfHost, two_hundred_clients_share_no_worker_while_the_host_is_killed) {
  constexpr int clients = 200;
  Holders holders;
  std::mutex restarting;
  const auto address = [&] {
    const std::lock_guard lock(restarting);
    return host_->address();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&, i, at = address()] { live(at, address, i, i % 10 == 0, holders); });
  for (const int grants : {100, 300}) {
    EXPECT_TRUE(eventually([&] { return holders.grants() >= grants; }));
    const std::lock_guard lock(restarting);
    host_->kill();
    host_->start();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(holders.shared(), 0);
  EXPECT_EQ(holders.grants(), clients * 3);
  EXPECT_TRUE(eventually([&] {
    const json::object load = queue();
    for (const json::value& pool : load.at("workerPools").as_array())
      if (pool.at("used").as_int64() != 0) return false;
    return load.at("waiting").as_int64() == 0;
  })) << "the dead give their workers back";
}

TEST_F(QueueOfHost, lease_runs_a_command_and_passes_its_exit_code_on) {
  const Finished done = muster({"lease", "--pool", "build", "--", "/bin/sh", "-c",
                                "echo on $MUSTER_WORKER_ID of $MUSTER_WORKER_POOL_ID; exit 7"});
  EXPECT_EQ(done.exit_code, 7) << done.output;
  EXPECT_THAT(done.output, HasSubstr("of worker-manager/build"));
  EXPECT_EQ(queue().at("workerPools").at(0).at("used").as_int64(), 0);
  const Finished none = muster({"lease", "--", "/no/such/program"});
  EXPECT_EQ(none.exit_code, 127) << none.output;
  EXPECT_EQ(muster({"lease", "--resource", "memory", "--", "true"}).exit_code, 1);
  EXPECT_EQ(muster({"lease", "--pool", "build", "--tag", "x", "--", "true"}).exit_code, 2);
}

TEST_F(QueueOfHost, lease_gives_up_in_time_and_says_why_it_waited) {
  const Finished done = muster({"lease", "--tag", "gpu", "--wait", "1s", "--", "true"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("blocked: there is no worker"));
  EXPECT_THAT(done.output, HasSubstr("deadline"));
}

TEST_F(QueueOfHost, lease_that_is_ended_by_a_signal_gives_its_worker_back) {
  Process lease("muster", {"lease", "--", "/bin/sh", "-c", "echo started; exec sleep 600"},
                {{"MUSTER_URL", host_->address().url}, {"MUSTER_TOKEN", host_->address().token}});
  lease.wait_for("started");
  EXPECT_EQ(queue().at("workerPools").at(0).at("used").as_int64(), 1);
  lease.signal(SIGTERM);
  EXPECT_EQ(lease.exit_code(), 128 + SIGTERM);
  EXPECT_EQ(queue().at("workerPools").at(0).at("used").as_int64(), 0);
}

TEST_F(QueueOfHost, verbs_of_pools_and_teams) {
  EXPECT_THAT(muster({"worker-pools"}).output, HasSubstr("no pool is dedicated"));
  EXPECT_EQ(muster({"attach-worker-pool", "--name", "build", "--team", "ios"}).exit_code, 1);
  EXPECT_EQ(muster({"set-worker-pool", "--name", "build"}).exit_code, 0);
  EXPECT_EQ(
      muster({"attach-worker-pool", "--name", "build", "--team", "ios", "--team", "web"}).exit_code,
      0);
  EXPECT_THAT(muster({"worker-pools"}).output, HasSubstr("ios, web"));
  EXPECT_EQ(muster({"lease", "--wait", "1s", "--", "true"}).exit_code, 1) << "not for strangers";
  EXPECT_EQ(muster({"lease", "--team", "ios", "--", "true"}).exit_code, 0);
  const Finished refused = muster({"destroy-worker-pool", "--name", "build"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output, HasSubstr("still serves 2 teams"));
  EXPECT_EQ(muster({"detach-worker-pool", "--name", "build", "--team", "web"}).exit_code, 0);
  EXPECT_THAT(muster({"set-team", "--name", "limited", "--weight", "2"}).output,
              HasSubstr("muster.toml"));
  EXPECT_THAT(muster({"queue"}).output, HasSubstr("requests wait"));
  EXPECT_THAT(muster({"why", "build"}).output, HasSubstr("worker-manager/build"));
  const Finished unknown = muster({"why", "nothing/of/this"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.output, HasSubstr("nobody knows"));
}

// A pool that is full, with leases that were measured: who waits is told why, until when, and by
// which line of which file.
TEST_F(QueueOfHost, why_and_eta_tell_the_story_with_the_rule_behind_it) {
  EXPECT_THAT(muster({"eta"}).output, HasSubstr("no request has had to wait"));
  const std::string requests = api + "teams/a/requests";
  const auto ask = [&] { return *host_->client().post(requests, {}); };
  const auto id_of = [](const json::value& request) {
    return std::string(request.at("requestId").as_string());
  };
  const std::string measured = id_of(ask());
  ASSERT_TRUE(host_->client().remove(requests + "/" + measured));
  std::vector<std::string> held;
  for (std::size_t i = 0; i < pool_size; ++i) held.push_back(id_of(ask()));
  const std::string waiting = id_of(ask());
  ASSERT_TRUE(eventually([&] {
    return muster({"why", waiting}).output.find("says so: rule") != std::string::npos;
  }));
  const std::string told = muster({"why", waiting}).output;
  EXPECT_THAT(told, HasSubstr("Request " + waiting + " of team a asked for 1 active-task"));
  EXPECT_THAT(told, HasSubstr("It is waiting: number 1 of its line"));
  EXPECT_THAT(told, HasSubstr("maxCapacity"));
  EXPECT_THAT(told, HasSubstr("build.toml:10:1 says so: rule \"all\" sets maxCapacity = 20"));
  EXPECT_THAT(told, HasSubstr("team@example.com"));
  EXPECT_THAT(told, HasSubstr("nine times out of ten within"));
  EXPECT_THAT(muster({"eta", waiting}).output, HasSubstr("nine times out of ten by"));
  EXPECT_THAT(muster({"eta", held[0]}).output, HasSubstr("now"));
  const json::object worker = workers()[0].as_object();
  const std::string name = std::string(worker.at("workerGroup").as_string()) + "/" +
                           std::string(worker.at("workerId").as_string());
  EXPECT_THAT(muster({"why", name}).output, HasSubstr("of team a holds 1 active-task of it for"));
  EXPECT_THAT(muster({"why", std::string(worker.at("launchConfigId").as_string())}).output,
              HasSubstr("launches were tried"));
  ASSERT_TRUE(host_->client().remove(requests + "/" + held[0]));
  EXPECT_THAT(muster({"eta"}).output, HasSubstr("of the last 1 times that requests were told"));
  EXPECT_EQ(muster({"eta", "0"}).exit_code, 1);
}

TEST_F(QueueOfHost,
       keys_of_pools_are_looked_at_before_they_are_sent_and_shown_by_their_fingerprints) {
  const TemporaryFolder folder;
  const std::string key = (folder / "key").string();
  ASSERT_EQ(run("/usr/bin/ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", key}).exit_code, 0);
  const auto set = [&](const std::string& option) {
    return muster({"set-worker-pool", "--name", "build", option});
  };
  const Finished secret = set("--public-worker-key=" + key);
  EXPECT_EQ(secret.exit_code, 1);
  EXPECT_THAT(secret.output, HasSubstr(key + ": "));
  EXPECT_THAT(muster({"worker-pools"}).output, HasSubstr("no pool is dedicated"));
  EXPECT_EQ(set("--public-worker-key=" + key + ".none").exit_code, 1);
  const auto refused = host_->client().put(api + "worker-pools/worker-manager%2Fbuild",
                                           {{"publicKeys", {"ssh-ed25519 AAAA"}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("publicKeys[0]: "));
  EXPECT_FALSE(host_->client().put(api + "worker-pools/worker-manager%2Fbuild",
                                   {{"publicKey", {"ssh-ed25519 AAAA"}}}));
  EXPECT_EQ(set("--public-worker-key=" + key + ".pub").exit_code, 0);
  std::string fingerprint = run("/usr/bin/ssh-keygen", {"-l", "-f", key + ".pub"}).output;
  fingerprint = fingerprint.substr(fingerprint.find("SHA256:"), 50);
  EXPECT_THAT(muster({"worker-pools"}).output, HasSubstr(fingerprint));
  EXPECT_EQ(muster({"set-worker-pool", "--name", "build"}).exit_code, 0);
  EXPECT_THAT(muster({"worker-pools"}).output, HasSubstr(fingerprint)) << "it stays";
  EXPECT_EQ(set("--no-public-worker-keys").exit_code, 0);
  EXPECT_THAT(muster({"worker-pools"}).output, Not(HasSubstr("SHA256:")));
}

TEST_F(QueueOfHost, settings_hold_as_soon_as_the_host_has_read_them_again) {
  const std::string requests = api + "teams/a/requests";
  const json::object for_nobody{{"tags", {"gpu"}}};
  ASSERT_TRUE(host_->client().post(requests, for_nobody));
  host_->configure(configuration("[queue]\nmostWaiting = 1\n"));
  host_->process().signal(SIGHUP);
  host_->process().wait_for("the configuration was read again");
  const auto refused = host_->client().post(requests, for_nobody);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the queue is full"));
}

}  // namespace
}  // namespace muster::testing
