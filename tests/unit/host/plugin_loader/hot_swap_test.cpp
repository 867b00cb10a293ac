// Versions come and go while calls are being made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/enum_name.hpp>

#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

using ::testing::HasSubstr;

class HotSwap : public LoaderFixture, public ::testing::WithParamInterface<Isolation> {
 protected:
  std::vector<InstanceSpec> one_instance() const {
    return {{.instance_id = "it", .plugin_id = "provider/good", .isolation = GetParam()}};
  }
  std::vector<std::string> states() const {
    std::vector<std::string> shown;
    for (const VersionStatus& version : status_of("provider/good").versions)
      shown.push_back(version.version + " " + name_of(version.state));
    return shown;
  }
  void drop_broken_version() {
    drop_bytes("good", bytes_of(built_plugin("good", "9.0.0")), "9.0.0");
    catalog_->rescan();
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, HotSwap,
                         ::testing::Values(Isolation::in_process, Isolation::process),
                         [](const auto& transport) {
                           return std::string(to_string(transport.param));
                         });

TEST_P(HotSwap, upgrades_and_downgrades_under_load_fail_no_call) {
  drop("good", "1.0.0");
  open(one_instance()).start_watching();
  const auto channel = catalog_->channel("it");
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0, answered = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&] {
      while (!stop) {
        const std::string answer = who(channel);
        const bool known = answer == "\"1.0.0\"" || answer == "\"2.0.0\"" || answer == "\"3.0.0\"";
        ++(known ? answered : failed);
      }
    });
  for (const char* version : {"2.0.0", "3.0.0", "1.0.0", "2.0.0"}) {
    drop("good", version);
    EXPECT_TRUE(eventually([&] { return who(channel) == "\"" + std::string(version) + "\""; }))
        << version;
  }
  stop = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(answered, 0);
}

TEST_P(HotSwap, a_broken_version_is_refused_and_the_old_one_serves_on) {
  drop("good", "1.0.0");
  open(one_instance());
  drop_broken_version();
  EXPECT_EQ(who(catalog_->channel("it")), "\"1.0.0\"");
  EXPECT_THAT(states(), ::testing::ElementsAre("9.0.0 rejected", "1.0.0 active"));
  EXPECT_THAT(reason_for("good"), HasSubstr("its process ended while starting"));
}

TEST_P(HotSwap, the_old_version_drains_and_retires) {
  drop("good", "1.0.0");
  open(one_instance());
  drop("good", "2.0.0");
  catalog_->rescan();
  EXPECT_TRUE(eventually([&] {
    return states() == std::vector<std::string>{"2.0.0 active", "1.0.0 retired"};
  }));
}

TEST_P(HotSwap, a_rollback_goes_back_and_stays_there_until_something_new_is_dropped) {
  drop("good", "1.0.0");
  open(one_instance());
  drop("good", "2.0.0");
  catalog_->rescan();
  ASSERT_TRUE(catalog_->rollback("provider/good"));
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("it")), "\"1.0.0\"");
  open(one_instance());  // after a restart of the host, too
  EXPECT_EQ(who(catalog_->channel("it")), "\"1.0.0\"");
  drop("good", "3.0.0");
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("it")), "\"3.0.0\"");
}

TEST_P(HotSwap, a_second_rollback_undoes_the_first) {
  drop("good", "1.0.0");
  open(one_instance());
  drop("good", "2.0.0");
  catalog_->rescan();
  ASSERT_TRUE(catalog_->rollback("provider/good"));
  ASSERT_TRUE(catalog_->rollback("provider/good"));
  EXPECT_EQ(who(catalog_->channel("it")), "\"2.0.0\"");
}

TEST_P(HotSwap, a_rollback_without_an_earlier_version_is_refused) {
  drop("good", "1.0.0");
  open(one_instance());
  EXPECT_EQ(catalog_->rollback("provider/good").error().message,
            "the host has no earlier version of provider/good to go back to");
  EXPECT_EQ(catalog_->rollback("provider/absent").error().message,
            "there is no active plugin \"provider/absent\"; see: muster plugin list");
}

TEST_P(HotSwap, after_a_restart_the_version_before_serves_if_the_dropped_one_is_broken) {
  drop("good", "1.0.0");
  open(one_instance());
  drop_broken_version();
  open(one_instance());
  EXPECT_EQ(who(catalog_->channel("it")), "\"1.0.0\"");
  EXPECT_THAT(states(), ::testing::ElementsAre("9.0.0 rejected", "1.0.0 active"));
}

TEST_P(HotSwap, a_new_version_ends_a_quarantine) {
  drop("good", "1.0.0");
  settings_.supervision.max_losses = 1;
  open(one_instance());
  if (GetParam() == Isolation::process) {
    ::kill(static_cast<pid_t>(*status_of("provider/good").instances.front().pid), SIGKILL);
  } else {
    for (int i = 0; i < 5; ++i) catalog_->channel("it")->answer_was_wrong("who", "nonsense");
  }
  EXPECT_TRUE(
      eventually([&] { return status_of("provider/good").state == PluginState::quarantined; }));
  drop("good", "2.0.0");
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("it")), "\"2.0.0\"");
  EXPECT_EQ(status_of("provider/good").state, PluginState::active);
}

using Folder = LoaderFixture;

TEST_F(Folder, a_plugin_dropped_into_a_running_host_becomes_active) {
  open().start_watching();
  drop("good", "1.0.0");
  EXPECT_TRUE(eventually([&] { return status_of("provider/good").state == PluginState::active; }));
}

TEST_F(Folder, the_hosts_own_copies_are_not_taken_for_plugins) {
  settings_.folders = {{home_.path()}};  // the store lies in it
  drop("good", "1.0.0");
  open();
  drop("good", "2.0.0");
  catalog_->rescan();
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"2.0.0\"");
  EXPECT_EQ(status_of("provider/good").versions.size(), 2U);
}

TEST_F(Folder, copies_that_nobody_can_go_back_to_are_deleted_at_the_next_start) {
  for (const char* version : {"1.0.0", "2.0.0", "3.0.0"}) {
    drop("good", version);
    catalog_ ? catalog_->rescan() : void(open());
  }
  const auto copies = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(settings_.store)) count += entry.is_directory();
    return count;
  };
  EXPECT_EQ(copies(), 3U);
  open();
  EXPECT_EQ(copies(), 2U);
  EXPECT_TRUE(catalog_->rollback("provider/good"));
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"2.0.0\"");
}

TEST_F(Folder, a_configured_instance_waits_for_its_plugin) {
  open({{.instance_id = "mine", .plugin_id = "provider/good"}});
  EXPECT_EQ(catalog_->channel("mine"), nullptr);
  drop("good", "1.0.0");
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("mine")), "\"1.0.0\"");
}

TEST_F(Folder, a_plugin_whose_folder_is_taken_away_serves_on_and_says_so) {
  drop("good", "1.0.0");
  open();
  fs::remove_all(folder_ / "good");
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"1.0.0\"");
  EXPECT_EQ(status_of("provider/good").versions.front().reason,
            "its folder is gone; it serves until the host is restarted");
}

TEST_F(Folder, shipped_plugins_run_in_process_and_dropped_ones_in_a_cell) {
  drop("good", "1.0.0");
  drop("gnu_unique");
  fs::create_directories(home_ / "shipped");
  fs::rename(folder_ / "good", home_ / "shipped" / "good");
  settings_.folders = {{home_ / "shipped", true}, {folder_}};
  open();
  EXPECT_EQ(status_of("provider/good").instances.front().isolation, "in_process");
  EXPECT_EQ(status_of("provider/gnu_unique").instances.front().isolation, "process");
}

TEST_F(Folder, an_operators_plugin_wins_over_the_shipped_one_of_that_name) {
  drop("good", "1.0.0");
  fs::create_directories(home_ / "shipped");
  fs::rename(folder_ / "good", home_ / "shipped" / "good");
  drop("good", "2.0.0");
  settings_.folders = {{home_ / "shipped", true}, {folder_}};
  open();
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"2.0.0\"");
}

TEST_F(Folder, a_reload_starts_what_is_new_and_leaves_the_rest_alone) {
  drop("good", "1.0.0");
  const InstanceSpec a{.instance_id = "a", .plugin_id = "provider/good"};
  const InstanceSpec b{.instance_id = "b", .plugin_id = "provider/good"};
  open({a});
  const auto pid_of_a = status_of("provider/good").instances.front().pid;
  catalog_->configure(settings_.folders, {a, b});
  EXPECT_EQ(status_of("provider/good").instances.size(), 2U);
  EXPECT_EQ(status_of("provider/good").instances.front().pid, pid_of_a);
  catalog_->configure(settings_.folders, {b});
  EXPECT_EQ(catalog_->channel("a"), nullptr);
  EXPECT_EQ(who(catalog_->channel("b")), "\"1.0.0\"");
}

// The host maps its own copy, so writing over the dropped file hurts nobody.
TEST_F(Folder, writing_over_the_dropped_file_does_not_disturb_the_running_plugin) {
  drop("good", "1.0.0");
  const auto channel = open_instance("good", Isolation::in_process);
  std::ofstream(folder_ / "good" / "good.so", std::ios::binary | std::ios::trunc)
      << "overwritten in place";
  EXPECT_EQ(who(channel), "\"1.0.0\"");
}

// While a file is replaced again and again, whatever is taken up is one of the versions as a whole.
TEST_F(Folder, a_file_that_is_replaced_while_it_is_checked_is_seen_wholly_old_or_wholly_new) {
  drop("good", "1.0.0");
  open();
  const std::string versions[] = {bytes_of(built_plugin("good", "1.0.0")),
                                  bytes_of(built_plugin("good", "2.0.0"))};
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      [[maybe_unused]] const auto written =
          write_file_atomically(folder_ / "good" / "good.so", versions[i % 2], 0755);
    }
  });
  for (int i = 0; i < 40; ++i) {
    catalog_->rescan();
    EXPECT_EQ(who(catalog_->channel("good-standby")), "\"1.0.0\"");
  }
  stop = true;
  writer.join();
  drop("good", "2.0.0");
  catalog_->rescan();
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"2.0.0\"");
}

}  // namespace
}  // namespace muster::plugin_loader
