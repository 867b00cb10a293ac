// Whose turn it is: the orders of the lines, and what a team is charged for.
#include <algorithm>
#include <cmath>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::queue {
namespace {

// Before the numbers get so large that a double cannot hold them.
constexpr double longest_base = 200;

double half_lives(std::chrono::milliseconds time, const Settings& settings) {
  return static_cast<double>(time.count()) / static_cast<double>(settings.half_life.count());
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// What a team used

// What was used decays for all teams alike, so that their order does not change while nothing
// happens. Instead of making all that was used smaller with the time, what is used later is made
// larger: Team::usage is what would have counted at usage_base_.
void Queue::charge(Index at, double capacity_seconds) {
  if (half_lives(now_ - usage_base_, settings_) > longest_base) rebase();
  teams_[at].usage += capacity_seconds * std::exp2(half_lives(now_ - usage_base_, settings_));
  touch_team(at);
  for (const Index line : teams_[at].lines) index(line);
}

// A clock that was set back makes nothing larger.
void Queue::rebase() {
  const double factor = std::exp2(-std::max(0.0, half_lives(now_ - usage_base_, settings_)));
  for (Index line = 0; line < lines_.size(); ++line)
    if (lines_[line].team != no_index) unindex(line);
  for (Team& team : teams_) team.usage *= factor;
  usage_base_ = now_;
  for (Index line = 0; line < lines_.size(); ++line)
    if (lines_[line].team != no_index) index(line);
}

// What was used so far has decayed as the settings were until now.
void Queue::configure(const Settings& settings, Time now) {
  now_ = now;
  rebase();
  settings_ = settings;
}

double Queue::usage_of(const Team& team, Time now) const {
  return team.usage * std::exp2(-half_lives(now - usage_base_, settings_));
}

void Queue::charge_lease(Request& request, Time until) {
  if (until <= request.charged) return;
  const std::chrono::duration<double> time = until - request.charged;
  request.charged = until;
  charge(request.team, time.count() * static_cast<double>(request.needs.active_task));
}

// -------------------------------------------------------------------------------------------------
// Orders

bool Queue::within_limit(const Line& line) const {
  const Team& team = teams_[line.team];
  if (team.max_held == 0) return true;
  const Request& head = requests_[line.waiting.begin()->request];
  return team.held + head.needs.active_task <= team.max_held;
}

// Makes the line's place in the orders of its groups what it should be.
void Queue::index(Index at) {
  Line& line = lines_[at];
  if (line.waiting.empty() || !within_limit(line)) {
    unindex(at);
    return unreserve(at);
  }
  const Line::Place& head = *line.waiting.begin();
  const Team& team = teams_[line.team];
  const Turn turn{team.usage / team.weight, head.minus_priority, head.number, at};
  const Age age{line.since, head.number, at};
  if (line.indexed && line.turn == turn && line.age == age) return;
  unindex(at);
  line.turn = turn;
  line.age = age;
  line.indexed = true;
  for (const Line::Reach& reach : line.reach) {
    groups_[reach.group].by_share.insert(turn);
    groups_[reach.group].by_age.insert(age);
  }
  // Another head may be too big for what was reserved.
  if (line.reserved != no_index &&
      !workers_[line.reserved].is_large_enough_for(requests_[head.request].needs))
    unreserve(at);
}

void Queue::unindex(Index at) {
  Line& line = lines_[at];
  if (!line.indexed) return;
  line.indexed = false;
  for (const Line::Reach& reach : line.reach) {
    groups_[reach.group].by_share.erase(line.turn);
    groups_[reach.group].by_age.erase(line.age);
  }
}

namespace {

// The entries of one or two ordered sets as one. Calls `visit` until it returns true.
template <class Set, class Visit>
bool visit_in_order(const Set* first, const Set* second, const Visit& visit) {
  auto a = first->begin();
  auto b = second ? second->begin() : first->end();
  const auto a_end = first->end(), b_end = second ? second->end() : first->end();
  while (a != a_end || b != b_end) {
    const bool from_a = b == b_end || (a != a_end && *a < *b);
    if (visit(from_a ? *a++ : *b++)) return true;
  }
  return false;
}

}  // namespace

// The line whose head gets (more of) the worker. Reserves the worker instead if the head whose turn
// it is needs more than is left of it.
Index Queue::next_for(Index at) {
  const Worker& worker = workers_[at];
  Index found = no_index;
  if (worker.reserved_for != no_index)
    return try_head(worker.reserved_for, at) == Fit::grant ? worker.reserved_for : no_index;
  const auto decides = [&](Index line) {
    const Fit fit = try_head(line, at);
    if (fit == Fit::grant) found = line;
    return fit != Fit::pass;
  };
  const Group* first = &groups_[worker.groups[0]];
  const Group* second = worker.groups.size() > 1 ? &groups_[worker.groups[1]] : nullptr;
  bool decided = false;
  visit_in_order(&first->by_age, second ? &second->by_age : nullptr, [&](const Age& age) {
    if (age.since + settings_.patience > now_) return true;  // this one and all others are not due
    return decided = decides(age.line);
  });
  if (!decided)
    visit_in_order(&first->by_share, second ? &second->by_share : nullptr,
                   [&](const Turn& turn) { return decides(turn.line); });
  return found;
}

Queue::Fit Queue::try_head(Index at, Index worker_at) {
  Line& line = lines_[at];
  Worker& worker = workers_[worker_at];
  if (line.pool != no_index && line.pool != worker.pool) return Fit::pass;
  const Resources& needs = requests_[line.waiting.begin()->request].needs;
  if (worker.has_room_for(needs)) return Fit::grant;
  if (line.reserved == worker_at) return Fit::reserved;
  if (!worker.is_large_enough_for(needs)) return Fit::pass;
  if (line.reserved != no_index) {
    const Worker& reserved = workers_[line.reserved];
    if (worker.has.missing(worker.used, needs) >= reserved.has.missing(reserved.used, needs))
      return Fit::pass;
    unreserve(at);
  }
  line.reserved = worker_at;
  worker.reserved_for = at;
  return Fit::reserved;
}

// -------------------------------------------------------------------------------------------------
// Grants

void Queue::grant(Index at, Index worker_at) {
  Request& request = requests_[at];
  Worker& worker = workers_[worker_at];
  Team& team = teams_[request.team];
  request.state = RequestState::held;
  request.worker = worker_at;
  request.granted = request.charged = now_;
  request.heard = now_;  // a client that waits for an answer gets it now
  request.until = request.duration.count() > 0 ? now_ + request.duration : Time{};
  request.confirmed = false;
  set_timer(request);
  worker.used.add(request.needs, +1);
  worker.leases.push_back(at);
  reopen(worker_at);
  touch_cache_key(worker_at, request.cache_key);
  team.held += request.needs.active_task;
  ++team.leases;
  ++team.leases_by_place[worker.place];
  if (request.promised.p50 != Time{} && can_be_judged(request))
    calibration_.happened(request.promised, now_);
  request.promised = {};
  lines_[request.line].since = now_;
  unreserve(request.line);
  dequeue(at);
  charge_lease(request, now_ + settings_.least_charge);
  if (team.max_held > 0)
    for (const Index line : team.lines) index(line);
  touch(at);
  settled_.push_back(request.number);
  load_changes_.push_back(worker.number);
}

void Queue::offer_again(Index at) {
  if (std::exchange(workers_[at].offered, true)) return;
  to_offer_.push_back(at);
}

void Queue::place_again(Index at) {
  if (!std::exchange(lines_[at].to_place, true)) to_place_.push_back(at);
}

// Workers with room are offered first, in the order of the lines; what can be placed after that is
// a head that came or changed, and takes nothing that others could have used.
void Queue::serve() {
  if (loading_) return;
  sort_out_changed();
  while (!to_offer_.empty() || !to_place_.empty()) {
    if (to_offer_.empty()) {
      const Index line = to_place_.back();
      to_place_.pop_back();
      lines_[line].to_place = false;
      place(line);
      continue;
    }
    const Index worker = to_offer_.back();
    to_offer_.pop_back();
    workers_[worker].offered = false;
    while (workers_[worker].has_room()) {
      const Index line = next_for(worker);
      if (line == no_index) break;
      grant(lines_[line].waiting.begin()->request, worker);
    }
  }
}

}  // namespace muster::queue
