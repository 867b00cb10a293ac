#include "host/config/changes.hpp"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

TEST(Changes, none_between_equal_configurations) {
  EXPECT_TRUE(changes_between(HostConfiguration{}, HostConfiguration{}).empty());
}

TEST(Changes, what_needs_a_restart_is_told_from_what_does_not) {
  HostConfiguration before, after;
  after.listen.port = 1;
  after.data_directory = "/x";
  after.http.threads = 7;
  after.log.level = LogLevel::debug;
  after.shutdown_deadline = std::chrono::seconds(1);
  after.plugin_folders = {"/p"};
  after.auth.admin_token_file = "/t";
  after.queue.most_waiting = 5;
  after.demand.emplace_back();
  after.worker_configurations = WorkerConfigurations{.folder = "/w"};
  const std::vector<Change> expected{{"listen", true},
                                     {"dataDirectory", true},
                                     {"http", true},
                                     {"pluginFolders", false},
                                     {"workerConfigurations", false},
                                     {"shutdownDeadline", false},
                                     {"log", false},
                                     {"auth", false},
                                     {"queue", false},
                                     {"demand", false}};
  EXPECT_EQ(changes_between(before, after), expected);
}

TEST(Changes, a_certificate_is_replaced_at_once_but_tls_begins_with_a_restart) {
  HostConfiguration plain, secure, renewed;
  secure.http.tls = TlsSettings{"/a", "/b"};
  renewed.http.tls = TlsSettings{"/c", "/b"};
  EXPECT_EQ(changes_between(plain, secure), (std::vector<Change>{{"http.tls", true}}));
  EXPECT_EQ(changes_between(secure, plain), (std::vector<Change>{{"http.tls", true}}));
  EXPECT_EQ(changes_between(secure, renewed), (std::vector<Change>{{"http.tls", false}}));
}

TEST(Changes, instances_that_came_went_or_differ_are_named) {
  PluginInstance same, old_one, edited, new_one;
  same.id = "same";
  old_one.id = "old";
  edited.id = "edited";
  new_one.id = "new";
  HostConfiguration before, after;
  before.providers = {edited, old_one, same};
  edited.config["region"] = "us-east-1";
  after.providers = {edited, new_one, same};
  before.strategies = {same};
  const std::vector<Change> expected{{"providers.edited", false},
                                     {"providers.new", false},
                                     {"providers.old", false},
                                     {"strategies.same", false}};
  EXPECT_EQ(changes_between(before, after), expected);
}

}  // namespace
}  // namespace muster::config
