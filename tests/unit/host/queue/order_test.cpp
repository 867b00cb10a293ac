// Whose turn it is.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

TEST(Order, within_a_team_is_first_come_first_served) {
  Fixture scene;
  const auto first = scene.ask("a"), second = scene.ask("a"), third = scene.ask("a");
  const auto worker = scene.worker();
  EXPECT_EQ(scene.holds(first), worker);
  scene.release(first);
  EXPECT_EQ(scene.holds(second), worker);
  EXPECT_EQ(scene.holds(third), 0);
}

TEST(Order, within_a_team_heeds_priorities) {
  Fixture scene;
  const auto low = *scene.ask(Ask{.team = TeamId("a"), .priority = -1});
  const auto usual = scene.ask("a");
  const auto high = *scene.ask(Ask{.team = TeamId("a"), .priority = 5});
  const auto worker = scene.worker();
  EXPECT_EQ(scene.holds(high), worker);
  scene.release(high);
  EXPECT_EQ(scene.holds(usual), worker);
  scene.release(usual);
  EXPECT_EQ(scene.holds(low), worker);
}

TEST(Order, between_teams_does_not_heed_priorities) {
  Fixture scene;
  scene.worker();
  const auto before = scene.ask("loud");  // so that it has used something
  const auto quiet = scene.ask("quiet");
  const auto loud = *scene.ask(Ask{.team = TeamId("loud"), .priority = 1'000'000});
  scene.release(before);
  EXPECT_GT(scene.holds(quiet), 0);
  EXPECT_EQ(scene.holds(loud), 0);
}

// How many of the grants each team got.
std::map<std::string, int> grants(Fixture& scene, int rounds) {
  std::map<std::string, int> got;
  for (int i = 0; i < rounds; ++i) {
    scene.wait(60s);
    std::vector<std::int64_t> held;
    for (const Request& request : scene.queue.requests())
      if (request.number != 0 && request.state == RequestState::held) {
        held.push_back(request.number);
        ++got[scene.queue.teams()[request.team].id.str()];
      }
    for (const std::int64_t request : held) scene.release(request);
  }
  return got;
}

TEST(Order, between_teams_is_by_weight_however_much_each_asks_for) {
  Fixture scene;
  ASSERT_TRUE(scene.queue.set_team(TeamId("heavy"), {.weight = 3}, scene.now));
  for (int i = 0; i < 500; ++i) scene.ask("flood");
  for (int i = 0; i < 100; ++i) scene.ask("heavy");
  scene.worker();
  auto got = grants(scene, 80);
  EXPECT_NEAR(got["heavy"], 60, 2);
  EXPECT_NEAR(got["flood"], 20, 2);
}

TEST(Order, counts_the_time_of_leases_and_not_only_their_number) {
  Fixture scene({.half_life = 24h, .patience = 24h});
  scene.worker();
  // "long" holds for ten minutes each time, "short" for one.
  std::map<std::string, std::chrono::minutes> used;
  for (int i = 0; i < 60; ++i) {
    scene.ask("long");
    scene.ask("short");
  }
  for (int i = 0; i < 66; ++i) {
    for (const Request& request : std::vector<Request>(scene.queue.requests())) {
      if (request.number == 0 || request.state != RequestState::held) continue;
      const std::string& team = scene.queue.teams()[request.team].id.str();
      const auto time = team == "long" ? 10min : 1min;
      used[team] += time;
      scene.wait(time);
      scene.release(request.number);
      break;
    }
  }
  EXPECT_NEAR(used["long"].count(), used["short"].count(), 20);
}

TEST(Order, forgets_what_was_used_long_ago) {
  Fixture scene({.half_life = 1h});
  scene.worker();
  const auto held = scene.ask("old");
  scene.wait(1h);
  scene.release(held);
  const Team& team = scene.queue.teams()[0];
  const double before = scene.queue.usage_of(team, scene.now);
  EXPECT_NEAR(before, 3600 * 0.72, 100) << "an hour, the first minutes of which have decayed";
  EXPECT_NEAR(scene.queue.usage_of(team, scene.now + 1h), before / 2, 1);
  scene.now += 1000h;
  scene.queue.expire(scene.now);
  scene.ask("old");
  EXPECT_NEAR(scene.queue.usage_of(scene.queue.teams()[0], scene.now), 60, 0.1)
      << "also when the numbers had to be moved to another base";
  EXPECT_EQ(scene.queue.check(), "");
}

// -------------------------------------------------------------------------------------------------
// The bound

// One worker. A team that has used very much asks once; teams that used nothing flood the queue,
// and there are always more of them.
TEST(Bound, a_team_that_used_much_waits_for_its_patience_and_one_grant_for_each_other_line) {
  Fixture scene({.patience = 10min});
  scene.worker();
  const auto busy = scene.ask("much");
  scene.wait(5h);
  constexpr int others = 5;
  for (int i = 0; i < 200; ++i)
    for (int team = 0; team < others; ++team) scene.ask("t" + std::to_string(team));
  const auto waits = scene.ask("much");
  scene.release(busy);
  const Time began = scene.now;
  int after_patience = 0;
  while (scene.holds(waits) == 0) {
    ASSERT_LT(scene.now, began + 1h);
    scene.wait(30s);
    for (const Request& request : scene.queue.requests())
      if (request.number != 0 && request.state == RequestState::held) {
        if (scene.now > began + 10min) ++after_patience;
        scene.release(request.number);
        break;
      }
  }
  EXPECT_GE(scene.now, began + 10min) << "before that, who used less goes first";
  EXPECT_LE(after_patience, others + 1);
}

TEST(Bound, lines_that_are_all_overdue_take_turns) {
  Fixture scene({.patience = 1min});
  std::map<std::int64_t, std::string> team_of;
  for (int i = 0; i < 20; ++i) {
    team_of[scene.ask("flood")] = "flood";
    team_of[scene.ask("flood")] = "flood";
    team_of[scene.ask("small")] = "small";
  }
  scene.wait(30min);
  scene.worker();
  std::string last;
  for (int i = 0; i < 20; ++i) {
    scene.wait(2min);
    for (const auto& [request, team] : std::map(team_of))
      if (scene.holds(request) > 0) {
        EXPECT_NE(team, last);
        last = team;
        scene.release(request);
        break;
      }
  }
}

// -------------------------------------------------------------------------------------------------
// Settings that change

TEST(OtherSettings, what_was_used_has_decayed_as_it_was_said_until_then) {
  Fixture scene;
  scene.worker();
  scene.release(scene.ask("a"));
  const Team& team = scene.queue.teams().front();
  const double at_first = scene.queue.usage_of(team, scene.now);
  scene.now += 1h;
  Settings slower;
  slower.half_life = 4h;
  scene.queue.configure(slower, scene.now);
  EXPECT_NEAR(scene.queue.usage_of(team, scene.now), at_first / 2, at_first / 1000);
  EXPECT_NEAR(scene.queue.usage_of(team, scene.now + 4h), at_first / 4, at_first / 1000);
}

TEST(OtherSettings, less_patience_brings_forward_who_waits_already) {
  Fixture scene;
  scene.worker();
  const auto greedy = scene.ask("greedy");
  const auto starved = scene.ask("greedy");
  scene.wait(5min);
  const auto newcomer = scene.ask("newcomer");  // has used nothing
  Settings hasty;
  hasty.patience = 1min;
  scene.queue.configure(hasty, scene.now);
  scene.release(greedy);
  EXPECT_GT(scene.holds(starved), 0);
  EXPECT_EQ(scene.holds(newcomer), 0);
}

TEST(OtherSettings, a_smaller_queue_takes_nobody_more_and_loses_nobody) {
  Fixture scene;
  const auto first = scene.ask("a"), second = scene.ask("a");
  Settings small;
  small.most_waiting = 1;
  scene.queue.configure(small, scene.now);
  const auto refused = scene.ask(Ask{.team = TeamId("b")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "queueFull");
  EXPECT_EQ(scene.holds(first), 0);
  EXPECT_EQ(scene.holds(second), 0);
}

// -------------------------------------------------------------------------------------------------
// Big requests

TEST(Reservation, a_big_request_is_not_starved_by_small_ones) {
  Fixture scene;
  const auto worker = scene.worker(4);
  std::vector<std::int64_t> small;
  for (int i = 0; i < 4; ++i) small.push_back(scene.ask("small"));
  const auto big = scene.ask("big", 4);
  for (int i = 0; i < 4; ++i) {
    for (int more = 0; more < 3; ++more) scene.ask("small");
    ASSERT_EQ(scene.holds(big), 0);
    scene.wait(1min);
    scene.release(small[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(scene.holds(big), worker) << "each release was kept for it";
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(Reservation, is_made_for_who_waits_too_long_before_others_take_what_is_free) {
  Fixture scene;
  const auto worker = scene.worker(4);
  const auto lease = scene.ask("holder");
  const auto big = scene.ask("big", 4);
  scene.wait(11min);  // nothing gets free, so that nobody has looked whose turn it is
  EXPECT_EQ(scene.holds(scene.ask("small")), 0) << "it is the big one's turn";
  EXPECT_EQ(scene.queue.check(), "");
  scene.release(lease);
  EXPECT_EQ(scene.holds(big), worker);
}

TEST(Reservation, of_one_worker_leaves_the_others_to_all) {
  Fixture scene;
  for (int i = 0; i < 2; ++i) scene.worker(4);
  for (int i = 0; i < 2; ++i) scene.ask("holder");
  scene.ask("big", 4);
  scene.wait(11min);
  int placed = 0;
  for (int i = 0; i < 4; ++i) placed += scene.holds(scene.ask("small")) > 0 ? 1 : 0;
  EXPECT_EQ(placed, 3) << "what is left of the other";
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(Reservation, moves_to_where_less_is_missing) {
  Fixture scene;
  const auto slow = scene.worker(4), quick = scene.worker(4);
  std::map<std::int64_t, std::vector<std::int64_t>> on;
  for (int i = 0; i < 8; ++i) {
    const auto request = scene.ask("small");
    on[scene.holds(request)].push_back(request);
  }
  const auto big = scene.ask("big", 4);
  scene.release(on[slow][0]);  // it is reserved now
  for (int i = 0; i < 4; ++i) scene.release(on[quick][static_cast<std::size_t>(i)]);
  EXPECT_EQ(scene.holds(big), quick) << "the other's leases may last for ever";
  EXPECT_EQ(scene.holds(scene.ask("small")), slow) << "which serves others again";
}

TEST(Reservation, ends_with_the_request) {
  Fixture scene;
  const auto worker = scene.worker(2);
  const auto one = scene.ask("small"), two = scene.ask("small");
  const auto big = scene.ask("big", 2);
  scene.release(one);
  const auto waits = scene.ask("small");
  EXPECT_EQ(scene.holds(waits), 0);
  scene.release(big);
  EXPECT_EQ(scene.holds(waits), worker);
  EXPECT_EQ(scene.holds(two), worker);
}

TEST(Reservation, closes_one_worker_for_each_line_only) {
  Fixture scene;
  std::vector<std::int64_t> small;
  for (int i = 0; i < 3; ++i) scene.worker(2);
  for (int i = 0; i < 6; ++i) small.push_back(scene.ask("small"));
  scene.ask("big", 2);
  scene.ask("big", 2);
  std::set<std::int64_t> workers;
  for (const std::int64_t request : small)
    if (workers.insert(scene.holds(request)).second) scene.release(request);
  ASSERT_EQ(workers.size(), 3U);
  int placed = 0;
  for (int i = 0; i < 3; ++i) placed += scene.holds(scene.ask("small")) > 0 ? 1 : 0;
  EXPECT_EQ(placed, 2) << "only one of three is kept for the big ones";
}

TEST(Reservation, is_not_made_on_a_worker_that_could_never_hold_it) {
  Fixture scene;
  scene.worker(2);
  const auto one = scene.ask("small"), two = scene.ask("small");
  scene.ask("big", 3);
  scene.release(one);
  EXPECT_GT(scene.holds(scene.ask("small")), 0);
  EXPECT_GT(scene.holds(two), 0);
}

// -------------------------------------------------------------------------------------------------
// Limits of teams

TEST(TeamLimits, keep_a_team_from_holding_more_and_others_go_on) {
  Fixture scene;
  ASSERT_TRUE(scene.queue.set_team(TeamId("a"), {.max_held = 2}, scene.now));
  scene.worker(10);
  const auto first = scene.ask("a"), second = scene.ask("a"), third = scene.ask("a");
  EXPECT_GT(scene.holds(second), 0);
  EXPECT_EQ(scene.holds(third), 0);
  EXPECT_GT(scene.holds(scene.ask("b")), 0);
  scene.release(first);
  EXPECT_GT(scene.holds(third), 0);
  const auto too_much = scene.ask(Ask{.team = TeamId("a"), .needs = {3, {}}});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, "teamLimit");
}

TEST(TeamLimits, keep_a_team_from_asking_for_more) {
  Fixture scene;
  ASSERT_TRUE(scene.queue.set_team(TeamId("a"), {.max_pending = 2}, scene.now));
  scene.ask("a");
  const auto second = scene.ask("a");
  EXPECT_FALSE(scene.ask(Ask{.team = TeamId("a")}));
  scene.release(second);
  EXPECT_TRUE(scene.ask(Ask{.team = TeamId("a")}));
}

TEST(TeamLimits, of_files_are_changed_in_the_file) {
  Fixture scene;
  scene.queue.configure_teams({{TeamId("a"), {.max_held = 1}}}, "muster.toml", scene.now);
  const auto refused = scene.queue.set_team(TeamId("a"), {}, scene.now);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("muster.toml"), std::string::npos);
  scene.worker(2);
  scene.ask("a");
  const auto second = scene.ask("a");
  EXPECT_EQ(scene.holds(second), 0);
  scene.queue.configure_teams({}, "muster.toml", scene.now);
  EXPECT_GT(scene.holds(second), 0) << "nothing limits it now";
}

TEST(TeamNumbers, that_make_no_sense_are_refused) {
  Fixture scene;
  for (const double weight : {0.0, -1.0, 1e300, std::nan(""), 1e-300})
    EXPECT_FALSE(scene.queue.set_team(TeamId("a"), {.weight = weight}, scene.now)) << weight;
  EXPECT_FALSE(scene.queue.set_team(TeamId("a"), {.max_held = -1}, scene.now));
  EXPECT_FALSE(scene.queue.set_team(TeamId(""), {}, scene.now));
  EXPECT_FALSE(scene.queue.set_team(TeamId("a\nb"), {}, scene.now));
}

}  // namespace
}  // namespace muster::queue::testing
