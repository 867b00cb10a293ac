// Clients of the queue: they ask, wait, hold a worker for a while and give it back, and some of
// them die. They know only what a host told them after it was durable.
#include <algorithm>

#include "host/queue/queue.hpp"
#include "host/simulation/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto heard_every = 1min;

}  // namespace

struct World::Client {
  queue::NewRequest ask;
  std::int64_t request = 0;  // 0: the host has not told it yet
  std::int64_t worker = 0;   // that it holds, as far as it knows
  milliseconds until{0};     // it gives it back then
  milliseconds length{0};
  bool gives_back = false;  // it has said so, perhaps to a host that died before it was durable
  bool dies = false;
  bool over = false;
};

void World::next_client() {
  if (calm_) return;
  const std::int64_t crowd = client_random_.happens(0.3) ? scenario_.lease_crowd : 1;
  for (std::int64_t i = 0; i < crowd; ++i) add_client(crowd > 1);
  const double gap = 2 * client_random_.fraction() * 3'600'000 * static_cast<double>(crowd) /
                     scenario_.leases_per_hour;
  after(milliseconds(static_cast<std::int64_t>(gap) + 1), [this] { next_client(); });
}

// One of a crowd wants what most can give, and not for long.
void World::add_client(bool of_crowd) {
  const auto one_of = [&](std::size_t size) {
    return client_random_.between(0, static_cast<std::int64_t>(size) - 1);
  };
  auto client = std::make_shared<Client>();
  const auto& teams = scenario_.settings.teams;
  client->ask.team = std::next(teams.begin(), one_of(teams.size()))->first;
  const auto& pools = scenario_.configurations[configuration_].configuration->pools;
  if (!pools.empty() && client_random_.happens(of_crowd ? 0.1 : 0.5))
    client->ask.pool = std::next(pools.begin(), one_of(pools.size()))->first;
  if (client_random_.happens(of_crowd ? 0.05 : 0.2)) client->ask.tags = {"gpu"};
  if (client_random_.happens(0.2)) client->ask.needs.active_task = client_random_.between(1, 4);
  if (client_random_.happens(0.3))
    client->ask.needs.others = {{"memory", client_random_.between(1, 40)}};
  client->ask.token = "client-" + std::to_string(++clients_);
  client->ask.priority = client_random_.between(0, 2);
  client->ask.heartbeat = client_heartbeat;
  client->length = client_random_.between(1s, of_crowd ? 10min : 40min);
  client->dies = client_random_.happens(scenario_.faults.client_dies);
  look_after(client);
}

// What a client does every few seconds, whether the host is there or not.
void World::look_after(const std::shared_ptr<Client>& client) {
  if (client->dies && !calm_ && client_random_.happens(0.05)) {
    if (client->request != 0) dead_since_[client->request] = now_;
    return end_lease(*client);
  }
  if (hears()) {
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
    if (asked) return void(number = *asked);
    client.over = asked.error().code == "teamLimit";
    if (!client.over) violated("a request is refused: " + asked.error().message);
  });
  if (hears()) client.request = number;
}

void World::watch_request(Client& client) {
  const queue::Request* found = fleet_->queue().find(client.request);
  const bool gone = !found || found->state == queue::RequestState::ended;
  if (gone) {
    if (!found && !client.gives_back)
      violated("request " + std::to_string(client.request) + " is lost");
    if (found && found->reason.starts_with("no heartbeat"))
      violated("request " + std::to_string(client.request) +
               " ended by silence, but its client spoke whenever the host could hear");
    client.over = true;
    return end_lease(client);
  }
  client.gives_back |= calm_ || (client.worker != 0 && client.until <= now_);
  if (client.gives_back) {
    end_lease(client);  // from here on it may be another's
    tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
      (void)fleet.change_queue(now).release(client.request, now.wall);
    });
    client.over = hears();  // else it says so again
    return;
  }
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    (void)fleet.change_queue(now).heartbeat(client.request, now.wall);
  });
  // Only now that it has confirmed it, it is sure of its worker.
  found = hears() ? fleet_->queue().find(client.request) : nullptr;
  if (!found || found->state != queue::RequestState::held || !found->confirmed)
    return hears() ? end_lease(client) : void();
  const queue::Worker& worker = fleet_->queue().workers()[found->worker];
  if (client.worker == 0)
    begin_lease(client, worker.number, worker.has);
  else if (client.worker != worker.number)
    violated("request " + std::to_string(client.request) + " was moved to another worker");
}

void World::begin_lease(Client& client, std::int64_t worker, const queue::Resources& has) {
  client.worker = worker;
  client.until = now_ + client.length;
  note("lease " + std::to_string(client.request) + " on " + std::to_string(worker));
  queue::Resources& used = leased_.try_emplace(worker, queue::Resources{0, {}}).first->second;
  if (!has.has_room(used, client.ask.needs))
    violated("worker " + std::to_string(worker) + " is leased to more clients than it has room");
  used.add(client.ask.needs, +1);
}

void World::end_lease(Client& client) {
  if (client.worker != 0) leased_.at(client.worker).add(client.ask.needs, -1);
  client.worker = 0;
}

}  // namespace muster::simulation
