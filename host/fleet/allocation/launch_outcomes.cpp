// What becomes of launches: an instance, an error, or an unknown outcome.
#include <algorithm>
#include <map>

#include <muster/codec.hpp>

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/allocation/launch_errors.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {

void Dispatcher::answered(const PendingCall& call, const Result<Allocation>& answer) {
  bool too_fast = !answer && answer.error().error_class == ErrorClass::throttle;
  std::map<std::string, const Launch*> launches;
  if (answer) {
    registry_.provider_fine(call.provider);
    for (const Launch& launch : answer->launches) {
      launches.emplace(launch.idempotency_key.str(), &launch);
      too_fast |= launch.error && launch.error->error_class == ErrorClass::throttle;
    }
  } else if (leaves_doubt(answer.error().error_class)) {
    registry_.provider_trouble(call.provider, answer.error().message, clock_.now());
  }
  lane(call.provider).throttle.ended(too_fast);
  for (const std::int64_t number : call.workers) {
    const Index index = table_.find(number);
    if (index == no_index) continue;
    WorkerEdit(table_, index)->called = false;
    const auto launch = launches.find(identity_.key_of(workers_[index]).str());
    if (!answer)
      launch_error(index, answer.error());
    else if (launch == launches.end())
      launch_error(index, Error::internal("the provider's answer does not name this launch"));
    else if (launch->second->error)
      launch_error(index, *launch->second->error);
    else if (launch->second->instance && has_valid_names(*launch->second->instance))
      launched(index, *launch->second->instance);
    else
      launch_error(index, Error::internal("the provider's answer has neither instance nor error"));
    if (workers_[index].phase == LaunchPhase::uncertain && is_alive(workers_[index]))
      bid_data_.insert_or_assign(number, call.bid);
    else
      bid_data_.erase(number);
  }
  agenda_.wake(call.pool);
}

void Dispatcher::launch_error(Index index, const Error& error) {
  if (workers_[index].state == WorkerState::stopped) return;
  if (has_instance(workers_[index])) return;  // a listing found it meanwhile
  // A key that is refused when it is tried again says nothing of the call before, which may still
  // take effect: it counts until listings show that nothing came of it.
  if (leaves_doubt(error.error_class) || workers_[index].phase == LaunchPhase::uncertain)
    launch_uncertain(index, error);
  else
    launch_failed(index, error);
}

void Dispatcher::launched(Index index, const Instance& instance) {
  const Index tenant = table_.lookup(workers_[index].provider, instance.worker_group.str(),
                                     instance.worker_id.str());
  if (tenant == index) return;  // a listing was faster
  if (has_instance(workers_[index])) return termination_.end_duplicate(index, instance);
  if (tenant != no_index && is_alive(workers_[tenant])) {
    launch_failed(index, Error::internal("the provider answered with instance " +
                                         instance.worker_id.str() + ", which is another worker's"));
    return;
  }
  take_instance(index, instance);
  const Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  launch_config.health.launched(clock_.now());
  registry_.touch(worker.launch_config);
  ++pools_[worker.pool].launched;
  launch_config.unregistered.push_back(index);
  if (launch_config.unregistered.size() > 64 &&
      static_cast<std::int64_t>(launch_config.unregistered.size()) >
          2 * launch_config.totals.workers)
    std::erase_if(launch_config.unregistered, [&](Index at) {
      return workers_[at].state != WorkerState::requested ||
             workers_[at].launch_config != worker.launch_config;
    });
  if (worker.canary) {
    WorkerEdit changing(table_, index);
    holds_.canary_succeeded(*changing);
  }
  outbox_.emit_event("worker-launched", worker, "launched as " + instance.worker_id.str());
  if (worker.state == WorkerState::stopping) termination_.request(index);
}

void Dispatcher::failed_later(Index index, const Error& error) {
  const Worker& worker = workers_[index];
  if (worker.state != WorkerState::requested || worker.phase == LaunchPhase::intended) return;
  launch_failed(index, error);
}

void Dispatcher::take_instance(Index index, const Instance& instance) {
  if (workers_[index].state == WorkerState::stopped) termination_.revive(index);
  WorkerEdit worker(table_, index);
  worker->phase = LaunchPhase::launched;
  worker->group = registry_.index_of_group(instance.worker_group.str());
  worker->worker_id = instance.worker_id.str();
  worker->provider_data = json::write(instance.provider_data);
  worker->lost = false;
  worker->attempts = 0;
  worker->missing = 0;
  worker->missing_since = {};
  worker->since = clock_.now();
  if (worker->state == WorkerState::requested) worker->reason = "launched, boots";
}

void Dispatcher::launch_failed(Index index, const Error& error) {
  const Worker& worker = workers_[index];
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  if (has_instance(worker))  // it was counted as tried when it was launched
    launch_config.health.failed_later(clock_.now(), error.error_class);
  else
    launch_config.health.failed(clock_.now(), error.error_class);
  registry_.touch(worker.launch_config);
  ++pools_[worker.pool].failed;
  json::object extra{{"class", std::string(to_string(error.error_class))}};
  if (!error.code.empty()) extra["code"] = error.code;
  outbox_.pool_error(worker, "creation-error", "could not be launched", error.message,
                     std::move(extra));
  holds_.hold(worker.provider, holds_.narrowed(error, worker.launch_config));
  if (worker.canary) {  // the hold is renewed, or the error was about something else
    WorkerEdit changing(table_, index);
    holds_.canary_ended(*changing);
  }
  termination_.stopped(index, "could not be launched: " + error.message);
}

void Dispatcher::launch_uncertain(Index index, const Error& error) {
  {
    WorkerEdit worker(table_, index);
    if (worker->phase != LaunchPhase::uncertain) worker->since = clock_.now();
    worker->phase = LaunchPhase::uncertain;
    if (worker->state == WorkerState::requested)
      worker->reason = "the outcome of the launch is unknown: " + error.message;
  }
  holds_.hold(workers_[index].provider, holds_.narrowed(error, workers_[index].launch_config));
  list_soon(workers_[index].provider);
}

}  // namespace muster::fleet
