#include "plugins/provider/static/power.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::static_machines {
namespace {

using namespace std::chrono_literals;
using How = CommandOutcome::How;

constexpr auto rest_after_failed_wake = 10min;
constexpr auto rest_after_power_off = 1min;  // a machine that shuts down does not hear its call
constexpr auto ended_is_remembered = 24h;
constexpr auto patience_with_a_wake = 1min;  // beyond its timeout: then its process has died

std::string name_of(const Owner& owner) {
  return owner.host_id + "\n" + owner.provider_id.str();
}

std::string name_of(const Owner& owner, const IdempotencyKey& key) {
  return name_of(owner) + "\n" + key.str();
}

Error launches_nothing(const WorkerPoolId& pool) {
  return Error::unsupported("the machines of " + pool.str() +
                            " are announced by their owner, not launched: none of them is powered");
}

// A host that was superseded by a newer start of itself must change nothing any more.
Result<void> fence(PowerState& state, const Owner& owner) {
  std::int64_t& newest = state.epochs[name_of(owner)];
  if (owner.epoch < newest)
    return Error::invalid("epoch " + std::to_string(owner.epoch) + " of host " + owner.host_id +
                          " is superseded by epoch " + std::to_string(newest));
  newest = owner.epoch;
  return {};
}

void forget_what_is_over(PowerState& state, Time now) {
  std::erase_if(state.resting, [&](const auto& entry) { return entry.second.until <= now; });
  std::erase_if(state.ended,
                [&](const auto& entry) { return entry.second.at + ended_is_remembered <= now; });
}

Instance new_instance(const AllocateRequest& request, const IdempotencyKey& key,
                      const Machine& machine, const WorkerGroup& group, Time now) {
  Instance instance;
  instance.worker_group = group;
  instance.worker_id = machine.worker_id;
  instance.worker_pool_id = machine.worker_pool_id;
  instance.launch_config_id = request.launch_config.launch_config_id;
  instance.idempotency_key = key;
  instance.capacity = machine.capacity;
  instance.epoch = request.owner.epoch;
  instance.created = now;
  instance.provider_data = {{"v", 1}, {"powered", true}};
  instance.tags = request.tags;
  return instance;
}

double price_of(const LaunchConfig& launch_config) {
  const json::value* const section = launch_config.document.if_contains(section_name);
  if (!section || !section->is_object()) return 0;
  const json::value* const price = section->get_object().if_contains("pricePerCapacityHour");
  return price && price->is_number() ? price->to_number<double>() : 0;
}

}  // namespace

const Machine* Power::sleeping(const PowerState& state, const WorkerPoolId& pool, Time now) const {
  const auto found = std::ranges::find_if(settings_.machines, [&](const Machine& machine) {
    if (!machine.powered || machine.worker_pool_id != pool) return false;
    if (state.awake.contains(machine.worker_id.str())) return false;
    const auto rests = state.resting.find(machine.worker_id.str());
    return rests == state.resting.end() || rests->second.until <= now;
  });
  return found == settings_.machines.end() ? nullptr : &*found;
}

std::string Power::why_none_sleeps(const PowerState& state, const WorkerPoolId& pool,
                                   Time now) const {
  std::int64_t awake = 0;
  std::string resting;
  for (const Machine& machine : settings_.machines) {
    if (!machine.powered || machine.worker_pool_id != pool) continue;
    awake += state.awake.contains(machine.worker_id.str());
    const auto rests = state.resting.find(machine.worker_id.str());
    if (rests != state.resting.end() && rests->second.until > now)
      resting += "; " + machine.worker_id.str() + " is not woken before " +
                 format_time(rests->second.until) + ": it " + rests->second.reason;
  }
  return "no machine of " + pool.str() + " is left to be woken: " + std::to_string(awake) +
         " are awake" + resting;
}

Result<Bids> Power::bid(const BidRequest& request, const Context& context) {
  Bids bids;
  if (request.candidates.empty()) return bids;
  const auto kept = kept_.look();
  if (!kept) return kept.error();
  PowerState state = *kept;  // machines that are offered once count as awake for the next candidate
  const Time now = context.now();
  for (const BidRequest::Candidate& candidate : request.candidates) {
    const LaunchConfig& launch_config = candidate.launch_config;
    const WorkerPoolId& pool = launch_config.worker_pool_id;
    const std::int64_t capacity = settings_.powered_capacity(pool);
    const std::int64_t wanted = std::min((request.capacity + capacity - 1) / capacity,
                                         candidate.max_instances.value_or(request.capacity));
    const std::string none = why_none_sleeps(state, pool, now);
    std::int64_t offered = 0;
    for (const Machine* machine = nullptr;
         offered < wanted && (machine = sleeping(state, pool, now)); ++offered)
      state.awake[machine->worker_id.str()];
    if (offered > 0)
      bids.bids.push_back({.launch_config_id = launch_config.launch_config_id,
                           .capacity_per_instance = capacity,
                           .instances = offered,
                           .price_per_capacity_hour = price_of(launch_config)});
    else if (!settings_.has_powered(pool))
      bids.problems.push_back(launches_nothing(pool));
    else if (wanted > 0)
      bids.problems.push_back(Error::capacity(none));
  }
  return bids;
}

// -------------------------------------------------------------------------------------------------
// Waking

Launch Power::begin_launch(PowerState& state, const AllocateRequest& request,
                           const IdempotencyKey& key, Time now, std::vector<Wake>& wakes) const {
  const WorkerPoolId& pool = request.launch_config.worker_pool_id;
  const auto refuse = [&](Error error) {
    return Launch{
        key, {}, std::move(error).of_launch_config(request.launch_config.launch_config_id.str())};
  };
  if (key.empty()) return refuse(Error::invalid("an idempotency key is empty"));
  for (auto& [id, awake] : state.awake) {
    if (awake.instance.idempotency_key != key || !awake.belongs_to(request.owner)) continue;
    const Machine* const machine = settings_.find(awake.instance.worker_id);
    const bool begun = std::ranges::find(wakes, key, &Wake::key) != wakes.end();
    if (machine && awake.instance.state == InstanceState::pending && !begun) {
      awake.called = now;
      wakes.push_back({machine, key});
    }
    return {key, awake.instance, {}};
  }
  if (const auto ended = state.ended.find(name_of(request.owner, key)); ended != state.ended.end())
    return {key, ended->second.instance, {}};
  if (!settings_.has_powered(pool)) return refuse(launches_nothing(pool));
  const Machine* const machine = sleeping(state, pool, now);
  if (!machine) return refuse(Error::capacity(why_none_sleeps(state, pool, now)).hold_for(1min));
  AwakeMachine& awake = state.awake[machine->worker_id.str()];
  awake = {request.owner.host_id, request.owner.provider_id,
           new_instance(request, key, *machine, settings_.worker_group, now), now};
  state.resting.erase(machine->worker_id.str());
  wakes.push_back({machine, key});
  return {key, awake.instance, {}};
}

Result<std::vector<CommandOutcome>> Power::wake(const std::vector<Wake>& wakes,
                                                const Context& context) {
  std::vector<std::vector<std::string>> commands;
  for (const Wake& wake : wakes)
    commands.push_back(settings_.wake_command.filled(wake.machine->variables));
  auto outcomes = run_commands(commands, settings_.command_timeout, context);
  const auto kept = kept_.change(context, [&](PowerState& state) -> Result<void> {
    for (std::size_t i = 0; i < wakes.size(); ++i) {
      const std::string& id = wakes[i].machine->worker_id.str();
      const auto found = state.awake.find(id);
      if (found == state.awake.end() || found->second.instance.idempotency_key != wakes[i].key ||
          found->second.instance.state != InstanceState::pending)
        continue;  // ended meanwhile
      if (outcomes[i].how == How::succeeded) {
        found->second.instance.state = InstanceState::running;
        continue;
      }
      state.awake.erase(found);
      if (outcomes[i].how == How::failed)
        state.resting[id] = {context.now() + rest_after_failed_wake,
                             "could not be woken: the command " + outcomes[i].words};
    }
    return {};
  });
  if (!kept) return kept.error();
  return outcomes;
}

Result<Allocation> Power::allocate(const AllocateRequest& request, const Context& context) {
  Allocation allocation;
  std::vector<Wake> wakes;
  if (request.idempotency_keys.empty()) return allocation;
  if (context.cancelled()) return Error::cancelled("allocate was cancelled before it began");
  const auto begun = kept_.change(context, [&](PowerState& state) -> Result<void> {
    if (const auto current = fence(state, request.owner); !current) return current;
    forget_what_is_over(state, context.now());
    for (const IdempotencyKey& key : request.idempotency_keys)
      allocation.launches.push_back(begin_launch(state, request, key, context.now(), wakes));
    return {};
  });
  if (!begun) return begun.error();
  const auto outcomes = wake(wakes, context);
  if (!outcomes) return outcomes.error();
  for (Launch& launch : allocation.launches)
    for (std::size_t i = 0; i < wakes.size(); ++i) {
      if (!launch.instance || launch.instance->worker_id != wakes[i].machine->worker_id) continue;
      const CommandOutcome& outcome = (*outcomes)[i];
      launch.instance->state = InstanceState::running;
      if (outcome.how == How::succeeded) continue;
      const std::string words =
          wakes[i].machine->worker_id.str() + " was not woken: wakeCommand " + outcome.words;
      context.log(LogLevel::warning, words);
      launch.instance.reset();
      // Nothing was launched, and another machine may do: so the next bid is tried soon.
      launch.error = Error::capacity(words)
                         .of_launch_config(request.launch_config.launch_config_id.str())
                         .hold_for(1s)
                         .with_code("wakeFailed");
    }
  return allocation;
}

// -------------------------------------------------------------------------------------------------
// Awake

// Its process died between the note and the end of the command: the host has adopted the machine
// from a listing, perhaps, and would wait for it in vain.
Result<void> Power::wake_those_that_were_forgotten(const Owner& owner, const Context& context) {
  const auto kept = kept_.look();
  if (!kept) return kept.error();
  const auto forgotten = [&](const AwakeMachine& awake) {
    return awake.belongs_to(owner) && awake.instance.state == InstanceState::pending &&
           awake.called + settings_.command_timeout + patience_with_a_wake < context.now() &&
           settings_.find(awake.instance.worker_id) && !settings_.wake_command.empty();
  };
  if (std::ranges::none_of(kept->get().awake, [&](const auto& e) { return forgotten(e.second); }))
    return {};
  std::vector<Wake> wakes;
  const auto begun = kept_.change(context, [&](PowerState& state) -> Result<void> {
    for (auto& [id, awake] : state.awake) {
      if (!forgotten(awake)) continue;
      awake.called = context.now();
      wakes.push_back({settings_.find(awake.instance.worker_id), awake.instance.idempotency_key});
    }
    return {};
  });
  if (!begun) return begun.error();
  if (const auto woken = wake(wakes, context); !woken) return woken.error();
  return {};
}

Result<std::vector<Instance>> Power::list(const ListRequest& request, const Context& context) {
  if (const auto woken = wake_those_that_were_forgotten(request.owner, context); !woken)
    return woken.error();
  const auto kept = kept_.look();
  if (!kept) return kept.error();
  std::vector<Instance> instances;
  for (const auto& [id, awake] : kept->get().awake)
    if (awake.belongs_to(request.owner)) instances.push_back(awake.instance);
  return instances;
}

Result<bool> Power::is_awake(const Machine& machine, const WorkerPoolId& pool) {
  const auto kept = kept_.look();
  if (!kept) return kept.error();
  const auto found = kept->get().awake.find(machine.worker_id.str());
  return found != kept->get().awake.end() && found->second.instance.worker_pool_id == pool &&
         found->second.instance.state != InstanceState::stopping;
}

// -------------------------------------------------------------------------------------------------
// Switching off

void Power::end(PowerState& state, const WorkerId& id, const Owner& owner, Time now) const {
  const auto found = state.awake.find(id.str());
  if (found == state.awake.end() || !found->second.belongs_to(owner)) return;
  EndedLaunch ended{std::move(found->second.instance), now};
  ended.instance.state = InstanceState::stopped;
  state.awake.erase(found);
  state.resting[id.str()] = {now + rest_after_power_off, "was just switched off"};
  state.ended[name_of(owner, ended.instance.idempotency_key)] = std::move(ended);
}

// Notes which machines are to be switched off; those for which there is no command are done with.
Result<std::vector<Power::Ending>> Power::begin_ending(const TerminateRequest& request,
                                                       const Context& context) {
  std::vector<Ending> endings;
  const auto begun = kept_.change(context, [&](PowerState& state) -> Result<void> {
    if (const auto current = fence(state, request.owner); !current) return current;
    forget_what_is_over(state, context.now());
    for (const WorkerRef& worker : request.workers) {
      const auto found = state.awake.find(worker.worker_id.str());
      if (found == state.awake.end() || !found->second.belongs_to(request.owner) ||
          found->second.instance.worker_group != worker.worker_group)
        continue;
      const Machine* const machine = settings_.find(worker.worker_id);
      if (!machine || !machine->powered || settings_.power_off_command.empty()) {
        end(state, worker.worker_id, request.owner, context.now());
        continue;
      }
      found->second.instance.state = InstanceState::stopping;
      endings.push_back({machine, found->second.instance.launch_config_id});
    }
    return {};
  });
  if (!begun) return begun.error();
  return endings;
}

Result<Termination> Power::terminate(const TerminateRequest& request, const Context& context) {
  Termination termination;
  const auto endings = begin_ending(request, context);
  if (!endings) return endings.error();
  if (endings->empty()) return termination;
  std::vector<std::vector<std::string>> commands;
  for (const Ending& ending : *endings)
    commands.push_back(settings_.power_off_command.filled(ending.machine->variables));
  const auto outcomes = run_commands(commands, settings_.command_timeout, context);
  const auto kept = kept_.change(context, [&](PowerState& state) -> Result<void> {
    for (std::size_t i = 0; i < endings->size(); ++i)
      if (outcomes[i].how == How::succeeded)
        end(state, (*endings)[i].machine->worker_id, request.owner, context.now());
    return {};
  });
  if (!kept) return kept.error();
  for (std::size_t i = 0; i < endings->size(); ++i) {
    if (outcomes[i].how == How::succeeded) continue;
    const auto& [machine, launch_config_id] = (*endings)[i];
    const std::string words =
        machine->worker_id.str() + " was not switched off: powerOffCommand " + outcomes[i].words;
    context.log(LogLevel::warning, words);
    termination.failures.push_back({settings_.worker_group, machine->worker_id,
                                    Error::transient(words)
                                        .of_launch_config(launch_config_id.str())
                                        .with_code("powerOffFailed")});
  }
  return termination;
}

}  // namespace muster::static_machines
