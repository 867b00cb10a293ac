// What others see of the queue, and a recount of all its sums.
#include <algorithm>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::queue {

// The pools whose workers it may use; see relink().
WaitingCapacity Queue::candidates_of(const Line& line) const {
  const Team& team = teams_[line.team];
  WaitingCapacity waiting;
  waiting.tags = line.tags;
  for (const Index pool : team.pools)
    if (line.pool == no_index || line.pool == pool) waiting.pools.push_back(pools_[pool].id);
  const bool uses_shared = !team.pools.empty() || team.own_workers == 0;
  waiting.shared = uses_shared && line.pool == no_index;
  if (uses_shared && line.pool != no_index && !pools_[line.pool].dedicated)
    waiting.pools.push_back(pools_[line.pool].id);
  return waiting;
}

WaitingCapacity Queue::candidates_of(const Request& request) const {
  return candidates_of(lines_[request.line]);
}

// What a team may not hold is not to be launched for it.
std::vector<WaitingCapacity> Queue::demand() const {
  std::vector<WaitingCapacity> all;
  std::vector<std::int64_t> allowed_of(teams_.size(), largest_amount);
  for (Index at = 0; at < teams_.size(); ++at)
    if (teams_[at].max_held > 0) allowed_of[at] = teams_[at].max_held - teams_[at].held;
  for (Index at = 0; at < lines_.size(); ++at) {
    const Line& line = lines_[at];
    if (line.team == no_index || line.wanted.empty()) continue;
    std::int64_t& allowed = allowed_of[line.team];
    WaitingCapacity candidates = candidates_of(line);
    candidates.line = at;
    for (const auto& [needs, capacity] : line.wanted) {
      if (allowed < needs.active_task) continue;
      WaitingCapacity& waiting = all.emplace_back(candidates);
      waiting.needs = needs;
      waiting.capacity = std::min(capacity, allowed - allowed % needs.active_task);
      if (teams_[line.team].max_held > 0) allowed -= waiting.capacity;
    }
  }
  return all;
}

// -------------------------------------------------------------------------------------------------
// What a verdict rests on

namespace {

// Beyond that the lines of a group, and its workers, are taken for like those that were looked at.
constexpr std::size_t lines_looked_at = 64;
constexpr std::size_t workers_looked_at = 16;
constexpr std::size_t leases_looked_at = 2;  // of one worker

// How much of what is missing for `needs` comes back with the lease: of what it takes the most of.
double part_of(const Resources& lease, const Resources& needs) {
  double most = static_cast<double>(lease.active_task) / static_cast<double>(needs.active_task);
  for (const auto& [name, need] : needs.others)
    most = std::max(most, static_cast<double>(lease.amount_of(name)) / static_cast<double>(need));
  return most;
}

}  // namespace

std::int64_t Queue::worker_of(const Request& request) const {
  const Index worker =
      request.state == RequestState::held ? request.worker : lines_[request.line].reserved;
  return worker == no_index ? 0 : workers_[worker].number;
}

verdict::RequestSituation Queue::situation_of(const Request& request) const {
  const Line& line = lines_[request.line];
  const Team& team = teams_[request.team];
  verdict::RequestSituation situation;
  situation.held = request.state == RequestState::held;
  situation.team = team.id.str();
  if (const std::int64_t worker = worker_of(request))
    situation.worker = "worker " + std::to_string(worker);
  if (situation.held) return situation;
  situation.large_enough = anyone_is_large_enough(line, request.needs);
  const Line::Places& places = situation.large_enough ? line.waiting : line.too_large;
  const auto own = places.find(Line::Place{-std::int64_t{request.priority}, request.number,
                                           request_index_.at(request.number)});
  situation.position = static_cast<std::int64_t>(places.rank(own)) + 1;
  situation.needs = in_words(request.needs);
  situation.head_needs = requests_[places.begin()->request].needs.active_task;
  situation.team_held = team.held;
  situation.team_limit = team.max_held;
  for (const Line::Reach& reach : line.reach) {
    const Group& group = groups_[reach.group];
    situation.lines = std::max(situation.lines, static_cast<std::int64_t>(group.by_share.size()));
    situation.candidates += static_cast<std::int64_t>(group.workers.size());
  }
  situation.room = situation.large_enough ? grants_until(line, situation.position)
                                          : static_cast<double>(situation.position);
  if (situation.position == 1 && line.reserved != no_index && situation.large_enough)
    situation.room =
        workers_[line.reserved].has.missing(workers_[line.reserved].used, request.needs);
  return situation;
}

// So many grants, its own included, if lines take turns from now on: all lines before its own have
// one for each place in it, those behind it one fewer.
double Queue::grants_until(const Line& own, std::int64_t position) const {
  double fewest = 0;
  for (const Line::Reach& reach : own.reach) {
    const Turns& turns = groups_[reach.group].by_share;
    const auto found = turns.find(own.turn);
    if (found == turns.end()) continue;
    double grants = static_cast<double>(turns.rank(found)) + 1;
    if (position > 1) {
      const std::size_t some = std::min(turns.size(), lines_looked_at);
      std::int64_t rounds = 0;
      for (std::size_t i = 0; i < some; ++i)
        rounds += std::min(position - 1,
                           static_cast<std::int64_t>(
                               lines_[turns.nth(i * turns.size() / some)->line].waiting.size()));
      grants += static_cast<double>(rounds) * static_cast<double>(turns.size()) /
                static_cast<double>(some);
    }
    fewest = fewest == 0 ? grants : std::min(fewest, grants);
  }
  return std::max(fewest, static_cast<double>(position));
}

std::vector<RoomToCome> Queue::room_to_come(const Request& request) const {
  const Line& line = lines_[request.line];
  std::vector<RoomToCome> coming;
  const auto look_at = [&](const Worker& worker, double times) {
    if (!worker.takes_work || !worker.is_large_enough_for(request.needs) ||
        (line.pool != no_index && line.pool != worker.pool))
      return;
    const std::size_t looked_at = std::min(worker.leases.size(), leases_looked_at);
    for (std::size_t i = 0; i < looked_at; ++i) {
      const Request& lease = requests_[worker.leases[i]];
      coming.push_back(
          {worker.number, lease.granted, part_of(lease.needs, request.needs),
           times * static_cast<double>(worker.leases.size()) / static_cast<double>(looked_at)});
    }
  };
  const Line::Places& places = line.waiting;
  if (line.reserved != no_index && !places.empty() &&
      requests_[places.begin()->request].number == request.number) {
    look_at(workers_[line.reserved], 1);
    return coming;
  }
  for (const Line::Reach& reach : line.reach) {
    const std::set<Index>& workers = groups_[reach.group].workers;
    if (workers.size() <= workers_looked_at) {
      for (const Index worker : workers) look_at(workers_[worker], 1);
      continue;
    }
    // Some of them, from all over.
    const std::size_t step = workers_.size() / workers_looked_at;
    const double times =
        static_cast<double>(workers.size()) / static_cast<double>(workers_looked_at);
    for (std::size_t i = 0; i < workers_looked_at; ++i)
      if (const auto some = workers.lower_bound(static_cast<Index>(i * step));
          some != workers.end())
        look_at(workers_[*some], times);
  }
  return coming;
}

// -------------------------------------------------------------------------------------------------
// Recounting

std::string Queue::check() const {
  std::vector<Resources> used(workers_.size(), Resources{0, {}});
  std::vector<std::int64_t> held(teams_.size()), leases(teams_.size()), pending(teams_.size());
  std::vector<std::map<Resources, std::int64_t>> wanted(lines_.size());
  std::int64_t waiting = 0;
  std::map<std::string, std::int64_t> open;
  for (Index at = 0; at < requests_.size(); ++at) {
    const Request& request = requests_[at];
    if (request.number == 0) continue;
    const std::string name = "request " + std::to_string(request.number);
    if (find(request.number) != &request) return name + " is not found by its number";
    const Line& line = lines_[request.line];
    const Line::Place place{-std::int64_t{request.priority}, request.number, at};
    const auto stands = line.waiting.count(place) + line.too_large.count(place);
    if (stands != (request.state == RequestState::waiting ? 1U : 0U))
      return name + " waits and does not stand in its line, or the other way round";
    if (request.state != RequestState::ended) ++open[request.client];
    if (request.state == RequestState::waiting) {
      ++waiting;
      ++pending[request.team];
      wanted[request.line][request.needs] += request.needs.active_task;
      if (!loading_ &&
          (line.waiting.count(place) == 1) != anyone_is_large_enough(line, request.needs))
        return name + " waits for a turn or for a larger worker, wrongly";
    }
    if ((request.worker != no_index) != (request.state == RequestState::held) && !loading_)
      return name + " holds no worker, or has one that it does not hold";
    if (request.state != RequestState::held) continue;
    held[request.team] += request.needs.active_task;
    ++leases[request.team];
    if (request.worker != no_index) used[request.worker].add(request.needs, +1);
  }
  if (waiting != waiting_) return "the number of waiting requests";
  if (open != open_of_client_) return "the requests of clients";
  for (Index at = 0; at < teams_.size(); ++at)
    if (teams_[at].held != held[at] || teams_[at].leases != leases[at] ||
        teams_[at].pending != pending[at])
      return "the sums of team " + teams_[at].id.str();
  for (Index at = 0; at < workers_.size(); ++at) {
    const Worker& worker = workers_[at];
    if (worker.number == 0) continue;
    const std::string name = "worker " + std::to_string(worker.number);
    if (worker.used != used[at]) return "what is used of " + name;
    if ((worker.bucket >= 0) != worker.has_room()) return name + " is open or not, wrongly";
    if (worker.reserved_for != no_index && lines_[worker.reserved_for].reserved != at)
      return name + " is reserved for a line that does not know it";
  }
  for (Index at = 0; at < lines_.size(); ++at) {
    const Line& line = lines_[at];
    if (line.team == no_index) continue;
    if (line.wanted != wanted[at]) return "what line " + std::to_string(at) + " wants";
    if (line.indexed != (!line.waiting.empty() && within_limit(line)))
      return "line " + std::to_string(at) + " stands in the orders or not, wrongly";
    if (line.reserved != no_index && workers_[line.reserved].reserved_for != at)
      return "line " + std::to_string(at) + " has a reservation that its worker does not know";
    if (!line.indexed) continue;
    for (const Line::Reach& reach : line.reach)
      if (groups_[reach.group].by_share.count(line.turn) == 0 ||
          !groups_[reach.group].by_age.contains(line.age))
        return "line " + std::to_string(at) + " is missing in an order";
  }
  return {};
}

}  // namespace muster::queue
