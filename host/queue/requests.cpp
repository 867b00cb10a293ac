// Requests come, wait, are held, and end.
#include <algorithm>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::queue {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t lines_kept = 4096;  // beyond that a line that is empty is forgotten

std::string token_key(Index team, const std::string& token) {
  return std::to_string(team) + "\n" + token;
}

Error unknown(std::int64_t number) {
  return Error::not_found("there is no request " + std::to_string(number) +
                          "; it was released, or it ended long ago");
}

}  // namespace

// The request that the same token has made before, if it asks for the same; nothing if there is
// none.
Result<std::optional<std::int64_t>> Queue::find_again(const NewRequest& ask, Time now) {
  const auto team = team_index_.find(ask.team);
  if (ask.token.empty() || team == team_index_.end()) return std::optional<std::int64_t>();
  const auto known = by_token_.find(token_key(team->second, ask.token));
  if (known == by_token_.end()) return std::optional<std::int64_t>();
  Request& request = requests_[known->second];
  const Line& line = lines_[request.line];
  const WorkerPoolId pool = line.pool == no_index ? WorkerPoolId() : pools_[line.pool].id;
  if (pool != ask.pool || line.tags != ask.tags || request.needs != ask.needs)
    return Error::invalid("the token belongs to request " + std::to_string(request.number) +
                          ", which asks for something else; make a new token")
        .with_code("conflict");
  request.heard = now;
  return std::optional(request.number);
}

Result<std::int64_t> Queue::request(NewRequest ask, std::int64_t number, Time now) {
  now_ = now;
  if (const auto fine = check_request(ask); !fine) return fine.error();
  std::ranges::sort(ask.tags);
  const auto [repeated, end] = std::ranges::unique(ask.tags);
  ask.tags.erase(repeated, end);
  const auto again = find_again(ask, now);
  if (!again) return again.error();
  if (*again) return **again;
  if (const auto room = check_bounds(ask); !room) return room.error();
  if (const std::int64_t names = new_names_in(ask)) names_of_client_[ask.client] += names;
  const Index team = index_of_team(ask.team);
  const Index pool = ask.pool.empty() ? no_index : index_of_pool(ask.pool);
  Request request;
  request.number = number;
  request.priority = static_cast<std::int32_t>(ask.priority);
  request.team = team;
  request.line = index_of_line(team, pool, ask.tags);
  request.strategies = std::move(ask.strategies);
  request.needs = std::move(ask.needs);
  request.created = request.heard = now;
  request.deadline = ask.deadline.value_or(Time{});
  request.heartbeat = ask.heartbeat;
  request.duration = ask.duration.value_or(0ms);
  request.token = std::move(ask.token);
  request.cache_key = std::move(ask.cache_key);
  request.client = std::move(ask.client);
  const Index at = add_request(std::move(request));
  touch(at);
  enqueue(at);
  serve();
  return number;
}

Index Queue::add_request(Request request) {
  auto at = static_cast<Index>(requests_.size());
  if (free_requests_.empty()) {
    requests_.emplace_back();
  } else {
    at = free_requests_.back();
    free_requests_.pop_back();
  }
  ++lines_[request.line].requests;
  if (request.state != RequestState::ended) ++open_of_client_[request.client];
  request_index_.emplace(request.number, at);
  if (!request.token.empty()) by_token_.emplace(token_key(request.team, request.token), at);
  requests_[at] = std::move(request);
  set_timer(requests_[at]);
  return at;
}

// It waits no longer and holds nothing.
void Queue::close_for_client(const Request& request) {
  const auto open = open_of_client_.find(request.client);
  if (--open->second == 0) open_of_client_.erase(open);
}

void Queue::forget(Index at) {
  const Request& request = requests_[at];
  if (request.state != RequestState::ended) close_for_client(request);
  request_index_.erase(request.number);
  if (!request.token.empty()) by_token_.erase(token_key(request.team, request.token));
  changes_.emplace_back(store::erase<RequestRow>({request.number}));
  const Index line = request.line;
  requests_[at] = Request{};
  free_requests_.push_back(at);
  if (--lines_[line].requests == 0 && line_index_.size() > lines_kept) forget_line(line);
}

// -------------------------------------------------------------------------------------------------
// Lines

Index Queue::index_of_line(Index team, Index pool, const std::vector<std::string>& tags) {
  const auto [known, added] = line_index_.try_emplace({team, pool, tags}, no_index);
  if (!added) return known->second;
  Index at = static_cast<Index>(lines_.size());
  if (free_lines_.empty()) {
    lines_.emplace_back();
  } else {
    at = free_lines_.back();
    free_lines_.pop_back();
  }
  known->second = at;
  Line& line = lines_[at];
  line.team = team;
  line.pool = pool;
  line.tags = tags;
  teams_[team].lines.push_back(at);
  relink(at);
  return at;
}

void Queue::forget_line(Index at) {
  const Line& line = lines_[at];
  line_index_.erase({line.team, line.pool, line.tags});
  std::erase(teams_[line.team].lines, at);
  std::erase(to_place_, at);
  lines_[at] = Line{};
  free_lines_.push_back(at);
}

void Queue::enqueue(Index at) {
  const Request& request = requests_[at];
  Line& line = lines_[request.line];
  if (line.waiting.empty() && line.too_large.empty())
    line.since = loading_ ? std::max(line.since, std::min(request.created, now_)) : now_;
  const bool takes_turns = anyone_is_large_enough(line, request.needs);
  (takes_turns ? line.waiting : line.too_large)
      .insert({-std::int64_t{request.priority}, request.number, at});
  line.wanted[request.needs] += request.needs.active_task;
  ++teams_[request.team].pending;
  ++waiting_;
  demand_changed_ = true;
  index(request.line);
  if (takes_turns && line.waiting.begin()->request == at) place_again(request.line);
}

void Queue::dequeue(Index at) {
  const Request& request = requests_[at];
  Line& line = lines_[request.line];
  const bool was_head = !line.waiting.empty() && line.waiting.begin()->request == at;
  const Line::Place place{-std::int64_t{request.priority}, request.number, at};
  if (line.waiting.erase(place) == 0) line.too_large.erase(place);
  const auto wanted = line.wanted.find(request.needs);
  if ((wanted->second -= request.needs.active_task) == 0) line.wanted.erase(wanted);
  --teams_[request.team].pending;
  --waiting_;
  demand_changed_ = true;
  index(request.line);
  if (was_head) place_again(request.line);
}

// -------------------------------------------------------------------------------------------------
// The end

// Gives back what it holds; the caller decides what becomes of the request.
void Queue::free_worker(Index at) {
  Request& request = requests_[at];
  charge_lease(request, now_);
  Team& team = teams_[request.team];
  team.held -= request.needs.active_task;
  --team.leases;
  if (request.worker != no_index) {
    Worker& worker = workers_[request.worker];
    const auto place = team.leases_by_place.find(worker.place);
    if (--place->second == 0) team.leases_by_place.erase(place);
    worker.used.add(request.needs, -1);
    std::erase(worker.leases, at);
    load_changes_.push_back(worker.number);
    reopen(request.worker);
    offer_again(request.worker);
    request.worker = no_index;
  }
  if (team.max_held == 0) return;
  for (const Index line : team.lines) {
    index(line);
    place_again(line);
  }
}

// Of a lease that was not cut short by the end of its worker.
void Queue::measure(const Request& request) {
  if (request.worker == no_index || request.granted == Time{}) return;
  lease_times_.push_back({workers_[request.worker].number, now_ - request.granted});
}

void Queue::promise(std::int64_t number, const verdict::Eta& eta) {
  const auto known = request_index_.find(number);
  if (known == request_index_.end()) return;
  Request& request = requests_[known->second];
  if (request.state != RequestState::waiting || request.promised.p50 != Time{}) return;
  request.promised = eta;
  request.promised_at = now_;
}

// A prediction is about a host that runs, by one clock: what happened while it was stopped or
// frozen says nothing about it.
bool Queue::can_be_judged(const Request& request) const {
  return !listening_ || listening_->heard_all(request.promised_at, now_);
}

void Queue::end(Index at, std::string reason) {
  Request& request = requests_[at];
  close_for_client(request);
  request.state = RequestState::ended;
  request.ended = now_;
  request.reason = std::move(reason);
  ended_.emplace_back(now_, request.number);
  settled_.push_back(request.number);
  touch(at);
  forget_old();
}

Result<void> Queue::release(std::int64_t number, Time now) {
  now_ = now;
  const auto known = request_index_.find(number);
  if (known == request_index_.end()) return unknown(number);
  const Index at = known->second;
  if (requests_[at].state == RequestState::waiting) {
    if (can_be_judged(requests_[at])) calibration_.gave_up(requests_[at].promised, now_);
    dequeue(at);
  }
  if (requests_[at].state == RequestState::held) {
    measure(requests_[at]);
    free_worker(at);
  }
  if (requests_[at].state != RequestState::ended) settled_.push_back(number);
  forget(at);
  serve();
  return {};
}

Result<void> Queue::extend(std::int64_t number, Time until, Time now) {
  now_ = now;
  const auto known = request_index_.find(number);
  if (known == request_index_.end()) return unknown(number);
  Request& request = requests_[known->second];
  if (request.state != RequestState::held)
    return Error::invalid("request " + std::to_string(number) + " holds no worker");
  if (until <= now || until > now + longest_duration)
    return Error::invalid("a lease is extended to a time in the future, a year ahead at most");
  request.until = until;
  request.heard = now;
  charge_lease(request, now);
  touch(known->second);
  set_timer(request);
  serve();
  return {};
}

Result<void> Queue::heartbeat(std::int64_t number, Time now) {
  now_ = now;
  const auto known = request_index_.find(number);
  if (known == request_index_.end()) return unknown(number);
  Request& request = requests_[known->second];
  if (request.state == RequestState::ended)
    return Error::not_found("request " + std::to_string(number) + " has ended: " + request.reason)
        .with_code("gone");
  request.heard = now;
  if (request.state != RequestState::held) return {};
  charge_lease(request, now);
  if (!request.confirmed) {
    request.confirmed = true;
    touch(known->second);
  }
  serve();
  return {};
}

void Queue::note_client_alive(std::int64_t number, Time now) {
  const auto known = request_index_.find(number);
  if (known != request_index_.end())
    requests_[known->second].heard = std::max(requests_[known->second].heard, now);
}

// -------------------------------------------------------------------------------------------------
// Time

Time Queue::due(const Request& request) const {
  Time at = listening_ ? listening_->deadline(request.heard, request.heartbeat)
                       : request.heard + request.heartbeat;
  if (request.state == RequestState::waiting && request.deadline != Time{})
    at = std::min(at, request.deadline);
  if (request.state == RequestState::held && request.until != Time{})
    at = std::min(at, request.until);
  return at;
}

// A heartbeat sets none: the timer that is there finds out when it rings.
void Queue::set_timer(Request& request) {
  const Time at = due(request);
  if (request.timer != Time{} && request.timer <= at) return;
  request.timer = at;
  timers_.push_back({at, request.number});
  std::ranges::push_heap(timers_, std::greater{});
}

void Queue::expire(Time now) {
  now_ = now;
  while (!timers_.empty() && timers_.front().at <= now) {
    const Timer timer = timers_.front();
    std::ranges::pop_heap(timers_, std::greater{});
    timers_.pop_back();
    const auto known = request_index_.find(timer.number);
    if (known == request_index_.end()) continue;
    Request& request = requests_[known->second];
    if (request.timer != timer.at) continue;  // an older setting
    request.timer = Time{};
    if (request.state == RequestState::ended) continue;
    if (due(request) <= now)
      expire_one(known->second);
    else
      set_timer(request);
  }
  forget_old();
  serve();
}

void Queue::expire_one(Index at) {
  const Request& request = requests_[at];
  const bool waits = request.state == RequestState::waiting;
  std::string reason =
      "no heartbeat from its client for " + std::to_string(request.heartbeat.count() / 1000) + " s";
  if (waits && request.deadline != Time{} && request.deadline <= now_)
    reason = "its deadline passed before a worker was free";
  if (!waits && request.until != Time{} && request.until <= now_) reason = "its duration was over";
  if (waits) {
    if (can_be_judged(request)) calibration_.gave_up(request.promised, now_);
    dequeue(at);
  } else {
    measure(request);
    free_worker(at);
  }
  end(at, std::move(reason));
}

// Bounded, so that a flood of dead clients does not fill the memory.
void Queue::forget_old() {
  std::size_t& front = ended_forgotten_;
  while (front < ended_.size() && (ended_[front].first + settings_.ended_kept <= now_ ||
                                   ended_.size() - front > settings_.most_ended_kept)) {
    const auto known = request_index_.find(ended_[front++].second);
    if (known != request_index_.end() && requests_[known->second].state == RequestState::ended)
      forget(known->second);
  }
  if (front < 1024 || front * 2 < ended_.size()) return;
  ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(front));
  front = 0;
}

Time Queue::next_wake() const {
  Time next = timers_.empty() ? Time::max() : timers_.front().at;
  if (ended_forgotten_ < ended_.size())
    next = std::min(next, ended_[ended_forgotten_].first + settings_.ended_kept);
  return next;
}

void Queue::clock_was_set(Time now, std::chrono::milliseconds by) {
  now_ = now;
  timers_.clear();
  for (Index at = 0; at < requests_.size(); ++at) {
    Request& request = requests_[at];
    request.timer = Time{};
    if (request.number == 0 || request.state == RequestState::ended) continue;
    // The time in which nobody was heard lies where the old clock had it. Of a clock that is set
    // back, what was heard before that is not moved away from it.
    request.heard = std::max(request.heard + by, std::min(request.heard, now));
    request.charged = std::min(request.charged + by, now + settings_.least_charge);
    if (by.count() != 0 && request.state == RequestState::held && request.until != Time{}) {
      request.until += by;  // it holds its worker for so long, whatever the clock says
      touch(at);
    }
    set_timer(request);
  }
  for (auto& [at, number] : ended_) at = std::min(at + by, now);
  for (Index line = 0; line < lines_.size(); ++line) {
    const Time since = std::min(lines_[line].since + by, now);
    if (lines_[line].team == no_index || lines_[line].since == since) continue;
    lines_[line].since = since;
    index(line);
  }
  rebase();
}

void Queue::touch(Index at) {
  if (requests_[at].dirty) return;
  requests_[at].dirty = true;
  dirty_requests_.push_back(at);
}

}  // namespace muster::queue
