#include "host/queue/queue.hpp"

#include <algorithm>
#include <ranges>

#include <muster/plural.hpp>

#include "host/queue/lines.hpp"
#include "host/queue/pool_keys.hpp"
#include "host/store/row.hpp"

namespace muster::queue {

Queue::Queue(Settings settings, std::uint64_t seed) : settings_(std::move(settings)), seed_(seed) {}
Queue::~Queue() = default;

std::size_t Queue::groups() const {
  return groups_.size();
}

// -------------------------------------------------------------------------------------------------
// Names

Index Queue::index_of_team(const TeamId& id) {
  const auto [at, added] = team_index_.try_emplace(id, static_cast<Index>(teams_.size()));
  if (added) teams_.emplace_back().id = id;
  return at->second;
}

Index Queue::index_of_pool(const WorkerPoolId& id) {
  const auto [at, added] = pool_index_.try_emplace(id, static_cast<Index>(pools_.size()));
  if (added) pools_.emplace_back().id = id;
  return at->second;
}

const TeamPool* Queue::find_pool(const WorkerPoolId& id) const {
  const auto found = pool_index_.find(id);
  return found == pool_index_.end() ? nullptr : &pools_[found->second];
}

// Links a new group to the lines that can use it.
Index Queue::index_of_group(ScopeKind scope, Index owner, const std::vector<std::string>& tags) {
  std::vector<Index>& siblings = groups_of_[{scope, owner}];
  for (const Index sibling : siblings)
    if (groups_[sibling].tags == tags) return sibling;
  auto added = static_cast<Index>(groups_.size());
  if (free_groups_.empty()) {
    groups_.emplace_back();
  } else {
    added = free_groups_.back();
    free_groups_.pop_back();
  }
  Group& group = groups_[added];
  group.scope = scope;
  group.owner = owner;
  group.tags = tags;
  siblings.push_back(added);
  if (!loading_) relink_all();
  return added;
}

// Workers choose their tags, so groups without workers must not be kept for ever. Done rarely,
// because it relinks all lines.
void Queue::forget_empty_groups() {
  if (groups_.size() - free_groups_.size() < groups_before_sweep_) return;
  for (auto& [owner, siblings] : groups_of_)
    std::erase_if(siblings, [&](Index at) {
      if (!groups_[at].workers.empty()) return false;
      free_groups_.push_back(at);
      return true;
    });
  std::erase_if(groups_of_, [](const auto& entry) { return entry.second.empty(); });
  relink_all();
  for (const Index at : free_groups_) groups_[at] = Group{};
  groups_before_sweep_ = std::max(groups_kept, 2 * (groups_.size() - free_groups_.size()));
}

const Request* Queue::find(std::int64_t request) const {
  const auto found = request_index_.find(request);
  return found == request_index_.end() ? nullptr : &requests_[found->second];
}

const Worker* Queue::find_worker(std::int64_t number) const {
  const auto found = worker_index_.find(number);
  return found == worker_index_.end() ? nullptr : &workers_[found->second];
}

// -------------------------------------------------------------------------------------------------
// Candidates

bool tags_match(const std::vector<std::string>& worker, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return worker.empty();
  return std::ranges::includes(worker, wanted);
}

// A team with pools uses their workers, and the shared ones when those have no room. A team without
// pools but with workers of its own uses those alone. Any other uses the shared ones.
void Queue::relink(Index at) {
  Line& line = lines_[at];
  unindex(at);
  line.reach.clear();
  const Team& team = teams_[line.team];
  const auto add = [&](ScopeKind scope, Index owner, bool fallback) {
    const auto found = groups_of_.find({scope, owner});
    if (found == groups_of_.end()) return;
    for (const Index group : found->second)
      if (tags_match(groups_[group].tags, line.tags)) line.reach.push_back({group, fallback});
  };
  const auto add_shared = [&](bool fallback) {
    if (line.pool == no_index)
      add(ScopeKind::shared, no_index, fallback);
    else if (!pools_[line.pool].dedicated)
      add(ScopeKind::pool, line.pool, fallback);
  };
  if (!team.pools.empty()) {
    for (const Index pool : team.pools)
      if (line.pool == no_index || line.pool == pool) add(ScopeKind::pool, pool, false);
    add_shared(true);
  } else if (team.own_workers > 0) {
    add(ScopeKind::team, line.team, false);
  } else {
    add_shared(false);
  }
  sort_out(at);
  demand_changed_ = true;
  index(at);
  // What was reserved may be out of reach now.
  unreserve(at);
  place_again(at);
}

// Of the workers that are there now; see Line::too_large.
bool Queue::anyone_is_large_enough(const Line& line, const Resources& needs) const {
  return std::ranges::any_of(line.reach, [&](const Line::Reach& reach) {
    return std::ranges::any_of(groups_[reach.group].shapes, [&](const auto& shape) {
      return (line.pool == no_index || line.pool == shape.first.pool) &&
             shape.first.has.has_room({0, {}}, needs);
    });
  });
}

// Who waits for a turn, and who for a larger worker. Not while the line stands in the orders.
void Queue::sort_out(Index at) {
  Line& line = lines_[at];
  std::map<Resources, bool> large_enough;
  for (const auto& [needs, capacity] : line.wanted)
    large_enough[needs] = anyone_is_large_enough(line, needs);
  const auto leave = [&](Line::Places& places, bool those) {
    std::vector<Line::Place> left;
    for (auto place = places.begin(); place != places.end();) {
      if (large_enough.at(requests_[place->request].needs) == those) {
        left.push_back(*place);
        place = places.erase(place);
      } else {
        ++place;
      }
    }
    return left;
  };
  const auto grown = leave(line.too_large, true), outgrown = leave(line.waiting, false);
  line.waiting.insert(grown.begin(), grown.end());
  line.too_large.insert(outgrown.begin(), outgrown.end());
}

// Lines whose workers are of other sizes than before.
void Queue::sort_out_changed() {
  std::set<Index> changed;
  for (const Index at : std::exchange(reshaped_, {})) {
    Group& group = groups_[at];
    const auto shapes = group.shapes | std::views::keys;
    if (std::ranges::equal(shapes, group.sorted_by)) continue;
    group.sorted_by.assign(shapes.begin(), shapes.end());
    changed.insert(at);
  }
  if (changed.empty()) return;
  for (Index at = 0; at < lines_.size(); ++at) {
    if (std::ranges::none_of(lines_[at].reach, [&](const Line::Reach& reach) {
          return changed.contains(reach.group);
        }))
      continue;
    unindex(at);
    sort_out(at);
    index(at);
    place_again(at);
  }
}

void Queue::relink_team(Index team) {
  for (const Index line : teams_[team].lines) relink(line);
}

void Queue::relink_all() {
  for (Index line = 0; line < lines_.size(); ++line)
    if (lines_[line].team != no_index) relink(line);
}

// -------------------------------------------------------------------------------------------------
// Teams

namespace {

Result<void> check_numbers(const TeamNumbers& numbers) {
  if (!(numbers.weight >= 0.001 && numbers.weight <= 1'000'000))
    return Error::invalid("the weight of a team must be from 0.001 to 1000000");
  if (numbers.max_held < 0 || numbers.max_pending < 0)
    return Error::invalid("a limit of a team is a positive number, or 0 for none");
  return {};
}

}  // namespace

Result<void> Queue::set_team(const TeamId& id, const TeamNumbers& numbers, Time now) {
  now_ = now;
  if (const auto fine = check_name("the name of a team", id.str()); !fine) return fine;
  if (const auto fine = check_numbers(numbers); !fine) return fine;
  if (const auto room = check_new_team(id); !room) return room;
  const Index at = index_of_team(id);
  Team& team = teams_[at];
  if (!team.origin.empty())
    return Error::invalid("team " + id.str() + " is configured in " + team.origin +
                          ": change it there");
  team.weight = numbers.weight;
  team.max_held = numbers.max_held;
  team.max_pending = numbers.max_pending;
  team.configured = true;
  changes_.emplace_back(store::put(row_of(team)));
  relink_team(at);
  serve();
  return {};
}

void Queue::configure_teams(const std::map<TeamId, TeamNumbers>& teams, const std::string& origin,
                            Time now) {
  now_ = now;
  for (Index at = 0; at < teams_.size(); ++at) {
    Team& team = teams_[at];
    if (team.origin.empty() || teams.contains(team.id)) continue;
    team.origin.clear();
    team.configured = false;
    team.weight = 1;
    team.max_held = team.max_pending = 0;
    relink_team(at);
  }
  for (const auto& [id, numbers] : teams) {
    if (!check_name("the name of a team", id.str()) || !check_numbers(numbers)) continue;
    const Index at = index_of_team(id);
    Team& team = teams_[at];
    team.origin = origin;
    team.configured = true;
    team.weight = numbers.weight;
    team.max_held = numbers.max_held;
    team.max_pending = numbers.max_pending;
    relink_team(at);
  }
  serve();
}

void Queue::touch_team(Index at) {
  if (teams_[at].dirty) return;
  teams_[at].dirty = true;
  dirty_teams_.push_back(at);
}

// -------------------------------------------------------------------------------------------------
// Pools

Result<Index> Queue::pool_to_change(const WorkerPoolId& id) {
  const auto found = pool_index_.find(id);
  if (found == pool_index_.end() || !pools_[found->second].dedicated)
    return Error::not_found("there is no dedicated worker pool " + id.str() +
                            "; make it with: muster set-worker-pool --name " + id.str());
  const TeamPool& pool = pools_[found->second];
  if (!pool.origin.empty())
    return Error::invalid("the teams of worker pool " + id.str() + " are configured in " +
                          pool.origin + ": change them there");
  return found->second;
}

Result<void> Queue::set_pool(const WorkerPoolId& id,
                             const std::optional<std::vector<std::string>>& public_keys, Time now) {
  now_ = now;
  if (const auto fine = check_name("the name of a pool", id.str()); !fine) return fine;
  if (public_keys)
    if (const auto read = read_pool_keys("publicKeys", *public_keys); !read) return read.error();
  const Index at = index_of_pool(id);
  TeamPool& pool = pools_[at];
  if (!public_keys && !pool.origin.empty()) return pool_to_change(id).error();
  if (public_keys && !pool.keys_origin.empty())
    return Error::invalid("the keys of worker pool " + id.str() + " are configured in " +
                          pool.keys_origin + ": change them there");
  if (pool.created == Time{}) pool.created = now;
  if (public_keys) pool.public_keys = *public_keys;
  if (!pool.dedicated) set_dedicated(at, true);
  write_pool(pool);
  serve();
  return {};
}

Result<void> Queue::destroy_pool(const WorkerPoolId& id, Time now) {
  now_ = now;
  const auto at = pool_to_change(id);
  if (!at) return at.error();
  TeamPool& pool = pools_[*at];
  if (!pool.teams.empty())
    return Error::invalid("worker pool " + id.str() + " still serves " +
                          count_of(pool.teams.size(), "team") +
                          "; detach them first: muster detach-worker-pool");
  if (pool.workers > 0)
    return Error::invalid("worker pool " + id.str() + " still has " +
                          count_of(pool.workers, "worker"));
  if (pool.keys_origin.empty()) pool.public_keys.clear();
  pool.created = Time{};
  set_dedicated(*at, false);
  write_pool(pool);
  serve();
  return {};
}

void Queue::set_dedicated(Index at, bool dedicated) {
  pools_[at].dedicated = dedicated;
  for (Index worker = 0; worker < workers_.size(); ++worker)
    if (workers_[worker].number != 0 && workers_[worker].pool == at) regroup(worker);
  relink_all();
}

void Queue::attach(Index pool, Index team) {
  pools_[pool].teams.insert(team);
  teams_[team].pools.insert(pool);
  relink_team(team);
}

void Queue::detach(Index pool, Index team) {
  pools_[pool].teams.erase(team);
  teams_[team].pools.erase(pool);
  relink_team(team);
}

// All or none of the teams.
Result<void> Queue::attach(const WorkerPoolId& id, const std::vector<TeamId>& teams, bool exclusive,
                           Time now) {
  now_ = now;
  const auto pool = pool_to_change(id);
  if (!pool) return pool.error();
  for (const TeamId& team : teams) {
    if (const auto fine = check_name("the name of a team", team.str()); !fine) return fine;
    if (const auto room = check_new_team(team); !room) return room;
    const auto known = team_index_.find(team);
    if (!exclusive || known == team_index_.end()) continue;
    for (const Index other : teams_[known->second].pools)
      if (other != *pool)
        return Error::invalid("team " + team.str() + " is attached to worker pool " +
                              pools_[other].id.str() + " already");
  }
  for (const TeamId& team : teams) attach(*pool, index_of_team(team));
  write_pool(pools_[*pool]);
  serve();
  return {};
}

Result<void> Queue::detach(const WorkerPoolId& id, const std::vector<TeamId>& teams, Time now) {
  now_ = now;
  const auto pool = pool_to_change(id);
  if (!pool) return pool.error();
  for (const TeamId& team : teams) {
    const auto known = team_index_.find(team);
    if (known == team_index_.end() || !pools_[*pool].teams.contains(known->second))
      return Error::not_found("team " + team.str() + " is not attached to worker pool " + id.str());
  }
  for (const TeamId& team : teams) detach(*pool, index_of_team(team));
  write_pool(pools_[*pool]);
  serve();
  return {};
}

void Queue::configure_pools(const std::map<WorkerPoolId, FilePool>& files, Time now) {
  now_ = now;
  for (const auto& [id, file] : files) index_of_pool(id);
  const FilePool nothing;
  for (Index at = 0; at < pools_.size(); ++at) {
    const auto file = files.find(pools_[at].id);
    take_teams(at, file == files.end() ? nothing : file->second);
    take_keys(at, file == files.end() ? nothing : file->second);
  }
  demand_changed_ = true;  // what pools can launch may be something else now
  serve();
}

// What an operator said before gives way to the file.
void Queue::take_teams(Index at, const FilePool& file) {
  TeamPool& pool = pools_[at];
  if (file.teams.empty() && pool.origin.empty()) return;
  const bool was_operators = pool.dedicated_by_operator();
  pool.origin = file.teams.empty() ? "" : file.origin;
  std::set<Index> wanted;
  for (const TeamId& team : file.teams)
    if (check_name("the name of a team", team.str())) wanted.insert(index_of_team(team));
  for (const Index team : std::set<Index>(pool.teams))
    if (!wanted.contains(team)) detach(at, team);
  for (const Index team : wanted)
    if (!pool.teams.contains(team)) attach(at, team);
  if (pool.dedicated == file.teams.empty()) set_dedicated(at, !file.teams.empty());
  if (was_operators) write_pool(pool);
}

// Keys of an operator stay where the file says none: no worker gets in because of what it does not
// say.
void Queue::take_keys(Index at, const FilePool& file) {
  TeamPool& pool = pools_[at];
  if (file.public_keys.empty() && pool.keys_origin.empty()) return;
  const bool was_operators = pool.has_keys_of_operator();
  pool.keys_origin = file.public_keys.empty() ? "" : file.origin;
  pool.public_keys = file.public_keys;
  if (was_operators) write_pool(pool);
}

void Queue::write_pool(const TeamPool& pool) {
  if (pool.dedicated_by_operator() || pool.has_keys_of_operator())
    changes_.emplace_back(store::put(row_of(pool)));
  else
    changes_.emplace_back(store::erase<TeamPoolRow>({pool.id.str()}));
}

}  // namespace muster::queue
