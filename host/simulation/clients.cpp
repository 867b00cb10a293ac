// Clients of the queue: they ask, wait, hold a worker for a while and give it back, and some of
// them die. They know only what a host told them after it was durable.
#include <algorithm>

#include "host/queue/queue.hpp"
#include "host/simulation/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto heard_every = 1min;
// Longer than the jumps of a clock that a host does not notice.
constexpr auto heartbeat = 5min;

}  // namespace

struct World::Client {
  queue::Ask ask;
  std::int64_t request = 0;  // 0: the host has not told it yet
  std::string worker;        // that it holds, as far as it knows
  milliseconds until{0};     // it gives it back then
  milliseconds length{0};
  bool gives_back = false;  // it has said so, perhaps to a host that died before it was durable
  bool dies = false;
  bool over = false;
};

void World::next_client() {
  if (calm_) return;
  auto client = std::make_shared<Client>();
  client->ask.team = queue::TeamId("team-" + std::to_string(client_random_.between(0, 3)));
  const auto& pools = scenario_.configurations[configuration_].configuration->pools;
  if (!pools.empty() && client_random_.happens(0.5))
    client->ask.pool = std::next(pools.begin(), client_random_.between(
                                                    0, static_cast<std::int64_t>(pools.size()) - 1))
                           ->first;
  client->ask.token = "client-" + std::to_string(++clients_);
  client->ask.priority = client_random_.between(0, 2);
  client->ask.heartbeat = heartbeat;
  client->length = client_random_.between(1s, 40min);
  client->dies = client_random_.happens(scenario_.faults.client_dies);
  look_after(client);
  const double gap = 2 * client_random_.fraction() * 3'600'000 / scenario_.leases_per_hour;
  after(milliseconds(static_cast<std::int64_t>(gap) + 1), [this] { next_client(); });
}

// What a client does every few seconds, whether the host is there or not.
void World::look_after(const std::shared_ptr<Client>& client) {
  if (client->dies && !calm_ && client_random_.happens(0.05)) return end_lease(*client);
  if (fleet_) {
    if (client->request == 0)
      ask_queue(*client);
    else
      watch_request(*client);
  }
  if (!client->over) after(heard_every, [this, client] { look_after(client); });
}

// A host that dies before it could answer is asked again, with the same token.
void World::ask_queue(Client& client) {
  if (calm_) return void(client.over = true);
  std::int64_t number = 0;
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    const auto asked = fleet.request_worker(client.ask, now);
    if (asked)
      number = *asked;
    else
      violated("a request is refused: " + asked.error().message);
  });
  if (fleet_) client.request = number;
}

void World::watch_request(Client& client) {
  const queue::Request* found = fleet_->queue().find(client.request);
  const bool gone = !found || found->state == queue::RequestState::ended;
  if (gone) {
    if (!found && !client.gives_back)
      violated("request " + std::to_string(client.request) + " is lost");
    client.over = true;
    return end_lease(client);
  }
  client.gives_back |= calm_ || (!client.worker.empty() && client.until <= now_);
  if (client.gives_back) {
    end_lease(client);  // from here on it may be another's
    tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
      (void)fleet.change_queue(now).release(client.request, now.wall);
    });
    client.over = fleet_ != nullptr;  // else it says so again
    return;
  }
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    (void)fleet.change_queue(now).heartbeat(client.request, now.wall);
  });
  // Only now that it has confirmed it, it is sure of its worker.
  found = fleet_ ? fleet_->queue().find(client.request) : nullptr;
  if (!found || found->state != queue::RequestState::held || !found->confirmed)
    return fleet_ ? end_lease(client) : void();
  const queue::Worker& worker = fleet_->queue().workers()[found->worker];
  if (client.worker.empty())
    begin_lease(client, std::to_string(worker.number), worker.has.active_task);
  else if (client.worker != std::to_string(worker.number))
    violated("request " + std::to_string(client.request) + " was moved to another worker");
}

void World::begin_lease(Client& client, const std::string& worker, std::int64_t capacity) {
  client.worker = worker;
  client.until = now_ + client.length;
  note("lease " + std::to_string(client.request) + " on " + worker);
  if (++leased_[worker] > capacity)
    violated("worker " + worker + " has " + std::to_string(leased_[worker]) + " leases of " +
             std::to_string(capacity));
}

void World::end_lease(Client& client) {
  if (!client.worker.empty()) --leased_[client.worker];
  client.worker.clear();
}

void World::check_queue() {
  const queue::Queue& queue = fleet_->queue();
  if (const std::string wrong = queue.check(); !wrong.empty()) violated("the queue: " + wrong);
  if (queue.requests().empty()) return;
  // Another one at every step: a verdict looks at all pools.
  const queue::Request& request =
      queue.requests()[static_cast<std::size_t>(report_.steps) % queue.requests().size()];
  if (request.number != 0 && request.state != queue::RequestState::ended &&
      fleet_->verdict_of(request, host_now()).text.empty())
    violated("request " + std::to_string(request.number) + " has no verdict");
}

}  // namespace muster::simulation
