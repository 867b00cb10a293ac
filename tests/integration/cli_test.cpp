#include <fstream>
#include <signal.h>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/command_host.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(StatusCommand, says_where_it_looked_when_no_host_runs) {
  TemporaryFolder folder;
  const Command command = isolated("muster", {"status"});  // without a host in /var/lib/muster
  const Finished asked =
      run(command.program, command.arguments, {{"HOME", folder.path().string()}});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_NE(asked.output.find((folder / ".local/state/muster").string()), std::string::npos)
      << asked.output;
  EXPECT_NE(asked.output.find("MUSTER_URL"), std::string::npos);
}

TEST(StatusCommand, says_so_when_the_host_is_gone_or_the_token_is_wrong) {
  Musterd musterd;
  const std::string url = musterd.address().url;
  const Finished stranger = run("muster", {"status", "--url", url, "--token", "wrong"});
  EXPECT_EQ(stranger.exit_code, 1);
  EXPECT_NE(stranger.output.find("not known here"), std::string::npos) << stranger.output;
  musterd.process().signal(SIGTERM);
  musterd.process().exit_code();
  const Finished gone = run("muster", {"status", "--url", url, "--token", "x"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_NE(gone.output.find("cannot be reached"), std::string::npos) << gone.output;
}

TEST(StatusCommand, a_token_is_not_shown_to_a_host_that_was_named_otherwise) {
  Musterd musterd;
  const Finished asked = run("muster", {"status", "--url", "http://127.0.0.1:1", "--data-directory",
                                        musterd.data_directory().string()});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_NE(asked.output.find("there is no token for http://127.0.0.1:1"), std::string::npos)
      << asked.output;
}

TEST(StatusCommand, finds_the_host_by_data_directory_environment_and_options) {
  Musterd musterd;
  const cli::HostAddress address = musterd.address();
  const std::string first_line = "musterd " MUSTER_VERSION " is ready at " + address.url;
  const Finished by_folder =
      run("muster", {"status", "--data-directory", musterd.data_directory().string()});
  EXPECT_EQ(by_folder.exit_code, 0);
  EXPECT_TRUE(by_folder.output.starts_with(first_line)) << by_folder.output;
  EXPECT_NE(by_folder.output.find(musterd.data_directory().string()), std::string::npos);
  const Finished by_environment =
      run("muster", {"status"}, {{"MUSTER_URL", address.url}, {"MUSTER_TOKEN", address.token}});
  EXPECT_TRUE(by_environment.output.starts_with(first_line)) << by_environment.output;
  const Finished by_options =
      run("muster", {"status", "--url", address.url + "/", "--token", address.token, "--json"});
  const auto document = json::parse_object(by_options.output);
  ASSERT_TRUE(document) << by_options.output;
  EXPECT_EQ(document->at("pid"), musterd.process().pid());
}

TEST(StatusCommand, finds_the_host_that_runs_on_the_defaults) {
  TemporaryFolder folder;
  fs::create_directories(folder / "muster");
  Musterd musterd;
  const cli::HostAddress address = musterd.address();
  std::ofstream(folder / "muster/address") << address.url << "\n";
  std::ofstream(folder / "muster/admin-token") << address.token << "\n";
  const Finished asked = run("muster", {"status"}, {{"XDG_STATE_HOME", folder.path().string()}});
  EXPECT_EQ(asked.exit_code, 0) << asked.output;
}

// One client's whole life, each step seen from the outside: may it still ask?
TEST(ClientCommand, a_client_is_made_rotated_disabled_enabled_and_revoked) {
  Musterd musterd;
  const auto muster = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--data-directory", musterd.data_directory().string()});
    return run("muster", arguments);
  };
  const auto as_client = [&](const std::string& token) {
    return run("muster", {"pools", "--url", musterd.address().url, "--token", token}).exit_code;
  };
  const auto token_in = [](const Finished& made) {
    const auto document = json::parse_object(made.output);
    EXPECT_TRUE(document && document->contains("token")) << made.output;
    return document ? std::string(document->at("token").as_string()) : "";
  };
  EXPECT_EQ(muster({"client", "create"}).exit_code, 2);
  EXPECT_EQ(muster({"client", "create", "bad id", "--scope", "x"}).exit_code, 1);
  EXPECT_EQ(muster({"client", "show", "ci/reader"}).exit_code, 1);

  const Finished made = muster({"client", "create", "ci/reader", "--kind", "token", "--scope",
                                "muster:get:*", "--description", "for a test", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string first = token_in(made);
  EXPECT_EQ(as_client(first), 0);
  EXPECT_THAT(muster({"client", "list"}).output, HasSubstr("ci/reader"));
  const Finished shown = muster({"client", "show", "ci/reader"});
  EXPECT_THAT(shown.output, HasSubstr("for a test"));
  EXPECT_EQ(shown.output.find(first), std::string::npos);

  const std::string second = token_in(muster({"client", "rotate", "ci/reader", "--json"}));
  EXPECT_NE(second, first);
  EXPECT_EQ(as_client(second), 0);
  EXPECT_EQ(muster({"client", "disable", "ci/reader"}).exit_code, 0);
  EXPECT_EQ(as_client(second), 1);
  EXPECT_EQ(muster({"client", "enable", "ci/reader"}).exit_code, 0);
  EXPECT_EQ(as_client(second), 0);
  EXPECT_EQ(muster({"client", "revoke", "ci/reader"}).exit_code, 0);
  EXPECT_EQ(as_client(second), 1);
  EXPECT_EQ(muster({"client", "revoke", "ci/reader"}).exit_code, 1);
}

TEST_F(CommandsOfAHost, a_login_is_tried_before_it_is_stored_and_logout_forgets_it) {
  const fs::path file = folder / ".config/muster/login.json";
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
  EXPECT_THAT(said({"whoami"}), HasSubstr("admin"));
  EXPECT_THAT(said({"logout"}), HasSubstr("logged out"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_THAT(said({"logout"}), HasSubstr("were not logged in"));
  EXPECT_THAT(said({"login", "--url", host->address().url, "--token", "wrong"}, 1),
              HasSubstr("does not open"));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_THAT(said({"login"}, 1), HasSubstr("--url"));
  EXPECT_THAT(said({"login", "--url", "http://127.0.0.1:1", "--token", "x"}, 1),
              HasSubstr("is musterd running there?"));
}

TEST_F(CommandsOfAHost, the_variables_of_taskcluster_clients_sign_requests) {
  const json::object made =
      document({"client", "create", "ci/deploy", "--scope", "muster:get:pools"});
  variables = {{"HOME", (folder / "elsewhere").string()},
               {"TASKCLUSTER_ROOT_URL", host->address().url},
               {"TASKCLUSTER_CLIENT_ID", "ci/deploy"},
               {"TASKCLUSTER_ACCESS_TOKEN", std::string(made.at("accessToken").as_string())}};
  EXPECT_THAT(said({"whoami"}), HasSubstr("ci/deploy"));
  said({"pools"});
  EXPECT_THAT(said({"status"}, 1), HasSubstr("muster:get:status"));
  variables["TASKCLUSTER_ACCESS_TOKEN"] = "something-else-altogether";
  EXPECT_THAT(said({"pools"}, 1), HasSubstr("TASKCLUSTER_ROOT_URL"));
}

TEST_F(CommandsOfAHost, tables_and_documents_of_everything) {
  wait_for_workers();
  EXPECT_THAT(said({"pools"}), HasSubstr("worker-manager/build"));
  EXPECT_THAT(said({"pools", "--verdict", "waiting"}), HasSubstr("No worker pools"));
  EXPECT_THAT(said({"pool", "build"}), HasSubstr("ARITHMETIC"));
  EXPECT_THAT(said({"pool", "none"}, 1), HasSubstr("see: muster pools"));
  EXPECT_THAT(said({"workers", "build", "--state", "requested"}), HasSubstr("sim-"));
  EXPECT_THAT(said({"workers", "build", "--state", "stopped"}), HasSubstr("No workers."));
  said({"workers", "build", "--state", "asleep"}, 2);
  const json::object workers = document({"workers", "build"});
  const json::object& worker = workers.at("workers").at(0).as_object();
  const std::string name = std::string(worker.at("workerGroup").as_string()) + "/" +
                           std::string(worker.at("workerId").as_string());
  EXPECT_THAT(said({"worker", name}), HasSubstr("worker-manager/build"));
  EXPECT_THAT(said({"worker", name, "--pool", "build"}), HasSubstr("price per hour"));
  EXPECT_THAT(said({"worker", "a/b"}, 1), HasSubstr("there is no worker a/b"));
  EXPECT_THAT(said({"worker", "ab"}, 1), HasSubstr("workerGroup/workerId"));
  EXPECT_THAT(said({"log", "build", "--kind", "select"}), HasSubstr("bid "));
  EXPECT_THAT(said({"errors"}), HasSubstr("No errors."));
  EXPECT_THAT(said({"errors", "build", "--stats"}), HasSubstr("0 errors"));
  EXPECT_THAT(said({"holds"}), HasSubstr("No holds."));
  EXPECT_THAT(said({"holds", "release", "sim"}, 1), HasSubstr("muster holds"));
  EXPECT_THAT(said({"providers"}), HasSubstr("sim"));
  EXPECT_THAT(said({"clients"}), HasSubstr("admin"));
  EXPECT_THAT(said({"status"}), HasSubstr("1 pool, 2 workers"));
  EXPECT_THAT(said({"--help"}), HasSubstr("TASKCLUSTER_ROOT_URL"));
}

TEST_F(CommandsOfAHost, launch_configurations_are_paused_for_a_while_and_resumed) {
  wait_for_workers();
  const json::object all = document({"launch-configs", "build"});
  const std::string id(all.at("launchConfigs").at(0).at("launchConfigId").as_string());
  EXPECT_THAT(said({"launch-configs", "pause", "build", id}), HasSubstr("until it is resumed"));
  EXPECT_THAT(said({"launch-configs", "pause", "build", id, "--for", "2 moons"}, 2),
              HasSubstr("not a duration"));
  EXPECT_THAT(said({"launch-configs", "pause", "build", "lc-0", "--for", "2h"}, 1),
              HasSubstr("lc-0"));
  EXPECT_THAT(
      said({"launch-configs", "pause", "build", id, "--for", "1h30m", "--reason", "bad image"}),
      HasSubstr("paused until"));
  EXPECT_THAT(said({"launch-configs", "--status", "paused"}), HasSubstr("bad image"));
  EXPECT_THAT(said({"launch-configs", "resume", "build", id}), HasSubstr("resumed"));
  EXPECT_THAT(said({"launch-configs", "--status", "paused"}),
              HasSubstr("No launch configurations"));
}

// A machine that is named and whose pool comes later.
TEST_F(CommandsOfAHost, workers_are_quarantined_and_released_with_a_reason) {
  std::ofstream(folder / "workers/rack.toml")
      << "workerTypes = [\"rack\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
         "[rules.values]\nproviders = [\"rack\"]\nowner = \"a@example.com\"\n"
         "description = \"Machines\"\nmaxCapacity = 4\n";
  const std::string name = "static/m-1";
  bool there = false;
  for (int i = 0; i < 300 && !there; ++i)
    there = run("muster", {"worker", name}, variables).exit_code == 0;
  ASSERT_TRUE(there) << said({"status"});
  said({"quarantine", "rack", name}, 2);
  said({"release", "rack", name}, 2);
  EXPECT_THAT(said({"quarantine", "rack", "ab", "--reason", "x"}, 1),
              HasSubstr("workerGroup/workerId"));
  EXPECT_THAT(said({"quarantine", "rack", "a/b", "--reason", "x"}, 1),
              HasSubstr("there is no worker b"));
  EXPECT_THAT(said({"quarantine", "rack", name, "--for", "2 moons", "--reason", "x"}, 2),
              HasSubstr("is not a duration"));
  EXPECT_THAT(said({"quarantine", "rack", name, "--reason", "bad disk"}),
              HasSubstr("until it is released"));
  EXPECT_THAT(said({"worker", name}), HasSubstr("bad disk"));
  EXPECT_THAT(said({"worker", name}), HasSubstr("it is released"));
  EXPECT_THAT(said({"workers", "rack"}), HasSubstr("quarantined"));
  EXPECT_THAT(said({"quarantine", "rack", name, "--for", "2h", "--reason", "still bad"}),
              HasSubstr("quarantined until 20"));
  EXPECT_THAT(said({"release", "rack", name, "--reason", "new disk"}), HasSubstr("released"));
  EXPECT_THAT(said({"worker", name}), ::testing::Not(HasSubstr("quarantined until")));
  const std::string journal = said({"log", "rack", "--kind", "lifecycle"});
  EXPECT_THAT(journal, HasSubstr("bad disk (by "));
  EXPECT_THAT(journal, HasSubstr("released: new disk (by "));
}

TEST_F(CommandsOfAHost, events_are_followed_over_a_restart_of_the_host) {
  wait_for_workers();
  EXPECT_THAT(said({"events", "--kind", "worker-*", "--pool", "build"}),
              HasSubstr("worker-requested"));
  EXPECT_THAT(said({"events", "--kind", "Worker!"}, 1), HasSubstr("kind"));
  variables["MUSTER_TOKEN"] = host->address().token;
  Process follower("muster",
                   {"events", "--follow", "--since", "0", "--url", host->address().url, "--kind",
                    "launch-configuration-*", "--json"},
                   variables);
  follower.wait_for("launch-configuration-created");
  const std::string port = std::to_string(host->port());
  host->kill();
  std::string configuration = content_of(host->configuration_file());
  configuration.replace(configuration.find("127.0.0.1:0"), 11, "127.0.0.1:" + port);
  std::ofstream(host->configuration_file()) << configuration;
  host->start();
  const json::object all = document({"launch-configs", "build"});
  const std::string id(all.at("launchConfigs").at(0).at("launchConfigId").as_string());
  said({"launch-configs", "pause", "build", id, "--for", "1h"});
  follower.wait_for("launch-configuration-paused");
  follower.signal(SIGINT);
  EXPECT_EQ(follower.exit_code(), 0) << follower.output();
  std::int64_t last = 0;  // nothing twice, nothing out of order
  std::istringstream lines(follower.output());
  for (std::string line; std::getline(lines, line);)
    if (const auto event = json::parse_object(line)) {
      EXPECT_GT(event->at("number").as_int64(), last) << follower.output();
      last = event->at("number").as_int64();
    }
}

}  // namespace
}  // namespace muster::testing
