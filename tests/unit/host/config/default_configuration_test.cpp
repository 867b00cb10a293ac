#include "host/config/default_configuration.hpp"

#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "lib/base/atomic_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::config {
namespace {

namespace fs = std::filesystem;

fs::path data_directory_with(std::map<std::string, std::string> variables, bool as_root = false) {
  return defaults_for(
             "/opt/bin/musterd", [&](const char* name) { return variables[name]; }, as_root)
      .data_directory;
}

TEST(DefaultConfiguration, the_data_directory_is_where_the_surroundings_say) {
  EXPECT_EQ(data_directory_with({}), "/var/lib/muster");
  EXPECT_EQ(data_directory_with({{"HOME", "/home/a"}}), "/home/a/.local/state/muster");
  EXPECT_EQ(data_directory_with({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/s"}}), "/s/muster");
  EXPECT_EQ(data_directory_with({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "relative"}}),
            "/home/a/.local/state/muster");
  EXPECT_EQ(data_directory_with({{"STATE_DIRECTORY", "/var/lib/m:/var/lib/n"}, {"HOME", "/h"}}),
            "/var/lib/m");
}

TEST(DefaultConfiguration, the_data_directory_of_root_is_where_its_workers_can_pass) {
  testing::TemporaryFolder folder;
  const std::string home = folder.path().string();
  EXPECT_EQ(data_directory_with({{"HOME", home}}, true), "/var/lib/muster");
  EXPECT_EQ(data_directory_with({{"HOME", home}, {"XDG_STATE_HOME", "/s"}}, true), "/s/muster");
  // A fleet that is already there is not left behind.
  fs::create_directories(folder / ".local/state/muster");
  ASSERT_TRUE(write_file_atomically(folder / ".local/state/muster/lock", "1"));
  EXPECT_EQ(data_directory_with({{"HOME", home}}, true), folder / ".local/state/muster");
}

TEST(DefaultConfiguration, the_command_line_is_stronger_than_any_file) {
  const Defaults defaults = with_overrides({"/before", {"/shipped", "/before/plugins.d"}},
                                           fs::path("/given"), parse_listen_address("[::1]:0"));
  const Report report = read_configuration_text(
      "listen = \"127.0.0.1:1\"\ndataDirectory = \"/file\"\n", "/etc/muster.toml", defaults);
  ASSERT_TRUE(report.configuration);
  EXPECT_EQ(report.configuration->data_directory, "/given");
  EXPECT_FALSE(report.configuration->data_directory_is_default);
  EXPECT_EQ(to_string(report.configuration->listen), "[::1]:0");
  EXPECT_EQ(report.configuration->plugin_folders.back(), "/given/plugins.d");
}

TEST(DefaultConfiguration, shipped_plugins_are_found_beside_the_program) {
  EXPECT_EQ(shipped_plugin_folder("/opt/muster/bin/musterd"), "/opt/muster/lib/muster/plugins");
}

TEST(DefaultConfiguration, shipped_plugins_are_found_where_other_packagers_put_libraries) {
  testing::TemporaryFolder folder;
  const fs::path program = folder / "bin/musterd";
  for (const std::string library : {"lib64", "lib/" MUSTER_LIBRARY_ARCHITECTURE, "lib"}) {
    fs::create_directories(folder / (library + "/muster/plugins"));
    EXPECT_EQ(shipped_plugin_folder(program), folder / (library + "/muster/plugins"));
  }
}

TEST(DefaultConfiguration, the_printed_text_is_a_good_configuration_that_says_what_is_built_in) {
  testing::TemporaryFolder folder;
  const Defaults defaults{folder / "quote\" and \\ back", {folder.path()}};
  const Report report =
      read_configuration_text(default_configuration_text(defaults), folder / "m.toml", defaults);
  ASSERT_TRUE(report.configuration) << to_string(report.mistakes.at(0), "m.toml");
  const HostConfiguration& host = *report.configuration;
  EXPECT_EQ(host.data_directory, defaults.data_directory);
  EXPECT_EQ(host.plugin_folders, defaults.plugin_folders);
  EXPECT_EQ(to_string(host.listen), "127.0.0.1:8600");
  EXPECT_EQ(host.worker_configurations->folder, defaults.data_directory / "workers");
  EXPECT_EQ(host.demand.at(0).folder, defaults.data_directory / "tasks");
  EXPECT_EQ(default_configuration_text(defaults).find("${"), std::string::npos);
  // What the text says of keys that may be left out is what leaving them out means.
  const Report empty = read_configuration_text("", folder / "m.toml", defaults);
  EXPECT_EQ(host.http, empty.configuration->http);
  EXPECT_EQ(host.log, empty.configuration->log);
  EXPECT_EQ(host.listen, empty.configuration->listen);
  EXPECT_EQ(host.shutdown_deadline, empty.configuration->shutdown_deadline);
  EXPECT_EQ(host.strategies, empty.configuration->strategies);
}

TEST(DefaultConfiguration, the_first_start_writes_what_to_start_from_and_no_later_one_does) {
  testing::TemporaryFolder folder;
  const fs::path file = folder / "workers/default.toml";
  ASSERT_FALSE(write_first_files(folder / "no/such/folder", {}));  // nothing half-made
  ASSERT_TRUE(write_first_files(folder.path(), {}).value());
  EXPECT_TRUE(fs::is_directory(folder / "tasks/worker-manager/default"));
  const auto text = read_file(file, 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find("${"), std::string::npos);
  EXPECT_NE(text->find((folder / "tasks/worker-manager/default").string()), std::string::npos);
  ASSERT_TRUE(write_file_atomically(file, "mine"));
  EXPECT_FALSE(write_first_files(folder.path(), {}).value());
  EXPECT_EQ(read_file(file, 1 << 20).value(), "mine");
  fs::remove(file);  // somebody wants none
  EXPECT_FALSE(write_first_files(folder.path(), {}).value());
  EXPECT_FALSE(fs::exists(file));
}

// The README's tour says when a change arrives, and a host that is frozen for a minute costs
// nothing.
TEST(DefaultConfiguration, credentials_are_renewed_often_and_last_much_longer) {
  testing::TemporaryFolder folder;
  ASSERT_TRUE(write_first_files(folder.path(), {}).value());
  EXPECT_NE(read_file(folder / "workers/default.toml", 1 << 20)
                .value()
                .find("reregistrationTimeout = \"5m\""),
            std::string::npos);
  EXPECT_NE(
      default_configuration_text({folder.path(), {folder.path()}}).find("renewEvery = \"40s\""),
      std::string::npos);
}

TEST(DefaultConfiguration, the_folder_of_tasks_belongs_to_the_user_that_runs_them) {
  testing::TemporaryFolder folder;
  // Root may give it to anybody, others to themselves.
  const uid_t uid = ::geteuid() == 0 ? 65534 : ::geteuid();
  const gid_t gid = ::geteuid() == 0 ? 65534 : ::getegid();
  ASSERT_TRUE(write_first_files(folder.path(), RunAs{uid, gid, ""}).value());
  struct stat about {};
  ASSERT_EQ(::stat((folder / "tasks/worker-manager/default").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, uid);
  ASSERT_EQ(::stat((folder / "tasks").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0711U);
}

}  // namespace
}  // namespace muster::config
