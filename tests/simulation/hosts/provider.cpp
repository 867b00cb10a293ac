// A cloud that all simulated hosts call, and the machines that it makes: what really exists, seen
// from outside.
#include <algorithm>

#include "host/simulation/parts.hpp"
#include "tests/simulation/hosts/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto deadline = 30s;

// The same kind of answer that the question would get.
template <class Ask>
struct AnswerTo;
template <>
struct AnswerTo<fleet::AskSize> {
  using Type = Result<Size>;
};
template <>
struct AnswerTo<fleet::AskBids> {
  using Type = Result<Bids>;
};
template <>
struct AnswerTo<fleet::AskSelection> {
  using Type = Result<Selection>;
};
template <>
struct AnswerTo<fleet::AskAllocation> {
  using Type = Result<Allocation>;
};
template <>
struct AnswerTo<fleet::AskListing> {
  using Type = Result<Listing>;
};
template <>
struct AnswerTo<fleet::AskTermination> {
  using Type = Result<Termination>;
};
template <>
struct AnswerTo<fleet::AskNotices> {
  using Type = Result<Notices>;
};

fleet::Answer timed_out(const fleet::Question& question) {
  return std::visit(
      [&]<class Ask>(const Ask&) {
        return fleet::Answer{question.call_id, typename AnswerTo<Ask>::Type(
                                                   Error::transient("no answer within 30 s"))};
      },
      question.ask);
}

}  // namespace

// A call that is on its way is carried out, also if its host is dead or superseded by then.
void HostsWorld::ask(Host& host, const fleet::Question& question) {
  if (!may_act(host)) return;
  const auto answered = [this, &host](const fleet::Answer& answer) {
    if (!host.fleet || host.hands_over || !may_act(host)) return;
    host.fleet->answered(answer, now_of(host));
    decide(host);
  };
  const bool lost = !calm_ && random_.happens(0.05);
  const bool late = !calm_ && random_.happens(0.05);
  after(late ? deadline + random_.between(1s, 90s) : random_.between(20ms, 400ms),
        [this, &host, incarnation = host.incarnation, question, answered, lost, late] {
          if (incarnation != host.incarnation) count("calls that outlive their host");
          const fleet::Answer answer = carry_out(question);
          if (lost || late) return;
          after(random_.between(5ms, 2s), [this, &host, incarnation, answered, answer] {
            deliver(host, incarnation, [answered, answer] { answered(answer); });
          });
        });
  if (lost || late)
    on_host(host, deadline, [answered, question] { answered(timed_out(question)); });
}

fleet::Answer HostsWorld::carry_out(const fleet::Question& question) {
  const CloudContext context(true_time());
  return std::visit(
      [&]<class Ask>(const Ask& asked) -> fleet::Answer {
        const auto act = [&]() -> typename AnswerTo<Ask>::Type {
          if constexpr (std::is_same_v<Ask, fleet::AskSize>)
            return strategies_.at(asked.strategy)->size(asked.request, context);
          else if constexpr (std::is_same_v<Ask, fleet::AskSelection>)
            return strategies_.at(asked.strategy)->select(*asked.request, context);
          else if constexpr (std::is_same_v<Ask, fleet::AskBids>)
            return cloud_.bid(asked.request(), context);
          else if constexpr (std::is_same_v<Ask, fleet::AskListing>)
            return cloud_.list(asked.request, context);
          else if constexpr (std::is_same_v<Ask, fleet::AskNotices>)
            return cloud_.notices(asked.request, context);
          else if constexpr (std::is_same_v<Ask, fleet::AskAllocation>)
            return allocate(asked.request);
          else
            return cloud_.terminate(asked.request, context);
        };
        return {question.call_id, act()};
      },
      question.ask);
}

// Counts launches by key, and looks at what exists after each.
Result<Allocation> HostsWorld::allocate(AllocateRequest request) {
  for (const IdempotencyKey& key : request.idempotency_keys)
    if (!intents_.contains(key.str()))
      violated("a launch is asked for before its intent is durable: " + key.str());
  if (request.owner.epoch < database_.row().epoch) count("launches asked by a superseded host");
  if (!scenario_.provider_fences)
    for (const auto& [owner, newest] : cloud_.state().epochs)
      request.owner.epoch = std::max(request.owner.epoch, newest);
  auto result = cloud_.allocate(request, CloudContext(true_time()));
  if (!result) return result;
  for (const Launch& launch : result->launches) {
    if (!launch.instance) continue;
    const std::string& worker_id = launch.instance->worker_id.str();
    const auto [known, fresh] = launched_.emplace(launch.idempotency_key.str(), worker_id);
    if (known->second != worker_id)
      violated("launched twice for one intent: " + launch.idempotency_key.str());
    if (fresh) found_machine(worker_id);
  }
  return result;
}

void HostsWorld::found_machine(const std::string& worker_id) {
  count("launches");
  if (machines_alive() > most_machines)
    violated(std::to_string(machines_alive()) + " of at most " + std::to_string(most_machines) +
             " machines");
  const simulated::Machine& machine = cloud_.state().machines.at(worker_id);
  auto agent = std::make_shared<Agent>();
  agent->instance = machine.instance;
  agent->name = {agent->instance.worker_pool_id, agent->instance.worker_group,
                 agent->instance.worker_id};
  agent->secret = sha256(worker_id);
  agents_.push_back(agent);
  const auto boots = std::chrono::duration_cast<milliseconds>(*machine.ready - true_time());
  after(boots, [this, agent] { register_agent(agent); });
}

bool HostsWorld::exists(const Agent& agent) const {
  if (agent.gone) return false;
  const auto& machines = cloud_.state().machines;
  const auto machine = machines.find(agent.instance.worker_id.str());
  return machine != machines.end() && !ended(machine->second, true_time());
}

std::int64_t HostsWorld::machines_alive() const {
  std::int64_t alive = 0;
  for (const auto& [id, machine] : cloud_.state().machines)
    if (!ended(machine, true_time())) alive += machine.instance.capacity;
  return alive;
}

void HostsWorld::register_agent(const std::shared_ptr<Agent>& agent) {
  if (!exists(*agent)) return;
  auto refused = std::make_shared<std::string>();
  call(
      [agent, refused](fleet::Fleet& fleet, fleet::Now now) {
        const auto answer = fleet.register_worker(agent->name, provider_id, agent->secret, now);
        *refused = answer ? "" : answer.error().code + "?";
      },
      [this, agent, refused](bool answered) {
        if (!answered || !refused->empty())
          return after(5s, [this, agent] { register_agent(agent); });
        agent->registered = true;
        count("registrations");
        after(random_.between(30s, 15min), [this, agent] { leave(agent); });
        report(agent);
      });
}

void HostsWorld::report(const std::shared_ptr<Agent>& agent) {
  if (!exists(*agent)) return;
  auto ends = std::make_shared<bool>(false);
  call(
      [agent, ends](fleet::Fleet& fleet, fleet::Now now) {
        const auto asked = fleet.should_terminate(agent->name, now);
        *ends = asked && asked->terminate;
      },
      [this, agent, ends](bool answered) {
        if (answered && *ends) return leave(agent);
        after(1min, [this, agent] { report(agent); });
      });
}

// The machine shuts itself down, and may have told a host before.
void HostsWorld::leave(const std::shared_ptr<Agent>& agent) {
  if (!exists(*agent)) return;
  agent->gone = true;
  if (random_.happens(0.5))
    call([agent](fleet::Fleet& fleet,
                 fleet::Now now) { (void)fleet.remove_worker(agent->name, "it left", now); },
         [](bool) {});
  std::int64_t epoch = 0;
  for (const auto& [owner, newest] : cloud_.state().epochs) epoch = std::max(epoch, newest);
  (void)cloud_.terminate(
      {.owner = {"simulated", provider_id, epoch},
       .workers = {{agent->instance.worker_group, agent->instance.worker_id, {}}},
       .reason = "it shut down"},
      CloudContext(true_time()));
}

}  // namespace muster::simulation
