#include "cli/host_address.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/stored_login.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class HostAddressTest : public ::testing::Test {
 protected:
  HostAddressTest() { variables["HOME"] = folder.path().string(); }

  Result<HostAddress> found(const HostOptions& options = {}) {
    return find_host(options, environment, folder / "var/lib/muster");
  }
  std::string problem(const HostOptions& options = {}) {
    const auto address = found(options);
    return address ? "found " + address->url : address.error().message;
  }
  // A host that runs with this data directory.
  void runs_in(const fs::path& data, const std::string& url, const std::string& token) {
    fs::create_directories(data);
    std::ofstream(data / "address") << url << "\n";
    if (!token.empty()) std::ofstream(data / "admin-token") << token << "\n";
  }
  void use_taskcluster() {
    variables["TASKCLUSTER_ROOT_URL"] = "https://tc.example/";
    variables["TASKCLUSTER_CLIENT_ID"] = "me";
    variables["TASKCLUSTER_ACCESS_TOKEN"] = "secret";
    variables["TASKCLUSTER_CERTIFICATE"] = "{}";
  }

  testing::TemporaryFolder folder;
  const fs::path local = folder / ".local/state/muster";
  std::map<std::string, std::string> variables;
  Environment environment = [this](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::string() : at->second;
  };
};

TEST_F(HostAddressTest, nothing_at_all_says_where_it_looked_and_what_to_do) {
  EXPECT_THAT(problem(), HasSubstr(local.string()));
  EXPECT_THAT(problem(), HasSubstr("muster login"));
}

TEST_F(HostAddressTest, a_host_that_runs_as_a_service_is_found_after_one_of_this_user) {
  runs_in(folder / "var/lib/muster", "http://127.0.0.1:2", "t");
  EXPECT_EQ(problem(), "found http://127.0.0.1:2");
  runs_in(local, "http://127.0.0.1:1", "t");
  EXPECT_EQ(problem(), "found http://127.0.0.1:1");
}

TEST_F(HostAddressTest, a_token_that_cannot_be_read_is_named) {
  runs_in(local, "http://127.0.0.1:1", "");
  EXPECT_THAT(problem(), HasSubstr("admin-token cannot be read"));
}

TEST_F(HostAddressTest, a_root_url_without_a_client_is_not_meant_for_us) {
  variables["TASKCLUSTER_ROOT_URL"] = "https://tc.example";
  runs_in(local, "http://127.0.0.1:1", "admin");
  EXPECT_EQ(found()->url, "http://127.0.0.1:1");
}

TEST_F(HostAddressTest, no_host_is_shown_the_secrets_of_another_one) {
  runs_in(local, "http://127.0.0.1:1", "admin");
  ASSERT_TRUE(write_login({.url = "https://in.example", .token = "mine"}, environment));
  EXPECT_THAT(problem({.url = "https://other.example"}),
              HasSubstr("no token for https://other.example"));
  EXPECT_EQ(found({.url = "http://127.0.0.1:1/"})->token, "admin");
  EXPECT_EQ(found({.url = "https://in.example"})->token, "mine");
}

TEST_F(HostAddressTest, a_login_that_others_can_read_or_that_is_damaged_is_refused) {
  const auto file = write_login({.url = "https://in.example", .token = "mine"}, environment);
  ASSERT_TRUE(file);
  struct ::stat status {};
  ASSERT_EQ(::stat(file->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  fs::permissions(*file, fs::perms(0644));
  EXPECT_THAT(problem(), HasSubstr("chmod 600"));
  fs::permissions(*file, fs::perms(0600));
  std::ofstream(*file) << "[";
  EXPECT_THAT(problem(), HasSubstr("is damaged"));
}

TEST_F(HostAddressTest, the_order_is_options_environment_login_local_host) {
  runs_in(local, "http://127.0.0.1:1", "admin");
  EXPECT_EQ(found()->token, "admin");
  ASSERT_TRUE(write_login({.url = "https://in.example/", .token = "mine", .ca_file = "/ca.pem"},
                          environment));
  EXPECT_EQ(found()->url, "https://in.example");
  EXPECT_EQ(found()->token, "mine");
  EXPECT_EQ(found()->ca_file, "/ca.pem");
  use_taskcluster();
  EXPECT_EQ(found()->url, "https://tc.example");
  EXPECT_EQ(found()->client_id, "me");
  EXPECT_EQ(found()->access_token, "secret");
  EXPECT_EQ(found()->certificate, "{}");
  EXPECT_EQ(found()->ca_file, "");
  variables["MUSTER_URL"] = "https://m.example";
  EXPECT_EQ(found()->url, "https://m.example");
  EXPECT_EQ(found()->client_id, "me");
  variables["MUSTER_TOKEN"] = "bearer";
  EXPECT_EQ(found()->token, "bearer");
  EXPECT_EQ(found()->client_id, "");
  runs_in(folder / "data", "http://127.0.0.1:2", "other");
  EXPECT_EQ(found({.data_directory = (folder / "data").string()})->url, "http://127.0.0.1:2");
  EXPECT_EQ(found({.url = "https://o.example", .token = "t", .ca_file = "/x"})->url,
            "https://o.example");
  EXPECT_EQ(found({.url = "https://o.example", .token = "t", .ca_file = "/x"})->token, "t");
  EXPECT_EQ(found({.url = "https://o.example", .token = "t", .ca_file = "/x"})->ca_file, "/x");
}

class ContextsTest : public HostAddressTest {
 protected:
  void add(const std::string& name, const std::string& url, const std::string& token) {
    ASSERT_TRUE(change_contexts(environment, [&](Contexts& contexts) -> Result<void> {
      contexts.all[name] = {.url = url, .token = token};
      return {};
    }));
  }
  void use(const std::string& name) {
    ASSERT_TRUE(change_contexts(environment, [&](Contexts& contexts) -> Result<void> {
      contexts.current = name;
      return {};
    }));
  }
};

TEST_F(ContextsTest, that_are_not_there_are_an_error_with_the_nearest_name) {
  add("production", "https://p.example", "p");
  EXPECT_THAT(problem({.context = "prodution"}), HasSubstr("did you mean production?"));
  use("gone");
  EXPECT_THAT(problem(), HasSubstr("there is no context gone"));
}

TEST_F(ContextsTest, that_others_may_read_or_that_are_damaged_are_refused) {
  add("a", "https://a.example", "a");
  const fs::path file = *contexts_file(environment);
  struct ::stat found {};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(problem({.context = "a"}), HasSubstr("contexts.json"));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(file) << "{";
  EXPECT_THAT(problem({.context = "a"}), HasSubstr("is damaged"));
}

TEST_F(ContextsTest, that_fail_to_change_stay_as_they_are) {
  add("a", "https://a.example", "a");
  EXPECT_FALSE(change_contexts(environment, [](Contexts& contexts) -> Result<void> {
    contexts.all.clear();
    return Error::invalid("no");
  }));
  EXPECT_EQ(found({.context = "a"})->token, "a");
}

TEST_F(ContextsTest, come_before_the_login_and_a_named_one_before_the_environment) {
  ASSERT_TRUE(write_login({.url = "https://in.example", .token = "login"}, environment));
  add("a", "https://a.example/", "a");
  EXPECT_EQ(found()->url, "https://in.example");
  use("a");
  EXPECT_EQ(found()->url, "https://a.example");
  EXPECT_EQ(found()->token, "a");
  variables["MUSTER_URL"] = "https://env.example";
  variables["MUSTER_TOKEN"] = "env";
  EXPECT_EQ(found()->url, "https://env.example");
  EXPECT_EQ(found({.context = "a"})->token, "a");
  variables["MUSTER_CONTEXT"] = "a";
  EXPECT_EQ(found()->url, "https://a.example");
  EXPECT_EQ(found({.url = "https://b.example", .token = "b"})->url, "https://b.example");
  EXPECT_THAT(problem({.url = "https://b.example", .context = "a"}), HasSubstr("--context"));
}

TEST_F(ContextsTest, show_their_secrets_to_no_other_host) {
  add("a", "https://a.example", "a");
  use("a");
  EXPECT_THAT(problem({.url = "https://b.example"}), HasSubstr("no token for https://b.example"));
}

}  // namespace
}  // namespace muster::cli
