// What the host asks of strategies and clouds, and how it goes wrong on the way.
#include <algorithm>

#include "host/simulation/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto deadline = 30s;

template <class... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
Overloaded(Kinds...) -> Overloaded<Kinds...>;

Error timed_out() {
  return Error::transient("no answer within 30 s");
}

}  // namespace

std::optional<Error> World::failure() {
  if (calm_ || !random_.happens(scenario_.faults.call_fails)) return std::nullopt;
  switch (random_.between(0, 6)) {
    case 0:
      return Error::capacity("there is no machine left").in_region("eu-1");
    case 1:
      return Error::quota("the account's quota is used up").hold_for(10min);
    case 2:
      return Error::throttle("too many calls");
    case 3:
      return Error::auth("the token expired");
    case 4:
      return Error::config("the image does not exist");
    case 5:
      return Error::internal("the plugin has a bug");
    default:
      return Error::transient("the connection was reset");
  }
}

template <class Answer>
void World::answer(fleet::CallId call, Answer result, std::uint64_t incarnation) {
  if (incarnation != incarnation_) return;  // the fleet that asked is gone
  if (!hears())                             // it hears it when it hears again
    return at(deaf_until_, [this, call, result = std::move(result), incarnation]() mutable {
      answer(call, std::move(result), incarnation);
    });
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    fleet.answered({call, std::move(result)}, now);
  });
}

// `act` does the effect and returns the answer. The effect may be late, and the answer may be lost.
template <class Act>
void World::call_provider(const fleet::Question& question, const ProviderId& provider, Act act) {
  using Answer = decltype(act(std::declval<Cloud&>()));
  Cloud& cloud = *clouds_.at(provider);
  const Faults& faults = scenario_.faults;
  const bool calm = calm_;
  const auto travel = random_.between(20ms, 400ms);
  const auto slow =
      !calm && random_.happens(faults.call_slow) ? random_.between(1s, faults.slowest) : 0ms;
  const bool lost = !calm && random_.happens(faults.answer_lost);
  const bool late = !calm && random_.happens(faults.effect_late);
  const fleet::CallId call = question.call_id;
  if (!calm && random_.happens(faults.provider_outages_per_hour / 200) && cloud.down_until < now_)
    cloud.down_until = now_ + random_.between(1min, 60min);
  if (now_ < cloud.down_until) {
    after(travel, [this, call, incarnation = incarnation_] {
      answer(call, Answer(Error::transient("the provider is down")), incarnation);
    });
    return;
  }
  if (auto error = failure()) {
    after(travel, [this, call, error = std::move(*error), incarnation = incarnation_] {
      answer(call, Answer(error), incarnation);
    });
    return;
  }
  const auto effect_after = late ? deadline + random_.between(1s, 120s) : travel + slow;
  after(effect_after,
        [this, call, &cloud, act = std::move(act), lost, late, incarnation = incarnation_] {
          auto result = act(cloud);
          if (!lost && !late)
            after(random_.between(5ms, 100ms),
                  [this, call, result = std::move(result), incarnation]() mutable {
                    answer(call, std::move(result), incarnation);
                  });
        });
  if (lost || late || effect_after > deadline)
    after(deadline, [this, call, incarnation = incarnation_] {
      answer(call, Answer(timed_out()), incarnation);
    });
}

void World::ask(fleet::Question question) {
  ++report_.calls;
  const auto strategy = [&](const std::string& name, auto act) {
    using Answer = decltype(act(std::declval<BiddingStrategy&>()));
    const auto found = strategies_.find(name);
    auto result = found == strategies_.end()
                      ? Answer(Error::not_found("there is no strategy " + name))
                      : act(*found->second);
    after(1ms, [this, call = question.call_id, result = std::move(result),
                incarnation = incarnation_] { answer(call, result, incarnation); });
  };
  const auto context = [this] { return CloudContext(true_time()); };
  std::visit(
      Overloaded{
          [&](const fleet::AskSize& asked) {
            strategy(asked.strategy,
                     [&](BiddingStrategy& with) { return with.size(asked.request, context()); });
          },
          [&](const fleet::AskSelection& asked) {
            strategy(asked.strategy,
                     [&](BiddingStrategy& with) { return with.select(*asked.request, context()); });
          },
          [&](const fleet::AskBids& asked) {
            call_provider(question, asked.provider_id,
                          [context, request = asked.request()](Cloud& cloud) {
                            return cloud.cloud.bid(request, context());
                          });
          },
          [&](const fleet::AskAllocation& asked) {
            for (const IdempotencyKey& key : asked.request.idempotency_keys)
              if (!intents_.contains(key.str()))
                violated("a launch is asked for before its intent is durable: " + key.str());
            call_provider(
                question, asked.provider_id,
                [this, request = asked.request](Cloud& cloud) { return allocate(cloud, request); });
          },
          [&](const fleet::AskListing& asked) {
            call_provider(
                question, asked.provider_id,
                [this, request = asked.request](Cloud& cloud) { return list(cloud, request); });
          },
          [&](const fleet::AskTermination& asked) {
            call_provider(question, asked.provider_id,
                          [this, request = asked.request](Cloud& cloud) {
                            return terminate(cloud, request);
                          });
          },
          [&](const fleet::AskNotices& asked) {
            call_provider(
                question, asked.provider_id,
                [this, request = asked.request](Cloud& cloud) { return notices(cloud, request); });
          }},
      question.ask);
}

// A cloud that breaks its promise now and then: one key, two machines.
Result<Allocation> World::allocate(Cloud& cloud, const AllocateRequest& request) {
  const CloudContext context(true_time());
  const std::int64_t before = cloud.cloud.state().launches;
  auto result = cloud.cloud.allocate(request, context);
  if (!calm_ && result && random_.happens(scenario_.faults.launched_twice))
    launch_twin(cloud, request);
  look_for_machines(cloud, result, cloud.cloud.state().launches - before);
  return result;
}

void World::launch_twin(Cloud& cloud, const AllocateRequest& request) {
  AllocateRequest again = request;
  again.idempotency_keys = {IdempotencyKey(request.idempotency_keys.front().str() + "x")};
  const auto twin = cloud.cloud.allocate(again, CloudContext(true_time()));
  if (twin && twin->launches.front().instance)
    twins_[twin->launches.front().instance->worker_id.str()] = request.idempotency_keys.front();
}

Result<Listing> World::list(Cloud& cloud, const ListRequest& request) {
  auto listing = cloud.cloud.list(request, CloudContext(true_time()));
  if (!listing) return listing;
  for (Instance& instance : listing->instances)
    if (const auto twin = twins_.find(instance.worker_id.str()); twin != twins_.end())
      instance.idempotency_key = twin->second;
  if (calm_) return listing;
  if (random_.happens(scenario_.faults.listing_lies))
    std::erase_if(listing->instances, [&](const Instance& instance) {
      if (!random_.happens(0.3)) return false;
      cloud.hidden.insert(instance.worker_id.str());
      return true;
    });
  leave_out(cloud, *listing);
  if (fault_random_.happens(scenario_.faults.listing_invents)) invent(cloud, *listing);
  return listing;
}

// A worker that loses its machine loses its work at once, not when it would have been done.
Result<Termination> World::terminate(Cloud& cloud, const TerminateRequest& request) {
  auto result = cloud.cloud.terminate(request, CloudContext(true_time()));
  for (const WorkerRef& worker : request.workers) {
    if (worker.worker_id.str().starts_with("another-"))
      violated("a machine of another host is ended: " + worker.worker_id.str());
    const auto found = agents_.find({cloud.scenario.provider_id, worker.worker_id.str()});
    if (found == agents_.end() || exists(*found->second)) continue;
    const auto agent = found->second;
    after(0ms, [this, agent] { leave(agent, false); });
  }
  return result;
}

Result<Notices> World::notices(Cloud& cloud, const NoticesRequest& request) {
  auto told = cloud.cloud.notices(request, CloudContext(true_time()));
  if (!told) return told;
  if (!calm_ && random_.happens(scenario_.faults.notice_repeated)) {
    std::vector<Notices::Notice> old = old_notices_;
    old_notices_.insert(old_notices_.end(), told->notices.begin(), told->notices.end());
    told->notices.insert(told->notices.end(), old.begin(), old.end());
  }
  return told;
}

// All that were launched are in the answer, unless the cloud lost it or made more than it tells.
void World::look_for_machines(Cloud& cloud, const Result<Allocation>& told, std::int64_t launched) {
  const auto& machines = cloud.cloud.state().machines;
  if (told)
    for (const Launch& launch : told->launches) {
      if (!launch.instance) continue;
      const auto machine = machines.find(launch.instance->worker_id.str());
      if (machine == machines.end() || !cloud.seen.insert(machine->first).second) continue;
      found_machine(cloud, machine->first, machine->second);
      --launched;
    }
  if (launched == 0) return;
  for (const auto& [worker_id, machine] : machines)
    if (cloud.seen.insert(worker_id).second) found_machine(cloud, worker_id, machine);
}

void World::found_machine(Cloud& cloud, const std::string& worker_id,
                          const simulated::Machine& machine) {
  const std::string& key = machine.instance.idempotency_key.str();
  if (!twins_.contains(worker_id)) {
    if (!launched_.emplace(key, worker_id).second)
      violated("launched twice for one intent: " + key);
    if (!intents_.contains(key)) violated("a machine without an intent: " + worker_id);
  }
  cloud.alive.insert(worker_id);
  if (!machine.ready || (!calm_ && random_.happens(scenario_.faults.never_registers)))
    return void(cloud.silent.insert(worker_id));
  const auto boots = std::chrono::duration_cast<milliseconds>(*machine.ready - true_time());
  after(std::max(boots, 0ms),
        [this, &cloud, instance = machine.instance] { boot(cloud, instance); });
}

}  // namespace muster::simulation
