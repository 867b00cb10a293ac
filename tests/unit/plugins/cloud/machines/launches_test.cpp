#include <gtest/gtest.h>

#include "plugins/cloud/machines/key_list.hpp"
#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/cloud/machines/notice_board.hpp"
#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/cloud/machines/quota_memory.hpp"
#include "plugins/cloud/machines/recent_instances.hpp"
#include "plugins/cloud/machines/seen_proofs.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;

const Time noon{std::chrono::hours(500'000)};
const Owner owner{"host", ProviderId("cloud"), 3};

std::vector<IdempotencyKey> ids(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

TEST(KeyList, packs_numbers_as_ranges_and_gives_each_key_back) {
  const auto keys = ids({"h-7-1", "h-7-2", "h-7-3", "h-7-9", "h-7-5", "h-7-6", "h-8-1"});
  const PackedKeys packed = pack_keys(keys, 0, 100);
  EXPECT_EQ(packed.text, "h-7-:1-3+9+5-6");
  ASSERT_EQ(packed.count, 6u);
  for (std::size_t i = 0; i < packed.count; ++i)
    EXPECT_EQ(key_at(packed.text, static_cast<std::int64_t>(i)), keys[i]);
  EXPECT_FALSE(key_at(packed.text, 6));
  EXPECT_FALSE(key_at(packed.text, -1));
}

TEST(KeyList, no_list_is_longer_than_a_tag) {
  std::vector<IdempotencyKey> keys;
  for (int i = 0; i < 500; ++i)
    keys.emplace_back("a-host-with-quite-a-long-name-12-" + std::to_string(1'000'000 + 2 * i));
  for (std::size_t from = 0; from < keys.size();) {
    const PackedKeys packed = pack_keys(keys, from, 100);
    ASSERT_GT(packed.count, 0u);
    ASSERT_LE(packed.text.size(), longest_tag_value);
    for (std::size_t i = 0; i < packed.count; ++i)
      ASSERT_EQ(key_at(packed.text, static_cast<std::int64_t>(i)), keys[from + i]);
    from += packed.count;
  }
}

TEST(KeyList, odd_keys_are_sent_one_by_one_and_odd_tags_have_no_key) {
  for (const char* key : {"plain", "a+b:7", "x-007", "9", "h:-7"}) {
    const PackedKeys packed = pack_keys(ids({key, "other"}), 0, 100);
    EXPECT_EQ(packed.count, 1u) << key;
    EXPECT_TRUE(key_at(packed.text, 0)) << key;
    EXPECT_FALSE(key_at(packed.text, 1)) << key;
  }
  EXPECT_EQ(pack_keys(ids({std::string(300, 'k')}), 0, 1).text.size(), 65u);
  for (const char* text : {"", "h-", "h-:", "h-:x", "h-:5-2", "h-:1++2", "h-:1-"})
    EXPECT_FALSE(key_at(text, 0) && key_at(text, 1)) << text;
}

AllocateRequest launch_request() {
  AllocateRequest request;
  request.owner = owner;
  request.launch_config.launch_config_id = LaunchConfigId("lc-1");
  request.launch_config.worker_pool_id = WorkerPoolId("a/b");
  request.launch_config.capacity_per_instance = 4;
  request.tags = {{"muster-pool", "of the host"}, {"cost", "1"}};
  return request;
}

TEST(Ownership, tags_of_others_cannot_replace_musters_own) {
  const json::object team{{"muster-host", "other"}, {"team", "build"}, {"cost", "2"}};
  const Tags tags = tags_of(launch_request(), &team, "k:1-3");
  EXPECT_EQ(tags.at(tag::host), "host");
  EXPECT_EQ(tags.at(tag::pool), "a/b");
  EXPECT_EQ(tags.at("team"), "build");
  EXPECT_EQ(tags.at("cost"), "1");
  EXPECT_EQ(tags.at(tag::keys), "k:1-3");
}

TEST(Ownership, a_machine_is_known_by_its_tags_and_without_them_is_none_of_ours) {
  Tags tags = tags_of(launch_request(), nullptr, "k:1");
  const auto made = instance_of(tags);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->worker_pool_id.str(), "a/b");
  EXPECT_EQ(made->capacity, 4);
  EXPECT_EQ(made->epoch, 3);
  tags[tag::capacity] = "many";
  tags.erase(tag::epoch);
  EXPECT_EQ(instance_of(tags)->capacity, 1);
  EXPECT_EQ(instance_of(tags)->epoch, 0);
  tags.erase(tag::pool);
  EXPECT_FALSE(instance_of(tags));
}

TEST(Ownership, machines_of_another_host_are_named) {
  const WorkerRef other{WorkerGroup("r"), WorkerId("i-1"),
                        data_of_owner(Owner{"other", ProviderId("cloud"), 1})};
  EXPECT_FALSE(belongs_to(other.provider_data, owner));
  EXPECT_TRUE(belongs_to(data_of_owner(owner), owner));
  EXPECT_TRUE(belongs_to({}, owner));
  EXPECT_NE(not_yours(other, owner).message.find("host other"), std::string::npos);
}

TEST(Epochs, a_superseded_start_of_a_host_is_refused_and_other_hosts_are_not) {
  Epochs epochs;
  EXPECT_TRUE(epochs.check({"a", ProviderId("p"), 2}));
  EXPECT_TRUE(epochs.check({"a", ProviderId("p"), 2}));
  EXPECT_TRUE(epochs.check({"b", ProviderId("p"), 1}));
  const auto old = epochs.check({"a", ProviderId("p"), 1});
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().error_class, ErrorClass::invalid);
}

Instance machine_of(const char* id, const char* region = "r") {
  Instance made;
  made.worker_group = WorkerGroup(region);
  made.worker_id = WorkerId(id);
  made.state = InstanceState::running;
  made.provider_data = data_of_owner(owner);
  return made;
}

TEST(RecentInstances, what_was_just_launched_is_missed_until_it_should_be_listed) {
  RecentInstances recent;
  recent.launched(machine_of("i-1"), noon);
  recent.launched(machine_of("i-2"), noon);
  recent.launched(machine_of("i-3", "other"), noon);
  const auto missing = recent.missing(owner, "r", {machine_of("i-1")}, noon + 1min);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].worker_id.str(), "i-2");
  EXPECT_TRUE(recent.missing({"x", ProviderId("cloud"), 1}, "r", {}, noon + 1min).empty());
  EXPECT_TRUE(recent.was_just_launched(WorkerId("i-2"), noon + 1min));
  EXPECT_TRUE(recent.missing(owner, "r", {}, noon + longest_delay_of_lists).empty());
}

TEST(RecentInstances, what_was_terminated_is_stopping_whatever_the_list_says) {
  RecentInstances recent;
  recent.terminated(WorkerId("i-1"), noon);
  std::vector<Instance> listed{machine_of("i-1"), machine_of("i-2")};
  recent.correct(listed);
  EXPECT_EQ(listed[0].state, InstanceState::stopping);
  EXPECT_EQ(listed[1].state, InstanceState::running);
}

TEST(LaunchHistory, failures_of_the_last_hour_lower_the_reliability_of_that_kind_only) {
  LaunchHistory history;
  const Machine m5{.region = "r", .zone = "ra", .instance_type = "m5"};
  Machine spot = m5;
  spot.spot = true;
  const double usual = history.reliability(m5, noon);
  history.failed(m5, 5, noon);
  EXPECT_LT(history.reliability(m5, noon + 1min), usual / 2);
  EXPECT_LT(history.reliability(spot, noon), usual);
  EXPECT_GT(history.reliability(spot, noon), 0.8);
  EXPECT_DOUBLE_EQ(history.reliability(m5, noon + 2h), usual);
}

TEST(LaunchHistory, machines_that_the_cloud_took_back_count_against_those_that_stayed) {
  LaunchHistory history;
  const Machine machine{.region = "r", .zone = "ra", .instance_type = "m5", .spot = true};
  const double usual = history.reliability(machine, noon);
  MachineCounts taken;
  for (int i = 0; i < 6; ++i) taken.add("ra", "m5/spot");
  taken.add("rb", "m5/spot");
  history.set_interrupted("r", taken);
  const double bad = history.reliability(machine, noon);
  EXPECT_DOUBLE_EQ(bad, usual / 3);
  MachineCounts running;
  for (int i = 0; i < 100; ++i) running.add("ra", "m5/spot");
  history.set_running("r", running);
  EXPECT_GT(history.reliability(machine, noon), usual * 0.9) << "six of a hundred";
  Machine elsewhere = machine;
  elsewhere.zone = "rc";
  EXPECT_DOUBLE_EQ(history.reliability(elsewhere, noon), usual);
  history.set_interrupted("r", {});
  EXPECT_DOUBLE_EQ(history.reliability(machine, noon), usual);
}

TEST(QuotaMemory, tells_each_type_of_the_quota_in_the_region_once_within_a_minute) {
  QuotaMemory memory;
  Machine machine{.region = "r", .zone = "ra", .instance_type = "m5"};
  EXPECT_FALSE(memory.tell(machine, "standard", noon));
  memory.used_up(machine, "standard", Error::quota("32 of 32").in_zone("ra").hold_for(600s), noon);
  EXPECT_FALSE(memory.tell(machine, "standard", noon)) << "its launch was told";
  machine.zone = "rb";
  machine.instance_type = "c5";
  const auto found = memory.tell(machine, "standard", noon + 59s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scope.region, "r");
  EXPECT_EQ(found->scope.instance_type, "c5");
  EXPECT_FALSE(found->scope.zone);
  EXPECT_FALSE(memory.tell(machine, "standard", noon + 59s))
      << "an operator may have ended the hold";
  machine.instance_type = "r5";
  EXPECT_FALSE(memory.tell(machine, "gpu", noon));
  machine.region = "other";
  EXPECT_FALSE(memory.tell(machine, "standard", noon));
  machine.region = "r";
  EXPECT_FALSE(memory.tell(machine, "standard", noon + 60s));
  EXPECT_TRUE(memory.empty());
}

TEST(NoticeBoard, repeats_notices_until_the_machine_has_ended) {
  NoticeBoard board;
  EXPECT_TRUE(board.add({WorkerGroup("r"), WorkerId("i-1"), {noon + 2min, "spot"}}));
  EXPECT_FALSE(board.add({WorkerGroup("r"), WorkerId("i-1"), {noon + 2min, "spot"}}));
  EXPECT_TRUE(board.add({WorkerGroup("r"), WorkerId("i-2"), {noon + 2min, "spot"}}));
  EXPECT_EQ(board.notices(noon).notices.size(), 2u);
  board.ended(WorkerGroup("r"), WorkerId("i-1"));
  EXPECT_EQ(board.notices(noon + 5min).notices.size(), 1u);
  EXPECT_TRUE(board.notices(noon + 1h).notices.empty());
}

TEST(SeenProofs, the_same_machine_may_repeat_a_question_whose_answer_was_lost) {
  SeenProofs seen;
  EXPECT_TRUE(seen.use_once("token", "i-1", noon + 1h, noon, 2min));
  EXPECT_TRUE(seen.use_once("token", "i-1", noon + 1h, noon + 1min, 2min));
  EXPECT_FALSE(seen.use_once("token", "i-2", noon + 1h, noon + 1min, 2min));
  EXPECT_FALSE(seen.use_once("token", "i-1", noon + 1h, noon + 2min, 2min));
}

TEST(SeenProofs, a_proof_is_good_for_one_use_until_it_ends) {
  SeenProofs seen;
  EXPECT_TRUE(seen.use_once("token", "i-1", noon + 1h, noon));
  EXPECT_TRUE(seen.use_once("other token", "i-2", noon + 1h, noon));
  const auto again = seen.use_once("token", "i-1", noon + 1h, noon + 1min);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().error_class, ErrorClass::auth);
  EXPECT_NE(again.error().message.find("i-1"), std::string::npos);
  EXPECT_TRUE(seen.use_once("token", "i-1", noon + 2h, noon + 1h));
}

}  // namespace
}  // namespace muster::cloud
