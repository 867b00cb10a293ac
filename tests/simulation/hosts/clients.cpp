// Who calls the hosts, any of them, again and again until there is an answer; and what must be true
// of what they were told.
#include <algorithm>
#include <utility>

#include "host/queue/queue.hpp"
#include "tests/simulation/hosts/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 5s;  // of a caller
constexpr const char* teams[] = {"one", "two", "three"};

queue::TeamId written_team(std::int64_t team) {
  return queue::TeamId("written-" + std::to_string(team));
}

double weight_of(const queue::Queue& queue, const queue::TeamId& id) {
  const auto found = std::ranges::find(queue.teams(), id, &queue::Team::id);
  return found == queue.teams().end() ? 0 : found->weight;
}

}  // namespace

// An answer that comes after the caller has lost its patience is heard by nobody. The request may
// still be carried out then.
void HostsWorld::call(Input input, Then then) {
  auto told = std::make_shared<bool>(false);
  const auto tell = [told, then](bool answered) {
    if (!std::exchange(*told, true)) then(answered);
  };
  const bool lost = !calm_ && random_.happens(0.02);
  const std::function<void()> answer = [this, tell, lost] {
    if (!lost) after(random_.between(1ms, 50ms), [tell] { tell(true); });
  };
  Host& host = hosts_[static_cast<std::size_t>(random_.between(0, std::ssize(hosts_) - 1))];
  after(random_.between(1ms, 50ms), [this, &host, input = std::move(input), answer] {
    deliver(host, host.incarnation,
            [this, &host, input, answer] { arrive(host, input, answer, false); });
  });
  after(patience, [tell] { tell(false); });
}

// A follower hands it on to the one that it takes for the leader.
void HostsWorld::arrive(Host& host, const Input& input, const std::function<void()>& answer,
                        bool handed_on) {
  if (host.fleet && !host.hands_over && may_act(host)) {
    input(*host.fleet, now_of(host));
    host.fleet->input_ended();
    if (scenario_.answers_when_durable)
      host.to_answer.push_back(answer);
    else
      answer();
    return decide(host);
  }
  const auto next = std::ranges::find(hosts_, host.leader, &Host::name);
  if (handed_on || next == hosts_.end() || &*next == &host) return;
  after(random_.between(1ms, 20ms), [this, &next = *next, input, answer] {
    deliver(next, next.incarnation,
            [this, &next, input, answer] { arrive(next, input, answer, true); });
  });
}

// -------------------------------------------------------------------------------------------------
// The queue

void HostsWorld::next_client() {
  if (calm_) return;
  auto client = std::make_shared<Client>();
  client->ask.team = queue::TeamId(teams[random_.between(0, 2)]);
  client->ask.token = "client-" + std::to_string(clients_.size());
  client->ask.heartbeat = 5min;
  clients_.push_back(client);
  look_after(client);
  after(random_.between(1s, 20s), [this] { next_client(); });
}

void HostsWorld::look_after(const std::shared_ptr<Client>& client) {
  if (client->over) return;
  client->request == 0 ? ask_queue(client) : watch(client);
}

void HostsWorld::ask_queue(const std::shared_ptr<Client>& client) {
  auto number = std::make_shared<std::int64_t>(0);
  call(
      [client, number](fleet::Fleet& fleet, fleet::Now now) {
        if (const auto asked = fleet.request_worker(client->ask, now)) *number = *asked;
      },
      [this, client, number](bool answered) {
        if (answered) {
          if (client->known_as != 0 && *number != client->known_as)
            violated("request " + std::to_string(client->known_as) +
                     " was forgotten: its token is " + std::to_string(*number) + " now");
          client->request = client->known_as = *number;
          count("requests of the queue");
          for (const auto& other : clients_)
            if (other != client && other->request == client->request)
              violated("two clients were given the number " + std::to_string(*number));
        }
        after(answered ? 100ms : 1s, [this, client] { look_after(client); });
      });
}

// A client is sure of its worker when its own word that it knows of it was answered. One that is
// told that its request is not there asks again with its token: a host that was superseded because
// the clock of the database was set forward does not know of it until it asks the database.
void HostsWorld::watch(const std::shared_ptr<Client>& client) {
  struct Seen {
    bool there = false, ended = false, held = false, superseded = false;
    std::string reason;
    std::int64_t worker = 0;
    queue::Resources has;
  };
  auto seen = std::make_shared<Seen>();
  if (calm_ || (client->worker != 0 && client->until <= now_)) client->gives_back = true;
  const bool releases = client->gives_back;
  if (releases) end_lease(*client);  // from here on the worker may be another's
  const auto look = [this, client, seen, releases](fleet::Fleet& fleet, fleet::Now now) {
    queue::Queue& queue = fleet.change_queue(now);
    *seen = {};
    seen->superseded = is_superseded(fleet);
    if (releases) return void(queue.release(client->request, now.wall));
    (void)queue.heartbeat(client->request, now.wall);
    const queue::Request* found = queue.find(client->request);
    seen->there = found != nullptr;
    if (!found) return;
    seen->ended = found->state == queue::RequestState::ended;
    seen->reason = found->reason;
    seen->held = found->state == queue::RequestState::held && found->confirmed;
    if (!seen->held) return;
    seen->worker = queue.workers()[found->worker].number;
    seen->has = queue.workers()[found->worker].has;
  };
  call(look, [this, client, seen, releases](bool answered) {
    if (!answered) return after(1s, [this, client] { look_after(client); });
    if (releases) return void(client->over = true);
    if (!seen->there && seen->superseded) {
      count("requests that a superseded host does not know");
      client->request = 0;
      return look_after(client);
    }
    if (!seen->there) violated("request " + std::to_string(client->request) + " is lost");
    if (seen->ended && seen->reason.starts_with("no heartbeat"))
      violated("request " + std::to_string(client->request) + " ended by silence: " + seen->reason);
    if (!seen->there || seen->ended) {
      client->over = true;
      return end_lease(*client);
    }
    if (seen->held && client->worker == 0)
      begin_lease(*client, seen->worker, seen->has);
    else if (seen->held && client->worker != seen->worker)
      violated("request " + std::to_string(client->request) + " was moved to another worker");
    else if (!seen->held)
      end_lease(*client);
    after(random_.between(5s, 40s), [this, client] { look_after(client); });
  });
}

bool HostsWorld::is_superseded(const fleet::Fleet& fleet) const {
  return std::ranges::none_of(hosts_, [&](const Host& host) {
    return host.fleet.get() == &fleet && host.epoch == database_.row().epoch;
  });
}

void HostsWorld::begin_lease(Client& client, std::int64_t worker, const queue::Resources& has) {
  count("leases");
  client.worker = worker;
  client.until = now_ + random_.between(10s, 2min);
  queue::Resources& used = leased_.try_emplace(worker, queue::Resources{0, {}}).first->second;
  if (!has.has_room(used, client.ask.needs))
    violated("worker " + std::to_string(worker) + " is leased to more clients than it has room");
  used.add(client.ask.needs, +1);
}

void HostsWorld::end_lease(Client& client) {
  if (client.worker != 0) leased_.at(client.worker).add(client.ask.needs, -1);
  client.worker = 0;
}

// -------------------------------------------------------------------------------------------------
// What was acknowledged

// Each value is larger than the one before, and a request that arrives late does not set it back:
// what is there may be newer than what was acknowledged, and never older.
void HostsWorld::write_team(std::int64_t team) {
  if (calm_) return;
  std::int64_t& acknowledged = acknowledged_[static_cast<std::size_t>(team)];
  const std::int64_t value = acknowledged + 1;
  call(
      [team, value](fleet::Fleet& fleet, fleet::Now now) {
        if (weight_of(fleet.queue(), written_team(team)) >= static_cast<double>(value)) return;
        (void)fleet.change_queue(now).set_team(written_team(team),
                                               {.weight = static_cast<double>(value)}, now.wall);
      },
      [this, team, value, &acknowledged](bool answered) {
        if (answered) {
          acknowledged = value;
          count("acknowledged changes");
        }
        after(random_.between(1ms, 3s), [this, team] { write_team(team); });
      });
}

void HostsWorld::check_promises(const fleet::Fleet& fleet) {
  for (std::int64_t team = 0; team < std::ssize(acknowledged_); ++team)
    if (weight_of(fleet.queue(), written_team(team)) <
        static_cast<double>(acknowledged_[static_cast<std::size_t>(team)]))
      violated(written_team(team).str() + " is " +
               std::to_string(weight_of(fleet.queue(), written_team(team))) + ", but " +
               std::to_string(acknowledged_[static_cast<std::size_t>(team)]) + " was acknowledged");
  for (const auto& client : clients_)
    if (client->known_as != 0 && !client->over && !client->gives_back &&
        !fleet.queue().find(client->known_as))
      violated("request " + std::to_string(client->known_as) + " was acknowledged and is lost");
  std::erase_if(agents_, [&](const auto& agent) { return agent->registered && !exists(*agent); });
  for (const auto& agent : agents_)
    if (agent->registered && !fleet.find_worker(agent->name))
      violated("worker " + agent->name.worker_id.str() + " has registered and is not known");
}

void HostsWorld::check_end() {
  if (!report_.violations.empty()) return;  // it stopped there
  const Host* leads = leader();
  if (!calm_) violated("there were only " + std::to_string(database_.takeovers()) + " takeovers");
  if (!leads || !leads->fleet) return violated("no host leads in the end");
  check_promises(*leads->fleet);
  for (const auto& client : clients_)
    if (!client->over)
      violated(client->ask.token + " got no answer, request " + std::to_string(client->request));
}

}  // namespace muster::simulation
