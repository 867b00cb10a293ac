// What must hold of the queue at every step, recounted from what it shows.
#include <algorithm>

#include "host/fleet/fleet.hpp"
#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"
#include "host/simulation/parts.hpp"

namespace muster::simulation {
namespace {

// A verdict looks at what could be launched for the request. In a small fleet every request is
// looked at in every step, in a larger one others each time.
constexpr std::size_t looked_at_in_a_step = 100;

std::string name_of(const queue::Request& request) {
  return "request " + std::to_string(request.number);
}

}  // namespace

void World::check_queue() {
  const queue::Queue& queue = fleet_->queue();
  if (const std::string wrong = queue.check(); !wrong.empty()) violated("the queue: " + wrong);
  if (queue.requests().empty()) return;
  check_verdicts(queue);
  check_counters(queue);
  check_idle_workers(queue);
  check_dead_clients(queue);
}

// Exactly one for each, and one that goes with where the request is.
void World::check_verdicts(const queue::Queue& queue) {
  const auto& requests = queue.requests();
  const std::size_t count = std::clamp<std::size_t>(
      looked_at_in_a_step / std::max<std::size_t>(1, fleet_->launch_configs().size()), 1,
      requests.size());
  const std::size_t first = static_cast<std::size_t>(report_.steps) * count;
  for (std::size_t i = 0; i < count; ++i) {
    const queue::Request& request = requests[(first + i) % requests.size()];
    if (request.number == 0 || request.state == queue::RequestState::ended) continue;
    const verdict::Verdict verdict = fleet_->verdict_of(request, host_now());
    check_verdict(name_of(request), verdict);
    if ((request.state == queue::RequestState::held) != (verdict.kind == verdict::Kind::placed))
      violated(name_of(request) + " has a wrong verdict: " + verdict.text);
  }
}

void World::check_counters(const queue::Queue& queue) {
  for (const queue::Worker& worker : queue.workers()) {
    if (worker.number == 0) continue;
    for (const auto& [resource, used] : worker.used.named())
      if (used < 0 || used > worker.has.named()[resource])
        violated(resource + " of worker " + std::to_string(worker.number) + " is used by " +
                 std::to_string(used) + " of " + std::to_string(worker.has.named()[resource]));
  }
  for (const queue::Team& team : queue.teams())
    if (team.held < 0 || (team.max_held > 0 && team.held > team.max_held))
      violated("team " + team.id.str() + " holds " + std::to_string(team.held) + " of " +
               std::to_string(team.max_held));
}

// Nobody whose turn it is waits while a worker that he may use has room, unless that is reserved
// for somebody else.
void World::check_idle_workers(const queue::Queue& queue) {
  for (std::size_t at = 0; at < queue.lines().size(); ++at) {
    const queue::Line& line = queue.lines()[at];
    if (line.waiting.empty()) continue;
    const queue::Request& head = queue.requests()[line.waiting.begin()->request];
    const queue::Team& team = queue.teams()[line.team];
    if (team.max_held > 0 && team.held + head.needs.active_task > team.max_held) continue;
    const queue::WaitingCapacity may_use = queue.candidates_of(head);
    for (const queue::Worker& worker : queue.workers()) {
      if (worker.number == 0 || !worker.takes_work || worker.team != queue::no_index) continue;
      const queue::TeamPool& pool = queue.pools()[worker.pool];
      const bool candidate = std::ranges::find(may_use.pools, pool.id) != may_use.pools.end() ||
                             (may_use.shared && !pool.dedicated);
      const bool kept = worker.reserved_for != queue::no_index && worker.reserved_for != at;
      if (candidate && !kept && queue::tags_match(worker.tags, line.tags) &&
          worker.has_room_for(head.needs))
        violated(name_of(head) + " waits while worker " + std::to_string(worker.number) +
                 " has room");
    }
  }
}

// Time in which the host could not hear does not count, and after that clients have time to come
// back.
void World::check_dead_clients(const queue::Queue& queue) {
  std::erase_if(dead_since_, [&](const auto& dead) {
    const queue::Request* request = queue.find(dead.first);
    return !request || request->state == queue::RequestState::ended;
  });
  for (const auto& [number, since] : dead_since_)
    if (now_ > std::max(since, host_heard_since_) + 2 * client_heartbeat)
      violated("request " + std::to_string(number) + " outlives its client by " +
               std::to_string((now_ - since).count()) + " ms");
}

}  // namespace muster::simulation
