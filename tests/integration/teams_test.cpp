// The verbs of teams and pools, as operators use them: what they refuse, what they do, and who may.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/queue_host.hpp"
#include "tests/support/raw_client.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TeamsAndPools : public ::testing::Test {
 protected:
  std::string refused(const std::vector<std::string>& arguments, int code = 1) const {
    const Finished done = host_.muster(arguments);
    EXPECT_EQ(done.exit_code, code) << arguments[0] << ": " << done.output;
    return done.output;
  }
  std::string said(const std::vector<std::string>& arguments) const {
    return refused(arguments, 0);
  }

  QueueHost host_{1};
};

TEST_F(TeamsAndPools, are_refused_what_makes_no_sense) {
  for (const char* verb : {"set-worker-pool", "destroy-worker-pool", "attach-worker-pool",
                           "detach-worker-pool", "set-team"})
    refused({verb}, 2);
  refused({"attach-worker-pool", "--name", "build"}, 2);
  refused({"set-team", "--name", "ios", "--weight", "heavy"}, 2);
  for (const auto& verb : {std::vector<std::string>{"attach-worker-pool", "--team", "ios"},
                           {"detach-worker-pool", "--team", "ios"},
                           {"destroy-worker-pool"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--name", "none"});
    EXPECT_THAT(refused(arguments),
                HasSubstr("there is no dedicated worker pool worker-manager/none; make it with: "
                          "muster set-worker-pool"));
  }
  EXPECT_THAT(refused({"set-worker-pool", "--name", "none", "--yes"}),
              HasSubstr("there is no worker pool worker-manager/none"));
  EXPECT_THAT(refused({"set-worker-pool", "--name", "build"}),
              AllOf(HasSubstr("nobody can use it"), HasSubstr("--yes")));
  EXPECT_THAT(said({"worker-pools"}), HasSubstr("No pool is dedicated"));
  said({"set-worker-pool", "--name", "build", "--yes"});
  EXPECT_THAT(refused({"attach-worker-pool", "--name", "build", "--team", ""}),
              HasSubstr("teams/0"));
  EXPECT_THAT(refused({"detach-worker-pool", "--name", "build", "--team", "ios"}),
              HasSubstr("team ios is not attached to worker pool worker-manager/build"));
  EXPECT_THAT(refused({"destroy-worker-pool", "--name", "build"}), HasSubstr("still has 1 worker"));
  EXPECT_THAT(refused({"set-team", "--name", "ios", "--weight", "0"}), HasSubstr("weight"));
  EXPECT_THAT(refused({"set-team", "--name", "ios", "--max-held", "-1"}),
              HasSubstr("must be at least 0"));
}

TEST_F(TeamsAndPools, use_what_they_are_attached_to) {
  EXPECT_THAT(said({"worker-pools"}), HasSubstr("No pool is dedicated"));
  EXPECT_THAT(said({"pool", "dedicate", "build", "--team", "ios"}),
              HasSubstr("worker-manager/build serves ios"));
  said({"set-worker-pool", "--name", "build"});  // again changes nothing
  said({"attach-worker-pool", "--name", "build", "--team", "ios", "--team", "web"});
  EXPECT_THAT(said({"worker-pools"}), HasSubstr("ios, web"));
  EXPECT_THAT(said({"worker-pools", "--json"}), HasSubstr("\"teams\""));
  refused({"lease", "--wait", "1s", "--", "true"}, 75);
  said({"lease", "--team", "ios", "--", "true"});
  EXPECT_THAT(refused({"destroy-worker-pool", "--name", "build"}),
              HasSubstr("still serves 2 teams"));
  ASSERT_TRUE(host_.client().put(queue_api + "worker-pools/worker-manager%2Fmac", {}));
  EXPECT_THAT(refused({"attach-worker-pool", "--name", "mac", "--team", "new", "--team", "ios",
                       "--exclusive"}),
              HasSubstr("team ios is attached to worker pool worker-manager/build already"));
  said({"attach-worker-pool", "--name", "mac", "--team", "new", "--exclusive"});
  EXPECT_THAT(refused({"pool", "detach", "mac", "--team", "new"}), HasSubstr("--yes"));
  said({"detach-worker-pool", "--name", "mac", "--team", "new", "--yes"});
  said({"pool", "share", "mac"});
  said({"detach-worker-pool", "--name", "build", "--team", "web"});
  refused({"lease", "--team", "web", "--wait", "1s", "--", "true"}, 75);
}

TEST_F(TeamsAndPools, have_shares_and_limits_that_hold) {
  said({"set-team", "--name", "ios", "--weight", "2", "--max-held", "1", "--max-pending", "1"});
  EXPECT_THAT(refused({"lease", "--team", "ios", "--resource", "active-task=2", "--", "true"}),
              HasSubstr("team ios may hold 1 at once; this asks for 2"));
  host_.hold_one();
  const std::string requests = queue_api + "teams/ios/requests";
  ASSERT_TRUE(host_.client().post(requests));
  EXPECT_THAT(refused({"lease", "--team", "ios", "--wait", "1s", "--", "true"}, 75),
              HasSubstr("team ios has 1 request waiting, which is its limit"));
}

TEST_F(TeamsAndPools, are_changed_by_nobody_who_may_only_ask_for_workers) {
  const auto made = host_.client().put(
      queue_api + "clients/asks", {{"kind", "token"}, {"scopes", {"muster:request-worker:ios"}}});
  ASSERT_TRUE(made) << made.error().message;
  Variables variables = host_.variables();
  variables["MUSTER_TOKEN"] = std::string(made->at("token").as_string());
  const auto said_to_client = [&](const std::vector<std::string>& arguments) {
    const Finished done = run("muster", arguments, variables);
    return std::pair(done.exit_code, done.output);
  };
  EXPECT_EQ(said_to_client({"lease", "--team", "ios", "--", "true"}).first, 0);
  for (const auto& [arguments, scope] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"lease", "--team", "web", "--", "true"}, "muster:request-worker:web"},
           {{"queue"}, "muster:get:queue"},
           {{"worker-pools"}, "muster:get:worker-pools"},
           {{"set-worker-pool", "--name", "build"}, "muster:manage-worker-pools:"},
           {{"destroy-worker-pool", "--name", "build"}, "muster:manage-worker-pools:"},
           {{"attach-worker-pool", "--name", "build", "--team", "ios"},
            "muster:manage-worker-pools:"},
           {{"detach-worker-pool", "--name", "build", "--team", "ios"},
            "muster:manage-worker-pools:"},
           {{"set-team", "--name", "ios"}, "muster:set-team:ios"}}) {
    const auto [code, output] = said_to_client(arguments);
    EXPECT_EQ(code, 1) << arguments[0];
    EXPECT_THAT(output, AllOf(HasSubstr(scope), HasSubstr("muster whoami"))) << arguments[0];
  }
}

TEST_F(TeamsAndPools,
       have_keys_that_are_looked_at_before_they_are_sent_and_shown_by_their_fingerprints) {
  const TemporaryFolder folder;
  const std::string key = (folder / "key").string();
  ASSERT_EQ(run("/usr/bin/ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", key}).exit_code, 0);
  const auto set = [&](const std::string& option) {
    return host_.muster({"set-worker-pool", "--name", "build", "--yes", option});
  };
  const Finished secret = set("--public-worker-key=" + key);
  EXPECT_EQ(secret.exit_code, 1);
  EXPECT_THAT(secret.output, HasSubstr(key + ": "));
  EXPECT_THAT(host_.muster({"worker-pools"}).output, HasSubstr("No pool is dedicated"));
  EXPECT_EQ(set("--public-worker-key=" + key + ".none").exit_code, 1);
  const auto refused = host_.client().put(queue_api + "worker-pools/worker-manager%2Fbuild",
                                          {{"publicKeys", {"ssh-ed25519 AAAA"}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("publicKeys[0]: "));
  EXPECT_FALSE(host_.client().put(queue_api + "worker-pools/worker-manager%2Fbuild",
                                  {{"publicKey", {"ssh-ed25519 AAAA"}}}));
  EXPECT_EQ(set("--public-worker-key=" + key + ".pub").exit_code, 0);
  std::string fingerprint = run("/usr/bin/ssh-keygen", {"-l", "-f", key + ".pub"}).output;
  fingerprint = fingerprint.substr(fingerprint.find("SHA256:"), 50);
  EXPECT_THAT(host_.muster({"worker-pools"}).output, HasSubstr(fingerprint));
  EXPECT_EQ(host_.muster({"set-worker-pool", "--name", "build"}).exit_code, 0);
  EXPECT_THAT(host_.muster({"worker-pools"}).output, HasSubstr(fingerprint)) << "it stays";
  EXPECT_EQ(set("--no-public-worker-keys").exit_code, 0);
  EXPECT_THAT(host_.muster({"worker-pools"}).output, Not(HasSubstr("SHA256:")));
}

TEST(TeamsOfFiles, are_changed_in_the_file_and_nowhere_else) {
  const QueueHost host(1, "teams = [\"ios\"]\n");
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Finished done = host.muster(arguments);
    EXPECT_EQ(done.exit_code, 1) << arguments[0];
    return done.output;
  };
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"set-worker-pool", "--name", "build"},
        {"attach-worker-pool", "--name", "build", "--team", "web"},
        {"detach-worker-pool", "--name", "build", "--team", "ios", "--yes"},
        {"destroy-worker-pool", "--name", "build"}})
    EXPECT_THAT(refused(arguments), HasSubstr("build.toml: change them there"));
  EXPECT_THAT(refused({"set-team", "--name", "limited", "--weight", "2"}),
              HasSubstr("muster.toml: change it there"));
  EXPECT_EQ(host.muster({"lease", "--team", "ios", "--", "true"}).exit_code, 0);
  EXPECT_THAT(host.muster({"worker-pools"}).output, HasSubstr("build.toml"));
}

// -------------------------------------------------------------------------------------------------
// The view of the load

TEST(LoadOfHost, is_shown_by_the_command_line_the_api_and_the_metrics) {
  const QueueHost host(1);
  host.hold_one();
  ASSERT_TRUE(host.client().post(queue_api + "teams/ios/requests"));
  ASSERT_TRUE(host.client().post(queue_api + "teams/ios/requests", {{"workerPoolId", "p/none"}}));
  const json::object pool = host.load_of_pool();
  EXPECT_EQ(pool.at("waiting").as_int64(), 1);
  EXPECT_EQ(pool.at("wouldBe").as_int64(), 2);
  EXPECT_EQ(pool.at("resources").at("active-task").at("utilisation").to_number<double>(), 1);
  EXPECT_GE(pool.at("oldestWaitSeconds").as_int64(), 0);
  const std::string shown = host.muster({"queue"}).output;
  EXPECT_THAT(shown,
              AllOf(HasSubstr("2 requests wait, the oldest for "),
                    HasSubstr("; no pool could serve 1"), HasSubstr("100%"), HasSubstr("p/none")));
  EXPECT_THAT(host.muster({"queue", "--json"}).output, HasSubstr("\"unserved\""));
  Process watching("muster", {"queue", "--watch"}, host.variables());
  watching.wait_for("2 requests wait");
  watching.signal(SIGTERM);
  EXPECT_EQ(watching.exit_code(), 0);
  RawClient scraping(host.host().port());
  scraping.send("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " +
                host.host().address().token + "\r\n\r\n");
  const std::string scraped = scraping.read_all();
  for (const char* line : {"muster_queue_waiting_requests{team=\"ios\"} 2",
                           "muster_queue_oldest_wait_seconds{team=\"ios\"} ",
                           "muster_queue_pool_waiting_requests{pool=\"worker-manager/build\"} 1",
                           "muster_queue_pool_waiting_requests{pool=\"(other)\"} 1",
                           "muster_queue_pool_pending_capacity{pool=\"worker-manager/build\"} 1",
                           "muster_queue_pool_oldest_wait_seconds{pool=\"worker-manager/build\"} ",
                           "muster_queue_pool_would_be_capacity{pool=\"worker-manager/build\"} 2",
                           "muster_queue_resource_utilisation{pool=\"worker-manager/"
                           "build\",resource=\"active-task\"} 1",
                           "muster_queue_unserved_requests 1"})
    EXPECT_THAT(scraped, HasSubstr(line));
}

}  // namespace
}  // namespace muster::testing
