// Restores the state from the store, and writes it as rows.
#include <algorithm>
#include <cmath>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::queue {
namespace {

using namespace std::chrono_literals;

// What a team used changes with every lease; after a crash the last minute of it is forgotten.
constexpr auto teams_written_every = 1min;

template <class Texts>
json::array array_of(const Texts& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(text);
  return array;
}

std::vector<std::string> texts_of(const json::array& array) {
  std::vector<std::string> texts;
  for (const json::value& value : array)
    if (value.is_string()) texts.emplace_back(value.get_string());
  return texts;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Writing

RequestRow Queue::row_of(const Request& request) const {
  const Line& line = lines_[request.line];
  RequestRow row;
  row.number = request.number;
  row.team = teams_[request.team].id;
  if (line.pool != no_index) row.worker_pool_id = pools_[line.pool].id;
  row.tags = array_of(line.tags);
  for (const auto& [name, amount] : request.needs.named()) row.resources[name] = amount;
  for (const Strategy strategy : request.strategies) row.strategies.emplace_back(name_of(strategy));
  row.priority = request.priority;
  row.cache_key = request.cache_key;
  row.token = request.token;
  row.client = request.client;
  row.heartbeat = request.heartbeat.count();
  row.duration = request.duration.count();
  row.created = request.created;
  row.deadline = store::known_time(request.deadline);
  row.state = request.state;
  row.worker = request.worker == no_index ? 0 : workers_[request.worker].number;
  row.confirmed = request.confirmed;
  row.granted = store::known_time(request.granted);
  row.until = store::known_time(request.until);
  row.ended = store::known_time(request.ended);
  row.reason = request.reason;
  return row;
}

TeamRow Queue::row_of(const Team& team) const {
  return {.team = team.id,
          .weight = team.weight,
          .max_held = team.max_held,
          .max_pending = team.max_pending,
          .configured = team.configured && team.origin.empty(),
          .usage = usage_of(team, now_),
          .used_at = now_};
}

TeamPoolRow Queue::row_of(const TeamPool& pool) const {
  TeamPoolRow row{.worker_pool_id = pool.id,
                  .teams = {},
                  .created = pool.created,
                  .dedicated = pool.dedicated_by_operator()};
  if (row.dedicated)
    for (const Index team : pool.teams) row.teams.emplace_back(teams_[team].id.str());
  if (pool.has_keys_of_operator()) row.public_keys = array_of(pool.public_keys);
  return row;
}

store::Batch Queue::take_changes(Time now) {
  for (const Index at : dirty_requests_) {
    Request& request = requests_[at];
    if (std::exchange(request.dirty, false)) changes_.emplace_back(store::put(row_of(request)));
  }
  dirty_requests_.clear();
  if (now >= teams_written_ + teams_written_every || now < teams_written_) {
    for (const Index at : dirty_teams_) {
      teams_[at].dirty = false;
      changes_.emplace_back(store::put(row_of(teams_[at])));
    }
    if (!dirty_teams_.empty()) teams_written_ = now;
    dirty_teams_.clear();
  }
  return std::exchange(changes_, {});
}

std::vector<std::int64_t> Queue::take_settled() {
  return std::exchange(settled_, {});
}

std::vector<std::int64_t> Queue::take_load_changes() {
  std::ranges::sort(load_changes_);
  const auto [repeated, end] = std::ranges::unique(load_changes_);
  load_changes_.erase(repeated, end);
  return std::exchange(load_changes_, {});
}

store::Batch Queue::everything() const {
  store::Batch rows;
  for (const Team& team : teams_)
    if (team.configured || team.usage > 0) rows.emplace_back(store::put(row_of(team)));
  for (const TeamPool& pool : pools_)
    if (pool.dedicated_by_operator() || pool.has_keys_of_operator())
      rows.emplace_back(store::put(row_of(pool)));
  for (const Request& request : requests_)
    if (request.number != 0) rows.emplace_back(store::put(row_of(request)));
  return rows;
}

// -------------------------------------------------------------------------------------------------
// Reading

Result<void> Queue::load(const store::Store& store, Time now, const IsSetAside& is_set_aside) {
  now_ = usage_base_ = teams_written_ = now;
  loading_ = true;
  auto read = store::read_rows<TeamRow>(store, [&](const TeamRow& row) {
    Team& team = teams_[index_of_team(row.team)];
    if (row.configured) {
      team.configured = true;
      team.weight = row.weight;
      team.max_held = row.max_held;
      team.max_pending = row.max_pending;
    }
    // What was used while the clock was ahead counts as if it were used now.
    const auto age = std::max<std::chrono::milliseconds>(0ms, now - row.used_at);
    team.usage = row.usage * std::exp2(-static_cast<double>(age.count()) /
                                       static_cast<double>(settings_.half_life.count()));
  });
  if (!read) return read;
  read = store::read_rows<TeamPoolRow>(store, [&](const TeamPoolRow& row) {
    const Index pool = index_of_pool(row.worker_pool_id);
    pools_[pool].dedicated = row.dedicated;
    pools_[pool].created = row.created;
    pools_[pool].public_keys = texts_of(row.public_keys);
    for (const std::string& team : texts_of(row.teams)) attach(pool, index_of_team(TeamId(team)));
  });
  if (!read) return read;
  return store::read_rows<RequestRow>(store, [&](const RequestRow& row) -> Result<void> {
    if (row.state == RequestState::held && is_set_aside && is_set_aside(row.worker))
      return Error::invalid("the row of its worker " + std::to_string(row.worker) +
                            " is set aside");
    return load_request(row);
  });
}

// Its client had no chance to be heard while the host was down.
Result<void> Queue::load_request(const RequestRow& row) {
  std::map<std::string, std::int64_t> named;
  for (const auto& [name, amount] : row.resources)
    if (amount.is_int64()) named[name] = amount.get_int64();
  auto needs = Resources::from(named);
  if (!needs)
    return Error::internal("request " + std::to_string(row.number) +
                           " in the store cannot be read: " + needs.error().message);
  Request request;
  request.number = row.number;
  request.state = row.state;
  request.confirmed = row.confirmed;
  request.priority = static_cast<std::int32_t>(row.priority);
  request.team = index_of_team(row.team);
  request.line = index_of_line(
      request.team, row.worker_pool_id.empty() ? no_index : index_of_pool(row.worker_pool_id),
      texts_of(row.tags));
  for (const std::string& name : texts_of(row.strategies))
    if (const auto strategy = strategy_from(name)) request.strategies.push_back(*strategy);
  request.needs = std::move(*needs);
  request.created = row.created;
  request.deadline = row.deadline.value_or(Time{});
  request.granted = row.granted.value_or(Time{});
  request.until = row.until.value_or(Time{});
  request.ended = row.ended.value_or(Time{});
  request.heard = request.charged = now_;
  request.heartbeat = std::chrono::milliseconds(row.heartbeat);
  request.duration = std::chrono::milliseconds(row.duration);
  request.token = row.token;
  request.cache_key = row.cache_key;
  request.client = row.client;
  request.reason = row.reason;
  const Index at = add_request(std::move(request));
  const Request& added = requests_[at];
  if (added.state == RequestState::ended) ended_.emplace_back(added.ended, added.number);
  if (added.state == RequestState::waiting) enqueue(at);
  if (added.state != RequestState::held) return {};
  // A line that waited before the host stopped keeps its waiting time: since then, or since this
  // grant.
  lines_[added.line].since = std::max(lines_[added.line].since, std::min(added.granted, now_));
  teams_[added.team].held += added.needs.active_task;
  ++teams_[added.team].leases;
  loaded_leases_.emplace(row.worker, at);
  return {};
}

void Queue::settle_after_load(Time now) {
  now_ = now;
  std::ranges::sort(ended_);
  for (const auto& [worker, request] : std::exchange(loaded_leases_, {})) {
    free_worker(request);
    end(request, "its worker is gone: it ended while the host was down");
  }
  loading_ = false;
  relink_all();
  serve();
}

}  // namespace muster::queue
