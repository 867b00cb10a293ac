// Whose workers they are, how many there may be, who they are, and what disks do to them.
#include <sys/mount.h>
#include <sys/resource.h>

#include "plugins/base/digest.hpp"
#include "plugins/provider/local/identity.hpp"
#include "plugins/provider/local/limits.hpp"
#include "tests/unit/plugins/provider/local/fixture.hpp"

namespace muster::local {
namespace {

using LocalOffers = LocalScene;

TEST_F(LocalOffers, a_folder_of_another_host_is_refused_in_a_sentence) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const Owner mine = owner;
  for (const Owner& other :
       {Owner{"host-2", ProviderId("local"), 9}, Owner{"host-1", ProviderId("local-2"), 9}}) {
    owner = other;
    const Launch refused = launch_one("key-2");
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->error_class, ErrorClass::config);
    EXPECT_NE(refused.error->message.find("belongs to provider local of host host-1"),
              std::string::npos);
    const auto listing = provider->list({owner}, context);
    ASSERT_TRUE(listing);
    EXPECT_TRUE(listing->instances.empty());
    EXPECT_EQ(listing->problems.size(), 1u);  // so that nothing is taken to be gone
    EXPECT_FALSE(provider->terminate(
        {owner, {{launch.instance->worker_group, launch.instance->worker_id}}, "x"}, context));
    const auto bids = provider->bid({owner, WorkerPoolId("a/b"), 1, {{launch_config()}}}, context);
    ASSERT_TRUE(bids);
    EXPECT_TRUE(bids->bids.empty());
  }
  owner = mine;
  EXPECT_EQ(state_of(launch.instance->worker_id), InstanceState::running);
}

TEST_F(LocalOffers, variables_that_change_programs_are_refused_when_configured_and_when_launched) {
  json::object from = config();
  from["allowedEnvironment"] = json::array{"GIT_DIR"};
  open(from);
  const auto document = [](const char* name) {
    json::object made = with_image("good");
    made["workerConfig"] = json::object{{"environment", json::object{{name, "x"}}}};
    return made;
  };
  for (const char* name : {"LD_PRELOAD", "BASH_ENV", "PATH", "MUSTER_LOCAL_FOLDER", "GIT_SSH"}) {
    const auto expanded = provider->expand({WorkerPoolId("a/b"), {}, document(name)}, context);
    ASSERT_FALSE(expanded) << name;
    EXPECT_EQ(expanded.error().error_class, ErrorClass::invalid);
    EXPECT_NE(expanded.error().message.find(std::string("workerConfig.environment.") + name),
              std::string::npos);
    AllocateRequest stored = request({IdempotencyKey("key")});
    stored.launch_config = launch_config(document(name));
    const auto launched = provider->allocate(stored, context);
    ASSERT_FALSE(launched) << name;
    EXPECT_EQ(launched.error().error_class, ErrorClass::config);
  }
  for (const char* name : {"GREETING", "MUSTER_TASKS", "GIT_DIR"})
    EXPECT_TRUE(provider->expand({WorkerPoolId("a/b"), {}, document(name)}, context)) << name;
}

TEST_F(LocalOffers, a_folder_that_workers_cannot_reach_is_told_before_any_is_started) {
  fs::permissions(place.path(), fs::perms(0700));
  auto settings = read_settings(config());
  ASSERT_TRUE(settings);
  settings->user = RunAs{::geteuid() + 4711, ::getegid() + 4711, "stranger"};
  provider = std::make_unique<LocalProvider>(*settings, [] { return Time(); });
  const auto bids = provider->bid({owner, WorkerPoolId("a/b"), 1, {{launch_config()}}}, context);
  ASSERT_TRUE(bids);
  EXPECT_TRUE(bids->bids.empty());
  ASSERT_EQ(bids->problems.size(), 1u);
  EXPECT_NE(bids->problems[0].message.find("does not let the user stranger through"),
            std::string::npos);
  provider.reset();
  fs::permissions(place.path(), fs::perms(0711));
}

TEST_F(LocalOffers, a_superseded_start_of_the_host_changes_nothing) {
  open();
  ASSERT_TRUE(launch_one("key-1").instance);
  owner.epoch = 2;
  const Launch refused = launch_one("key-2");
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("superseded by epoch 3"), std::string::npos);
}

TEST_F(LocalOffers, a_folder_that_others_can_write_in_is_refused) {
  fs::create_directory(folder());
  fs::permissions(folder(), fs::perms::all);
  open();
  const Launch refused = launch_one("key-1");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->error_class, ErrorClass::config);
  EXPECT_NE(refused.error->message.find("others can write"), std::string::npos);
  EXPECT_FALSE(provider->list({owner}, context));
}

TEST_F(LocalOffers, a_damaged_worker_is_a_problem_and_nobody_is_taken_to_be_gone) {
  open();
  ASSERT_TRUE(launch_one("key-1").instance);
  fs::create_directory(folder() / "local-damaged");
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string(2 << 20, ' ')}) {
    std::ofstream(folder() / "local-damaged" / "instance.json", std::ios::trunc) << text;
    const auto listing = provider->list({owner}, context);
    ASSERT_TRUE(listing);
    EXPECT_EQ(listing->instances.size(), 1u);
    ASSERT_EQ(listing->problems.size(), 1u);
    EXPECT_NE(listing->problems[0].message.find("local-damaged"), std::string::npos);
  }
  fs::remove_all(folder() / "local-damaged");
  fs::create_directory_symlink("/", folder() / "local-link");
  EXPECT_TRUE(provider->list({owner}, context)->problems.empty());
  EXPECT_TRUE(fs::exists(folder() / "local-link" / "proc"));  // what it points to is not ours
}

TEST_F(LocalOffers, there_are_never_more_workers_than_the_machine_has_room_for) {
  json::object small = config();
  small["maxWorkers"] = 2;
  open(small);
  const auto bid = [&](std::int64_t capacity) {
    LaunchConfig second = launch_config();
    second.launch_config_id = LaunchConfigId("lc-2");
    return *provider->bid({owner, WorkerPoolId("a/b"), capacity, {{launch_config()}, {second}}},
                          context);
  };
  ASSERT_EQ(bid(5).bids.size(), 2u);  // spread over both
  EXPECT_EQ(bid(5).bids[0].instances, 1);
  EXPECT_EQ(bid(5).bids[0].price_per_capacity_hour, 0);
  EXPECT_EQ(bid(5).bids[0].reliability, 1);
  EXPECT_EQ(bid(1).bids.size(), 1u);
  const auto all = provider->allocate(
      request({IdempotencyKey("a"), IdempotencyKey("b"), IdempotencyKey("c")}), context);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->launches[0].instance && all->launches[1].instance);
  ASSERT_TRUE(all->launches[2].error);
  EXPECT_EQ(all->launches[2].error->error_class, ErrorClass::quota);
  EXPECT_TRUE(bid(1).bids.empty());
  ASSERT_EQ(bid(1).problems.size(), 1u);
  EXPECT_NE(bid(1).problems[0].message.find("maxWorkers"), std::string::npos);
}

TEST_F(LocalOffers, only_the_secret_proves_who_a_worker_is) {
  open();
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const std::string secret = content(folder_of(*launch.instance) / "secret").substr(0, 44);
  const auto identify = [&](json::object proof, json::object known) {
    return provider->identify({.worker_pool_id = launch.instance->worker_pool_id,
                               .worker_group = launch.instance->worker_group,
                               .worker_id = launch.instance->worker_id,
                               .proof = std::move(proof),
                               .provider_data = std::move(known)},
                              context);
  };
  const json::object& known = launch.instance->provider_data;
  for (const json::object& wrong :
       {json::object{}, json::object{{"localSecret", 7}}, json::object{{"localSecret", ""}},
        json::object{{"localSecret", secret + "\n"}},
        json::object{{"localSecret", known.at("secretSha256")}},
        json::object{{"staticSecret", secret}}}) {
    const auto answer = identify(wrong, known);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().error_class, ErrorClass::auth);
  }
  EXPECT_FALSE(identify({{"localSecret", secret}}, {}));
  const auto answer = identify({{"localSecret", secret}}, known);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->worker_id, launch.instance->worker_id);
}

// A limit of the size of files stands for the disk: what is written beyond it fails half-way.
TEST_F(LocalOffers, a_full_disk_fails_the_launch_and_leaves_nothing_behind) {
  open();
  ASSERT_TRUE(launch_one("key-0").instance);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tiny{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const Launch launch = launch_one("key-1");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(launch.error);
  EXPECT_EQ(launch.error->error_class, ErrorClass::capacity);
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_TRUE(launch_one("key-1").instance);  // once there is room again
}

TEST_F(LocalOffers, output_is_bounded_and_what_came_last_is_kept) {
  json::object chatty = config();
  chatty["outputLimit"] = "4KiB";
  open(chatty);
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance);
  const fs::path output = folder_of(*launch.instance) / "output.log";
  std::ofstream(output, std::ios::app) << std::string(10'000, 'a') << "the last words";
  listed();
  EXPECT_LT(fs::file_size(output), 4097u);
  EXPECT_TRUE(content(output.string() + ".1").ends_with("the last words"));
  EXPECT_EQ(fs::file_size(output.string() + ".1"), 4096u);
}

TEST_F(LocalOffers, limits_hold_the_worker_and_are_told) {
  open();
  AllocateRequest limited = request({IdempotencyKey("key-1")});
  limited.launch_config.document["local"].as_object()["openFiles"] = 77;
  limited.launch_config.document["local"].as_object()["memory"] = "64MiB";
  limited.launch_config.document["local"].as_object()["cpus"] = 0.5;
  const auto allocation = provider->allocate(limited, context);
  ASSERT_TRUE(allocation);
  ASSERT_TRUE(allocation->launches[0].instance) << allocation->launches[0].error->message;
  const Instance& instance = *allocation->launches[0].instance;
  const std::string limits = content("/proc/" + std::to_string(agent_of(instance)) + "/limits");
  EXPECT_NE(limits.find("Max open files            77 "), std::string::npos) << limits;
  const json::object& told = instance.provider_data.at("limits").as_object();
  EXPECT_EQ(told.at("openFiles").as_string(), "rlimit of each process");
  const bool by_group = told.at("memory").as_string() == "cgroup memory.max";
  if (!by_group) {
    EXPECT_NE(limits.find("Max data size             67108864 "), std::string::npos) << limits;
    EXPECT_EQ(told.at("cpus").as_string(), "not held: no cgroup can");
  }
}

TEST_F(LocalOffers, a_configured_cgroup_that_is_none_is_an_error) {
  json::object wrong = config();
  wrong["cgroup"] = place.path().string();
  open(wrong);
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.error);
  EXPECT_NE(launch.error->message.find("is not a cgroup of version 2"), std::string::npos);
}

TEST_F(LocalOffers, a_temporary_provider_takes_its_workers_along) {
  json::object temporary = config();
  temporary.erase("folder");
  temporary["temporary"] = true;
  open(temporary);
  const Launch launch = launch_one("key-1");
  ASSERT_TRUE(launch.instance) << launch.error->message;
  const fs::path own(launch.instance->provider_data.at("folder").as_string().c_str());
  const pid_t group = std::stoi(content(own / "worker.pid"));
  provider.reset();
  EXPECT_TRUE(eventually([&] { return !group_lives(group); }));
  EXPECT_FALSE(fs::exists(own.parent_path()));
}

}  // namespace
}  // namespace muster::local
