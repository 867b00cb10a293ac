#include <sys/stat.h>

#include "tests/unit/plugins/provider/static/fixture.hpp"

namespace muster::static_machines {
namespace {

using namespace std::chrono_literals;

const char* const blade_pool = "worker-manager/blade";

struct StaticPower : ::testing::Test {
  testing::TemporaryFolder folder;
  testing::FakeContext context;
  // The scripts fail for machines that have a file of their name here.
  std::string wake = script(folder, "wake",
                            "cp '" + path("state.json") + "' '" + path("at-wake") + "'\n" +
                                "echo \"$1\" >> '" + path("woken") + "'\n" + "[ ! -e '" +
                                path("broken-") + "'$1 ] || { echo no answer; exit 5; }");
  std::string power_off = script(folder, "power-off",
                                 "echo \"$1\" >> '" + path("off") + "'\n[ ! -e '" + path("stuck-") +
                                     "'$1 ] || { echo stuck; exit 6; }");
  std::unique_ptr<Provider> provider = make_provider(config());

  std::string path(const std::string& name) const { return folder / name; }
  void touch(const std::string& name) const { std::ofstream(path(name)) << "x"; }

  json::object config(int machines = 3) const {
    json::array list{json::object{{"workerPoolId", blade_pool}, {"workerId", "always-on"}}};
    for (int i = 1; i <= machines; ++i)
      list.push_back(json::object{{"workerPoolId", blade_pool},
                                  {"workerId", "b" + std::to_string(i)},
                                  {"capacity", 2},
                                  {"powered", true}});
    return {{"region", "dc1"},
            {"stateFile", path("state.json")},
            {"wakeCommand", json::array{wake, "{workerId}"}},
            {"powerOffCommand", json::array{power_off, "{workerId}"}},
            {"machines", list}};
  }

  static LaunchConfig launch_config(const char* pool = blade_pool) {
    return {.launch_config_id = LaunchConfigId("lc-1"),
            .worker_pool_id = WorkerPoolId(pool),
            .placement = {{{"region", "dc1"}}},
            .document = parsed(R"({"static": {"pricePerCapacityHour": 0.25}})"),
            .capacity_per_instance = 2};
  }
  Result<Bids> bid(std::int64_t capacity, const char* pool = blade_pool,
                   std::optional<std::int64_t> most = {}) {
    return provider->bid({.owner = owner(),
                          .worker_pool_id = WorkerPoolId(pool),
                          .capacity = capacity,
                          .candidates = {{launch_config(pool), 1.0, most}}},
                         context);
  }
  std::int64_t room() {
    const auto bids = bid(100);
    EXPECT_TRUE(bids) << (bids ? "" : bids.error().message);
    return bids && !bids->bids.empty() ? bids->bids[0].instances : 0;
  }
  Result<Allocation> allocate(std::vector<std::string> keys, const Owner& by = owner()) {
    AllocateRequest request{.owner = by, .launch_config = launch_config(), .idempotency_keys = {}};
    for (std::string& key : keys) request.idempotency_keys.emplace_back(std::move(key));
    request.tags = {{"team", "x"}};
    return provider->allocate(request, context);
  }
  Launch launch(const std::string& key) {
    const auto answer = allocate({key});
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? answer->launches.at(0) : Launch{};
  }
  std::vector<Instance> listed(const Owner& by = owner()) {
    const auto listing = provider->list({by}, context);
    EXPECT_TRUE(listing) << (listing ? "" : listing.error().message);
    return listing ? listing->instances : std::vector<Instance>();
  }
  Result<Termination> terminate(const char* id, const Owner& by = owner()) {
    return provider->terminate({by, {{WorkerGroup("dc1"), WorkerId(id)}}, "test"}, context);
  }
};

TEST_F(StaticPower, a_pool_without_powered_machines_gets_no_bid_and_no_launch) {
  const auto bids = bid(5, "worker-manager/other");
  ASSERT_TRUE(bids);
  EXPECT_TRUE(bids->bids.empty());
  EXPECT_EQ(bids->problems.at(0).error_class, ErrorClass::unsupported);
  const auto launches = provider->allocate({.owner = owner(),
                                            .launch_config = launch_config("worker-manager/other"),
                                            .idempotency_keys = {IdempotencyKey("k-1")}},
                                           context);
  ASSERT_TRUE(launches);
  EXPECT_EQ(launches->launches.at(0).error->error_class, ErrorClass::unsupported);
  EXPECT_TRUE(listed().empty());
}

TEST_F(StaticPower, sleeping_machines_are_bid_at_the_price_of_the_section) {
  const auto bids = bid(3);
  ASSERT_TRUE(bids);
  ASSERT_EQ(bids->bids.size(), 1u);
  EXPECT_EQ(bids->bids[0].instances, 2);
  EXPECT_EQ(bids->bids[0].capacity_per_instance, 2);
  EXPECT_EQ(bids->bids[0].price_per_capacity_hour, 0.25);
  EXPECT_EQ(bid(100)->bids[0].instances, 3);
  EXPECT_EQ(bid(100, blade_pool, 1)->bids[0].instances, 1);
  const auto twice = provider->bid({.owner = owner(),
                                    .worker_pool_id = WorkerPoolId(blade_pool),
                                    .capacity = 4,
                                    .candidates = {{launch_config()}, {launch_config()}}},
                                   context);
  EXPECT_EQ(twice->bids.at(0).instances + twice->bids.at(1).instances, 3);
}

TEST_F(StaticPower, a_wake_is_on_the_disk_before_the_command_runs) {
  const Launch first = launch("k-1");
  ASSERT_TRUE(first.instance) << first.error->message;
  EXPECT_EQ(first.instance->worker_id, WorkerId("b1"));
  EXPECT_EQ(first.instance->worker_group, WorkerGroup("dc1"));
  EXPECT_EQ(first.instance->capacity, 2);
  EXPECT_EQ(content(path("woken")), "b1\n");
  const json::object then = parsed(content(path("at-wake")));
  EXPECT_EQ(then.at("awake").at("b1").at("instance").at("idempotencyKey"), "k-1");
  EXPECT_EQ(then.at("awake").at("b1").at("instance").at("state"), "pending");
  struct stat status {};
  ASSERT_EQ(::stat(path("state.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto instances = listed();
  ASSERT_EQ(instances.size(), 1u);
  EXPECT_EQ(instances[0].state, InstanceState::running);
  EXPECT_EQ(instances[0].tags.at("team"), "x");
  EXPECT_EQ(room(), 2);
}

TEST_F(StaticPower, a_key_wakes_once_whichever_process_is_asked) {
  launch("k-1");
  provider = make_provider(config());
  const Launch again = launch("k-1");
  ASSERT_TRUE(again.instance);
  EXPECT_EQ(again.instance->worker_id, WorkerId("b1"));
  EXPECT_EQ(content(path("woken")), "b1\n");
  const auto both = allocate({"k-2", "k-2"});
  EXPECT_EQ(both->launches.at(0).instance->worker_id, both->launches.at(1).instance->worker_id);
  EXPECT_EQ(content(path("woken")), "b1\nb2\n");
}

TEST_F(StaticPower, more_keys_than_machines_leave_some_without) {
  const auto answer = allocate({"k-1", "k-2", "k-3", "k-4", ""});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->launches.size(), 5u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(answer->launches[i].instance) << i;
  EXPECT_EQ(answer->launches[3].error->error_class, ErrorClass::capacity);
  EXPECT_EQ(answer->launches[4].error->error_class, ErrorClass::invalid);
  const auto bids = bid(1);
  EXPECT_TRUE(bids->bids.empty());
  EXPECT_NE(bids->problems.at(0).message.find("3 are awake"), std::string::npos);
}

TEST_F(StaticPower, a_machine_that_does_not_wake_is_held_back_and_another_is_taken) {
  touch("broken-b1");
  const Launch failed = launch("k-1");
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->error_class, ErrorClass::capacity);
  EXPECT_EQ(failed.error->code, "wakeFailed");
  EXPECT_EQ(failed.error->scope.launch_config_id, "lc-1");
  EXPECT_EQ(failed.error->message, "b1 was not woken: wakeCommand ended with 5: no answer");
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(room(), 2);
  EXPECT_EQ(launch("k-1").instance->worker_id, WorkerId("b2"));
  launch("k-2");
  EXPECT_NE(bid(1)->problems.at(0).message.find("b1 is not woken before"), std::string::npos);
  std::filesystem::remove(path("broken-b1"));
  context.advance(10min);
  EXPECT_EQ(launch("k-3").instance->worker_id, WorkerId("b1"));
}

TEST_F(StaticPower, a_wake_command_that_is_not_there_fails_in_words) {
  json::object wrong = config();
  wrong["wakeCommand"] = json::array{"/no/such/program"};
  provider = make_provider(wrong);
  EXPECT_EQ(launch("k-1").error->message,
            "b1 was not woken: wakeCommand cannot be run: No such file or directory");
}

TEST_F(StaticPower, a_cancelled_call_launches_nothing_and_holds_nothing_back) {
  testing::FakeContext cancelled;
  cancelled.cancel();
  const auto answer = provider->allocate({.owner = owner(),
                                          .launch_config = launch_config(),
                                          .idempotency_keys = {IdempotencyKey("k-1")}},
                                         cancelled);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::cancelled);
  EXPECT_EQ(room(), 3);
}

// As if the process had died while the command ran: its note is there, its end is not.
TEST_F(StaticPower, an_interrupted_wake_is_done_again) {
  launch("k-1");
  const auto die_while_it_wakes = [&] {
    std::filesystem::copy_file(path("at-wake"), path("state.json"),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(path("woken"));
    provider = make_provider(config());
  };
  die_while_it_wakes();
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_EQ(listed()[0].state, InstanceState::pending);
  EXPECT_EQ(content(path("woken")), "");
  EXPECT_EQ(launch("k-1").instance->worker_id, WorkerId("b1"));
  EXPECT_EQ(content(path("woken")), "b1\n");
  die_while_it_wakes();
  context.advance(5min);  // the host has adopted it from a listing, and asks no more
  ASSERT_EQ(listed().size(), 1u);
  EXPECT_EQ(listed()[0].state, InstanceState::running);
  EXPECT_EQ(content(path("woken")), "b1\n");
}

TEST_F(StaticPower, terminate_switches_off_and_lets_the_machine_rest) {
  launch("k-1");
  const auto ended = terminate("b1");
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->failures.empty());
  EXPECT_EQ(content(path("off")), "b1\n");
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(room(), 2);
  EXPECT_EQ(launch("k-1").instance->state, InstanceState::stopped);
  EXPECT_TRUE(terminate("b1")->failures.empty());
  EXPECT_EQ(content(path("off")), "b1\n");
  context.advance(1min);
  EXPECT_EQ(room(), 3);
  EXPECT_EQ(launch("k-2").instance->worker_id, WorkerId("b1"));
}

TEST_F(StaticPower, terminate_of_what_was_not_launched_runs_no_command) {
  for (const char* id : {"b1", "always-on", "nobody"}) EXPECT_TRUE(terminate(id)->failures.empty());
  launch("k-1");
  EXPECT_TRUE(terminate("b1", owner("host-2"))->failures.empty());
  EXPECT_TRUE(provider->terminate({owner(), {{WorkerGroup("dc2"), WorkerId("b1")}}}, context));
  EXPECT_FALSE(std::filesystem::exists(path("off")));
  EXPECT_TRUE(listed(owner("host-2")).empty());
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(StaticPower, a_machine_that_cannot_be_switched_off_stays_stopping) {
  launch("k-1");
  touch("stuck-b1");
  const auto failed = terminate("b1");
  ASSERT_EQ(failed->failures.size(), 1u);
  EXPECT_EQ(failed->failures[0].error.error_class, ErrorClass::transient);
  EXPECT_EQ(failed->failures[0].error.message,
            "b1 was not switched off: powerOffCommand ended with 6: stuck");
  EXPECT_EQ(listed().at(0).state, InstanceState::stopping);
  EXPECT_EQ(room(), 2);
  std::filesystem::remove(path("stuck-b1"));
  EXPECT_TRUE(terminate("b1")->failures.empty());
  EXPECT_TRUE(listed().empty());
}

TEST_F(StaticPower, machines_that_left_the_configuration_are_listed_until_they_end) {
  launch("k-1");
  provider = make_provider(config(0));
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_TRUE(terminate("b1")->failures.empty());
  EXPECT_FALSE(std::filesystem::exists(path("off")));
  EXPECT_TRUE(listed().empty());
}

TEST_F(StaticPower, without_a_power_off_command_terminate_only_lets_go) {
  json::object quiet = config();
  quiet.erase("powerOffCommand");
  provider = make_provider(quiet);
  launch("k-1");
  EXPECT_TRUE(terminate("b1")->failures.empty());
  EXPECT_TRUE(listed().empty());
}

TEST_F(StaticPower, a_superseded_host_changes_nothing) {
  launch("k-1");
  const auto late = allocate({"k-2"}, owner("host-1", 2));
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("superseded"), std::string::npos);
  EXPECT_FALSE(terminate("b1", owner("host-1", 2)));
  EXPECT_TRUE(allocate({"k-2"}, owner("host-1", 4)));
  EXPECT_EQ(listed(owner("host-1", 4)).size(), 2u);
}

TEST_F(StaticPower, two_processes_never_wake_the_same_machine_for_two_launches) {
  auto other = make_provider(config());
  launch("k-1");
  std::swap(provider, other);
  EXPECT_EQ(launch("k-2").instance->worker_id, WorkerId("b2"));
  EXPECT_EQ(listed().size(), 2u);
}

TEST_F(StaticPower, a_damaged_state_file_is_refused_and_left_alone) {
  for (const char* wrong : {"", "{", "[]", R"({"v":2,"awake":{}})", R"({"v":1,"awake":7})"}) {
    std::ofstream(path("state.json")) << wrong;
    const auto listing = provider->list({owner()}, context);
    ASSERT_FALSE(listing) << wrong;
    EXPECT_EQ(listing.error().error_class, ErrorClass::invalid);
    EXPECT_TRUE(listing.error().message.starts_with("stateFile: ")) << listing.error().message;
    EXPECT_FALSE(allocate({"k-1"}));
    EXPECT_FALSE(terminate("b1"));
    EXPECT_FALSE(bid(1));
    EXPECT_EQ(content(path("state.json")), wrong);
  }
  EXPECT_FALSE(std::filesystem::exists(path("woken")));
}

TEST_F(StaticPower, what_cannot_be_written_is_not_woken) {
  std::filesystem::create_directory(path("state.json.new"));
  const auto answer = allocate({"k-1"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, ErrorClass::transient);
  EXPECT_FALSE(std::filesystem::exists(path("woken")));
  std::filesystem::remove(path("state.json.new"));
  EXPECT_TRUE(listed().empty());
}

TEST_F(StaticPower, several_are_woken_and_switched_off_in_one_call) {
  ASSERT_TRUE(allocate({"k-1", "k-2", "k-3"}));
  TerminateRequest request{owner(), {}, "test"};
  touch("stuck-b2");
  for (const Instance& instance : listed())
    request.workers.push_back({instance.worker_group, instance.worker_id});
  const auto ended = provider->terminate(request, context);
  ASSERT_EQ(ended->failures.size(), 1u);
  EXPECT_EQ(ended->failures[0].worker_id, WorkerId("b2"));
  EXPECT_EQ(listed().size(), 1u);
}

}  // namespace
}  // namespace muster::static_machines
