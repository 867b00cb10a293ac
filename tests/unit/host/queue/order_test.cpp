// Whose turn it is.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

TEST(Order, within_a_team_is_first_come_first_served) {
  Fixture fixture;
  const auto first = fixture.ask("a"), second = fixture.ask("a"), third = fixture.ask("a");
  const auto worker = fixture.worker();
  EXPECT_EQ(fixture.holds(first), worker);
  fixture.release(first);
  EXPECT_EQ(fixture.holds(second), worker);
  EXPECT_EQ(fixture.holds(third), 0);
}

TEST(Order, within_a_team_heeds_priorities) {
  Fixture fixture;
  const auto low = *fixture.ask(NewRequest{.team = TeamId("a"), .priority = -1});
  const auto usual = fixture.ask("a");
  const auto high = *fixture.ask(NewRequest{.team = TeamId("a"), .priority = 5});
  const auto worker = fixture.worker();
  EXPECT_EQ(fixture.holds(high), worker);
  fixture.release(high);
  EXPECT_EQ(fixture.holds(usual), worker);
  fixture.release(usual);
  EXPECT_EQ(fixture.holds(low), worker);
}

TEST(Order, between_teams_does_not_heed_priorities) {
  Fixture fixture;
  fixture.worker();
  const auto before = fixture.ask("loud");  // so that it has used something
  const auto quiet = fixture.ask("quiet");
  const auto loud = *fixture.ask(NewRequest{.team = TeamId("loud"), .priority = 1'000'000});
  fixture.release(before);
  EXPECT_GT(fixture.holds(quiet), 0);
  EXPECT_EQ(fixture.holds(loud), 0);
}

// How many of the grants each team got.
std::map<std::string, int> grants(Fixture& fixture, int rounds) {
  std::map<std::string, int> got;
  for (int i = 0; i < rounds; ++i) {
    fixture.wait(60s);
    std::vector<std::int64_t> held;
    for (const Request& request : fixture.queue.requests())
      if (request.number != 0 && request.state == RequestState::held) {
        held.push_back(request.number);
        ++got[fixture.queue.teams()[request.team].id.str()];
      }
    for (const std::int64_t request : held) fixture.release(request);
  }
  return got;
}

TEST(Order, between_teams_is_by_weight_however_much_each_asks_for) {
  Fixture fixture;
  ASSERT_TRUE(fixture.queue.set_team(TeamId("heavy"), {.weight = 3}, fixture.now));
  for (int i = 0; i < 500; ++i) fixture.ask("flood");
  for (int i = 0; i < 100; ++i) fixture.ask("heavy");
  fixture.worker();
  auto got = grants(fixture, 80);
  EXPECT_NEAR(got["heavy"], 60, 2);
  EXPECT_NEAR(got["flood"], 20, 2);
}

TEST(Order, counts_the_time_of_leases_and_not_only_their_number) {
  Fixture fixture({.half_life = 24h, .patience = 24h});
  fixture.worker();
  // "long" holds for ten minutes each time, "short" for one.
  std::map<std::string, std::chrono::minutes> used;
  for (int i = 0; i < 60; ++i) {
    fixture.ask("long");
    fixture.ask("short");
  }
  for (int i = 0; i < 66; ++i) {
    for (const Request& request : std::vector<Request>(fixture.queue.requests())) {
      if (request.number == 0 || request.state != RequestState::held) continue;
      const std::string& team = fixture.queue.teams()[request.team].id.str();
      const auto time = team == "long" ? 10min : 1min;
      used[team] += time;
      fixture.wait(time);
      fixture.release(request.number);
      break;
    }
  }
  EXPECT_NEAR(used["long"].count(), used["short"].count(), 20);
}

TEST(Order, forgets_what_was_used_long_ago) {
  Fixture fixture({.half_life = 1h});
  fixture.worker();
  const auto held = fixture.ask("old");
  fixture.wait(1h);
  fixture.release(held);
  const Team& team = fixture.queue.teams()[0];
  const double before = fixture.queue.usage_of(team, fixture.now);
  EXPECT_NEAR(before, 3600 * 0.72, 100) << "an hour, the first minutes of which have decayed";
  EXPECT_NEAR(fixture.queue.usage_of(team, fixture.now + 1h), before / 2, 1);
  fixture.now += 1000h;
  fixture.queue.expire(fixture.now);
  fixture.ask("old");
  EXPECT_NEAR(fixture.queue.usage_of(fixture.queue.teams()[0], fixture.now), 60, 0.1)
      << "also when the numbers had to be moved to another base";
  EXPECT_EQ(fixture.queue.check(), "");
}

// -------------------------------------------------------------------------------------------------
// The bound

// One worker. A team that has used very much asks once; teams that used nothing flood the queue,
// and there are always more of them.
TEST(Bound, a_team_that_used_much_waits_for_its_patience_and_one_grant_for_each_other_line) {
  Fixture fixture({.patience = 10min});
  fixture.worker();
  const auto busy = fixture.ask("much");
  fixture.wait(5h);
  constexpr int others = 5;
  for (int i = 0; i < 200; ++i)
    for (int team = 0; team < others; ++team) fixture.ask("t" + std::to_string(team));
  const auto waits = fixture.ask("much");
  fixture.release(busy);
  const Time began = fixture.now;
  int after_patience = 0;
  while (fixture.holds(waits) == 0) {
    ASSERT_LT(fixture.now, began + 1h);
    fixture.wait(30s);
    for (const Request& request : fixture.queue.requests())
      if (request.number != 0 && request.state == RequestState::held) {
        if (fixture.now > began + 10min) ++after_patience;
        fixture.release(request.number);
        break;
      }
  }
  EXPECT_GE(fixture.now, began + 10min) << "before that, who used less goes first";
  EXPECT_LE(after_patience, others + 1);
}

TEST(Bound, lines_that_are_all_overdue_take_turns) {
  Fixture fixture({.patience = 1min});
  std::map<std::int64_t, std::string> team_of;
  for (int i = 0; i < 20; ++i) {
    team_of[fixture.ask("flood")] = "flood";
    team_of[fixture.ask("flood")] = "flood";
    team_of[fixture.ask("small")] = "small";
  }
  fixture.wait(30min);
  fixture.worker();
  std::string last;
  for (int i = 0; i < 20; ++i) {
    fixture.wait(2min);
    for (const auto& [request, team] : std::map(team_of))
      if (fixture.holds(request) > 0) {
        EXPECT_NE(team, last);
        last = team;
        fixture.release(request);
        break;
      }
  }
}

// -------------------------------------------------------------------------------------------------
// Settings that change

TEST(OtherSettings, what_was_used_has_decayed_as_it_was_said_until_then) {
  Fixture fixture;
  fixture.worker();
  fixture.release(fixture.ask("a"));
  const Team& team = fixture.queue.teams().front();
  const double at_first = fixture.queue.usage_of(team, fixture.now);
  fixture.now += 1h;
  Settings slower;
  slower.half_life = 4h;
  fixture.queue.configure(slower, fixture.now);
  EXPECT_NEAR(fixture.queue.usage_of(team, fixture.now), at_first / 2, at_first / 1000);
  EXPECT_NEAR(fixture.queue.usage_of(team, fixture.now + 4h), at_first / 4, at_first / 1000);
}

TEST(OtherSettings, less_patience_brings_forward_who_waits_already) {
  Fixture fixture;
  fixture.worker();
  const auto greedy = fixture.ask("greedy");
  const auto starved = fixture.ask("greedy");
  fixture.wait(5min);
  const auto newcomer = fixture.ask("newcomer");  // has used nothing
  Settings hasty;
  hasty.patience = 1min;
  fixture.queue.configure(hasty, fixture.now);
  fixture.release(greedy);
  EXPECT_GT(fixture.holds(starved), 0);
  EXPECT_EQ(fixture.holds(newcomer), 0);
}

TEST(OtherSettings, a_smaller_queue_takes_nobody_more_and_loses_nobody) {
  Fixture fixture;
  const auto first = fixture.ask("a"), second = fixture.ask("a");
  Settings small;
  small.most_waiting = 1;
  fixture.queue.configure(small, fixture.now);
  const auto refused = fixture.ask(NewRequest{.team = TeamId("b")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "queueFull");
  EXPECT_EQ(fixture.holds(first), 0);
  EXPECT_EQ(fixture.holds(second), 0);
}

// -------------------------------------------------------------------------------------------------
// Big requests

TEST(Reservation, a_big_request_is_not_starved_by_small_ones) {
  Fixture fixture;
  const auto worker = fixture.worker(4);
  std::vector<std::int64_t> small;
  for (int i = 0; i < 4; ++i) small.push_back(fixture.ask("small"));
  const auto big = fixture.ask("big", 4);
  for (int i = 0; i < 4; ++i) {
    for (int more = 0; more < 3; ++more) fixture.ask("small");
    ASSERT_EQ(fixture.holds(big), 0);
    fixture.wait(1min);
    fixture.release(small[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(fixture.holds(big), worker) << "each release was kept for it";
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Reservation, is_made_for_who_waits_too_long_before_others_take_what_is_free) {
  Fixture fixture;
  const auto worker = fixture.worker(4);
  const auto lease = fixture.ask("holder");
  const auto big = fixture.ask("big", 4);
  fixture.wait(11min);  // nothing gets free, so that nobody has looked whose turn it is
  EXPECT_EQ(fixture.holds(fixture.ask("small")), 0) << "it is the big one's turn";
  EXPECT_EQ(fixture.queue.check(), "");
  fixture.release(lease);
  EXPECT_EQ(fixture.holds(big), worker);
}

TEST(Reservation, of_one_worker_leaves_the_others_to_all) {
  Fixture fixture;
  for (int i = 0; i < 2; ++i) fixture.worker(4);
  for (int i = 0; i < 2; ++i) fixture.ask("holder");
  fixture.ask("big", 4);
  fixture.wait(11min);
  int placed = 0;
  for (int i = 0; i < 4; ++i) placed += fixture.holds(fixture.ask("small")) > 0 ? 1 : 0;
  EXPECT_EQ(placed, 3) << "what is left of the other";
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Reservation, moves_to_where_less_is_missing) {
  Fixture fixture;
  const auto slow = fixture.worker(4), quick = fixture.worker(4);
  std::map<std::int64_t, std::vector<std::int64_t>> on;
  for (int i = 0; i < 8; ++i) {
    const auto request = fixture.ask("small");
    on[fixture.holds(request)].push_back(request);
  }
  const auto big = fixture.ask("big", 4);
  fixture.release(on[slow][0]);  // it is reserved now
  for (int i = 0; i < 4; ++i) fixture.release(on[quick][static_cast<std::size_t>(i)]);
  EXPECT_EQ(fixture.holds(big), quick) << "the other's leases may last for ever";
  EXPECT_EQ(fixture.holds(fixture.ask("small")), slow) << "which serves others again";
}

TEST(Reservation, ends_with_the_request) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  const auto one = fixture.ask("small"), two = fixture.ask("small");
  const auto big = fixture.ask("big", 2);
  fixture.release(one);
  const auto waits = fixture.ask("small");
  EXPECT_EQ(fixture.holds(waits), 0);
  fixture.release(big);
  EXPECT_EQ(fixture.holds(waits), worker);
  EXPECT_EQ(fixture.holds(two), worker);
}

TEST(Reservation, closes_one_worker_for_each_line_only) {
  Fixture fixture;
  std::vector<std::int64_t> small;
  for (int i = 0; i < 3; ++i) fixture.worker(2);
  for (int i = 0; i < 6; ++i) small.push_back(fixture.ask("small"));
  fixture.ask("big", 2);
  fixture.ask("big", 2);
  std::set<std::int64_t> workers;
  for (const std::int64_t request : small)
    if (workers.insert(fixture.holds(request)).second) fixture.release(request);
  ASSERT_EQ(workers.size(), 3U);
  int placed = 0;
  for (int i = 0; i < 3; ++i) placed += fixture.holds(fixture.ask("small")) > 0 ? 1 : 0;
  EXPECT_EQ(placed, 2) << "only one of three is kept for the big ones";
}

TEST(Reservation, is_not_made_on_a_worker_that_could_never_hold_it) {
  Fixture fixture;
  fixture.worker(2);
  const auto one = fixture.ask("small"), two = fixture.ask("small");
  fixture.ask("big", 3);
  fixture.release(one);
  EXPECT_GT(fixture.holds(fixture.ask("small")), 0);
  EXPECT_GT(fixture.holds(two), 0);
}

// -------------------------------------------------------------------------------------------------
// Limits of teams

TEST(TeamLimits, keep_a_team_from_holding_more_and_others_go_on) {
  Fixture fixture;
  ASSERT_TRUE(fixture.queue.set_team(TeamId("a"), {.max_held = 2}, fixture.now));
  fixture.worker(10);
  const auto first = fixture.ask("a"), second = fixture.ask("a"), third = fixture.ask("a");
  EXPECT_GT(fixture.holds(second), 0);
  EXPECT_EQ(fixture.holds(third), 0);
  EXPECT_GT(fixture.holds(fixture.ask("b")), 0);
  fixture.release(first);
  EXPECT_GT(fixture.holds(third), 0);
  const auto too_much = fixture.ask(NewRequest{.team = TeamId("a"), .needs = {3, {}}});
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().code, "teamLimit");
}

TEST(TeamLimits, keep_a_team_from_asking_for_more) {
  Fixture fixture;
  ASSERT_TRUE(fixture.queue.set_team(TeamId("a"), {.max_pending = 2}, fixture.now));
  fixture.ask("a");
  const auto second = fixture.ask("a");
  EXPECT_FALSE(fixture.ask(NewRequest{.team = TeamId("a")}));
  fixture.release(second);
  EXPECT_TRUE(fixture.ask(NewRequest{.team = TeamId("a")}));
}

TEST(TeamLimits, of_files_are_changed_in_the_file) {
  Fixture fixture;
  fixture.queue.configure_teams({{TeamId("a"), {.max_held = 1}}}, "muster.toml", fixture.now);
  const auto refused = fixture.queue.set_team(TeamId("a"), {}, fixture.now);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("muster.toml"), std::string::npos);
  fixture.worker(2);
  fixture.ask("a");
  const auto second = fixture.ask("a");
  EXPECT_EQ(fixture.holds(second), 0);
  fixture.queue.configure_teams({}, "muster.toml", fixture.now);
  EXPECT_GT(fixture.holds(second), 0) << "nothing limits it now";
}

TEST(TeamNumbers, that_make_no_sense_are_refused) {
  Fixture fixture;
  for (const double weight : {0.0, -1.0, 1e300, std::nan(""), 1e-300})
    EXPECT_FALSE(fixture.queue.set_team(TeamId("a"), {.weight = weight}, fixture.now)) << weight;
  EXPECT_FALSE(fixture.queue.set_team(TeamId("a"), {.max_held = -1}, fixture.now));
  EXPECT_FALSE(fixture.queue.set_team(TeamId(""), {}, fixture.now));
  EXPECT_FALSE(fixture.queue.set_team(TeamId("a\nb"), {}, fixture.now));
}

}  // namespace
}  // namespace muster::queue::testing
