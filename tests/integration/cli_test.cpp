#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

TEST(StatusCommand, says_where_it_looked_when_no_host_runs) {
  TemporaryFolder folder;
  const Finished asked = run("muster", {"status"}, {{"HOME", folder.path().string()}});
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
  const Finished asked = run("muster", {"status", "--url", "http://127.0.0.1:1",
                                        "--data-directory", musterd.data_directory().string()});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_NE(asked.output.find("there is no token for http://127.0.0.1:1"), std::string::npos)
      << asked.output;
}

TEST(StatusCommand, finds_the_host_by_data_directory_environment_and_options) {
  Musterd musterd;
  const cli::HostAddress address = musterd.address();
  const std::string first_line = "musterd 0.1.0 is ready at " + address.url;
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

}  // namespace
}  // namespace muster::testing
