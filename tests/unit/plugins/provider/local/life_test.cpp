// Real processes: launched, found again, ended.
#include <set>

#include "tests/unit/plugins/provider/local/fixture.hpp"

namespace muster::local {
namespace {

using LocalLife = LocalScene;

TEST_F(LocalLife, an_agent_that_cannot_be_run_is_a_matter_of_configuration) {
  json::object wrong = config();
  wrong["agent"] = "/no/such/agent";
  open(wrong);
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.error);
  EXPECT_EQ(launch.error->error_class, ErrorClass::config);
  EXPECT_NE(launch.error->message.find("/no/such/agent"), std::string::npos);
  EXPECT_TRUE(listed().empty());
  const auto bids = provider->bid({owner, WorkerPoolId("a/b"), 1, {{launch_config()}}}, context);
  ASSERT_TRUE(bids);
  EXPECT_TRUE(bids->bids.empty());
  EXPECT_EQ(bids->problems.size(), 1u);
}

TEST_F(LocalLife, an_agent_that_refuses_its_configuration_is_quoted) {
  open();
  const Launch launch = launch_one("key-1", "refuse");
  ASSERT_TRUE(launch.error);
  EXPECT_EQ(launch.error->error_class, ErrorClass::config);
  EXPECT_NE(launch.error->message.find("status 3"), std::string::npos);
  EXPECT_NE(launch.error->message.find("says that it is wrong"), std::string::npos);
  EXPECT_TRUE(listed().empty());
}

TEST_F(LocalLife, an_agent_that_is_not_up_in_time_leaves_nothing_behind) {
  json::object hasty = config();
  hasty["startTimeout"] = "200ms";
  open(hasty);
  const Launch launch = launch_one("key-1", "hang");
  ASSERT_TRUE(launch.error);
  EXPECT_EQ(launch.error->error_class, ErrorClass::transient);
  EXPECT_TRUE(listed().empty());
  open();
  EXPECT_FALSE(launch_one("key-1").error);  // the same key may still be used
}

TEST_F(LocalLife, an_agent_that_holds_no_lock_does_not_count_as_started) {
  open();
  const Launch launch = launch_one("key-1", "lie");
  ASSERT_TRUE(launch.error);
  EXPECT_NE(launch.error->message.find("does not hold its lock"), std::string::npos);
  EXPECT_TRUE(listed().empty());
}

TEST_F(LocalLife, a_worker_has_a_folder_of_its_own_with_a_secret_that_only_it_can_read) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance) << launch.error->message;
  const fs::path own = folder_of(*launch.instance);
  // A worker of another user passes through it to what is its own.
  EXPECT_EQ(fs::status(own).permissions(), ::geteuid() == 0 ? fs::perms(0711) : fs::perms(0700));
  EXPECT_EQ(fs::status(own / "secret").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  const std::string secret = content(own / "secret");
  EXPECT_EQ(secret.size(), 45u);
  const std::string shown = json::write(launch.instance->provider_data);
  EXPECT_EQ(shown.find(secret.substr(0, 44)), std::string::npos);
  EXPECT_EQ(content(own / "instance.json").find(secret.substr(0, 44)), std::string::npos);
  EXPECT_EQ(launch.instance->provider_data.at("v").as_int64(), 1);
  EXPECT_EQ(launch.instance->provider_data.at("image").as_string(), "good");
}

TEST_F(LocalLife, a_worker_has_nothing_of_the_hosts_environment_but_the_usual) {
  ::setenv("A_SECRET_OF_THE_HOST", "x", 1);
  open();
  const Launch launch = launch_one("key-1");
  ::unsetenv("A_SECRET_OF_THE_HOST");
  ASSERT_TRUE(launch.instance);
  const auto environment =
      content("/proc/" + std::to_string(agent_of(*launch.instance)) + "/environ");
  EXPECT_EQ(environment.find("A_SECRET_OF_THE_HOST"), std::string::npos);
  EXPECT_NE(environment.find("PATH="), std::string::npos);
}

TEST_F(LocalLife, the_same_key_is_the_same_worker) {
  open();
  const Launch first = launch_one("key-1");
  const Launch second = launch_one("key-1");
  ASSERT_TRUE(first.instance && second.instance);
  EXPECT_EQ(first.instance->worker_id, second.instance->worker_id);
  EXPECT_EQ(agent_of(*first.instance), agent_of(*second.instance));
  EXPECT_EQ(listed().size(), 1u);
  const auto both =
      provider->allocate(request({IdempotencyKey("key-2"), IdempotencyKey("key-2")}), context);
  ASSERT_TRUE(both);
  ASSERT_TRUE(both->launches[0].instance);
  ASSERT_TRUE(both->launches[1].instance);
  EXPECT_EQ(both->launches[0].instance->worker_id, both->launches[1].instance->worker_id);
  EXPECT_EQ(listed().size(), 2u);
}

TEST_F(LocalLife, a_terminated_worker_ends_with_all_it_runs_and_its_secrets_go) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const pid_t group = group_of(*launch.instance);
  ASSERT_TRUE(group_lives(group));
  terminate(*launch.instance);
  terminate(*launch.instance);
  EXPECT_TRUE(
      eventually([&] { return state_of(launch.instance->worker_id) == InstanceState::stopped; }));
  EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
  EXPECT_FALSE(fs::exists(folder_of(*launch.instance) / "secret"));
  EXPECT_TRUE(fs::exists(folder_of(*launch.instance) / "output.log"));
  // Its key stays its own.
  const Launch again = launch_one("key-1");
  ASSERT_TRUE(again.instance);
  EXPECT_EQ(again.instance->state, InstanceState::stopped);
}

TEST_F(LocalLife, whoever_ignores_the_signal_is_killed_after_the_grace_and_not_before) {
  open();
  const Launch launch = launch_one("key-1", "stubborn");
  ASSERT_TRUE(launch.instance);
  const pid_t group = group_of(*launch.instance);
  terminate(*launch.instance);
  pass(34s);
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopping);
  EXPECT_TRUE(group_lives(group));
  pass(2s);  // 30 s, and 5 s for the agent itself
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopped);
  EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
}

TEST_F(LocalLife, the_provider_kills_by_itself_without_being_asked) {
  open();
  const Launch launch = launch_one("key-1", "stubborn");
  ASSERT_TRUE(launch.instance);
  const pid_t group = group_of(*launch.instance);
  terminate(*launch.instance);
  pass(36s);
  EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
}

TEST_F(LocalLife, a_termination_goes_on_after_a_restart) {
  open();
  const Launch launch = launch_one("key-1", "stubborn");
  ASSERT_TRUE(launch.instance);
  const pid_t group = group_of(*launch.instance);
  terminate(*launch.instance);
  open();
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopping);
  pass(36s);
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopped);
  EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
}

TEST_F(LocalLife, a_clock_that_is_set_back_makes_nobody_immortal) {
  open();
  const Launch launch = launch_one("key-1", "stubborn");
  ASSERT_TRUE(launch.instance);
  terminate(*launch.instance);
  pass(-24h);
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopping);
  pass(36s);
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::stopped);
}

TEST_F(LocalLife, an_agent_that_was_killed_takes_its_implementation_along) {
  open();
  for (const char* image : {"good", "anonymous"}) {
    const Launch launch = launch_one(std::string("key-") + image, image);
    ASSERT_TRUE(launch.instance);
    const pid_t group = group_of(*launch.instance);
    ::kill(agent_of(*launch.instance), SIGKILL);
    EXPECT_TRUE(eventually([&] { return !group_lives(group); })) << image;
    EXPECT_TRUE(
        eventually([&] { return state_of(launch.instance->worker_id) == InstanceState::stopped; }));
  }
}

TEST_F(LocalLife, a_number_that_now_means_a_stranger_is_not_killed) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::setpgid(0, 0);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(eventually([&] { return group_lives(stranger); }));
  const pid_t group = group_of(*launch.instance);
  ::kill(agent_of(*launch.instance), SIGKILL);
  ::kill(-group, SIGKILL);
  // As if the number had been given to somebody else, long after it was written down.
  std::ofstream(folder_of(*launch.instance) / "worker.pid") << stranger;
  fs::last_write_time(folder_of(*launch.instance) / "worker.pid",
                      fs::file_time_type::clock::now() - 1h);
  std::ofstream(folder_of(*launch.instance) / "lock") << stranger;
  EXPECT_TRUE(
      eventually([&] { return state_of(launch.instance->worker_id) == InstanceState::stopped; }));
  EXPECT_TRUE(group_lives(stranger));
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
}

TEST_F(LocalLife, running_workers_are_adopted_by_the_next_start_and_none_is_doubled) {
  open();
  std::vector<IdempotencyKey> keys;
  for (int i = 0; i < 5; ++i) keys.emplace_back("key-" + std::to_string(i));
  const auto before = provider->allocate(request(keys), context);
  ASSERT_TRUE(before);
  std::set<pid_t> agents;
  for (const Launch& launch : before->launches) {
    ASSERT_TRUE(launch.instance) << launch.error->message;
    agents.insert(agent_of(*launch.instance));
  }
  open();
  ++owner.epoch;
  EXPECT_EQ(listed().size(), 5u);
  const auto after = provider->allocate(request(keys), context);
  ASSERT_TRUE(after);
  for (const Launch& launch : after->launches) {
    ASSERT_TRUE(launch.instance);
    EXPECT_EQ(launch.instance->state, InstanceState::running);
    EXPECT_EQ(launch.instance->epoch, 3);
    EXPECT_TRUE(agents.contains(agent_of(*launch.instance)));
  }
}

TEST_F(LocalLife, a_launch_that_was_cut_off_is_gone_for_list_and_begins_anew_for_allocate) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const fs::path own = folder_of(*launch.instance);
  const std::string record = content(own / "instance.json");
  terminate(*launch.instance);
  ASSERT_TRUE(
      eventually([&] { return state_of(launch.instance->worker_id) == InstanceState::stopped; }));
  const auto as_if_cut_off = [&] {
    fs::remove_all(own);
    fs::create_directory(own);
    std::ofstream(own / "instance.json") << record;
  };
  as_if_cut_off();
  EXPECT_TRUE(listed().empty());
  EXPECT_FALSE(fs::exists(own));
  as_if_cut_off();
  const Launch again = launch_one("key-1");
  ASSERT_TRUE(again.instance) << again.error->message;
  EXPECT_EQ(again.instance->state, InstanceState::running);
  // Cut off even earlier.
  fs::create_directory(folder() / "local-half");
  std::ofstream(folder() / "local-half" / "secret") << "x";
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_FALSE(fs::exists(folder() / "local-half"));
}

TEST_F(LocalLife, twenty_in_a_burst_are_twenty_and_then_none) {
  open();
  std::vector<IdempotencyKey> keys;
  for (int i = 0; i < 20; ++i) keys.emplace_back("key-" + std::to_string(i));
  const auto allocation = provider->allocate(request(keys), context);
  ASSERT_TRUE(allocation);
  std::set<WorkerId> ids;
  std::set<pid_t> groups;
  TerminateRequest end{owner, {}, "test"};
  for (const Launch& launch : allocation->launches) {
    ASSERT_TRUE(launch.instance) << launch.error->message;
    ids.insert(launch.instance->worker_id);
    groups.insert(group_of(*launch.instance));
    end.workers.push_back({launch.instance->worker_group, launch.instance->worker_id});
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(groups.size(), 20u);
  EXPECT_EQ(listed().size(), 20u);
  ASSERT_TRUE(provider->terminate(end, context));
  EXPECT_TRUE(eventually([&] {
    for (const Instance& instance : listed())
      if (instance.state != InstanceState::stopped) return false;
    return true;
  }));
  for (const pid_t group : groups) EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
  pass(2h);
  EXPECT_TRUE(listed().empty());
}

}  // namespace
}  // namespace muster::local
