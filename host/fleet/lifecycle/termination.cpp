#include "host/fleet/lifecycle/termination.hpp"

#include <algorithm>
#include <set>

#include <muster/codec.hpp>

namespace muster::fleet {
namespace {

constexpr std::size_t terminations_in_one_call = 100;

}  // namespace

void WorkerTermination::stop(Index index, std::string reason) {
  if (!is_alive(workers_[index]) || workers_[index].state == WorkerState::stopping) return;
  const bool never_called =
      workers_[index].phase == LaunchPhase::intended && !workers_[index].called;
  {
    WorkerEdit worker(table_, index);
    if (worker->canary) holds_.canary_ended(*worker);
    worker->state = WorkerState::stopping;
    worker->ends = false;
    worker->since = clock_.now();
    worker->attempts = 0;
    worker->reason = std::move(reason);
  }
  outbox_.emit_event("worker-stopping", workers_[index], workers_[index].reason,
                     {{"reason", workers_[index].reason}});
  if (never_called || workers_[index].declared())
    stopped(index, workers_[index].reason);
  else if (has_instance(workers_[index]))
    request(index);
  else
    list_soon(workers_[index].provider);
  agenda_.wake(workers_[index].pool);
}

void WorkerTermination::stop_with_error(Index index, const char* kind, const char* title,
                                        const std::string& description) {
  const Worker& worker = workers_[index];
  launch_configs_[worker.launch_config].health.failed_later(clock_.now(), ErrorClass::internal);
  registry_.touch(worker.launch_config);
  ++pools_[worker.pool].failed;
  outbox_.pool_error(
      worker, kind, title, description,
      {{"workerGroup", worker.group == no_index ? "" : registry_.group_name(worker.group)},
       {"workerId", worker.worker_id}});
  stop(index, std::string(title) + ": " + description);
}

void WorkerTermination::stopped(Index index, std::string reason) {
  if (workers_[index].state == WorkerState::stopped) return;
  {
    WorkerEdit worker(table_, index);
    if (worker->canary) holds_.canary_ended(*worker);
    worker->state = WorkerState::stopped;
    worker->since = clock_.now();
    worker->lost = false;
    worker->reason = std::move(reason);
  }
  const Worker& worker = workers_[index];
  outbox_.emit_event("worker-stopped", worker, worker.reason, {{"reason", worker.reason}});
  agenda_.wake(worker.pool);
}

void WorkerTermination::vanished(Index index, std::string reason) {
  report_end(index, reason);
  stop(index, std::move(reason));
}

void WorkerTermination::report_end(Index index, const std::string& reason) {
  const Worker& worker = workers_[index];
  if (worker.state == WorkerState::requested) {
    launch_configs_[worker.launch_config].health.failed_later(clock_.now(), ErrorClass::transient);
    registry_.touch(worker.launch_config);
    ++pools_[worker.pool].failed;
    outbox_.pool_error(worker, "operation-error", "ended before it registered", reason);
  } else if (worker.state == WorkerState::running && worker.drain != Drain::interrupted) {
    outbox_.pool_error(worker, "operation-error", "is gone", reason);
  }
}

void WorkerTermination::revive(Index index) {
  WorkerEdit worker(table_, index);
  worker->state = WorkerState::stopping;
  worker->ends = worker->terminating = false;
}

void WorkerTermination::forget(Index index) {
  link_.withdraw(workers_[index]);
  link_.keep_reported(workers_[index].number, std::nullopt);
  table_.erase(index, outbox_.changes());
}

// -------------------------------------------------------------------------------------------------
// Calls

void WorkerTermination::request(Index index) {
  if (!table_.begin_termination(index)) return;
  const Worker& worker = workers_[index];
  if (worker.provider >= waiting_.size()) waiting_.resize(worker.provider + 1);
  waiting_[worker.provider].push_back(worker.number);
}

std::size_t WorkerTermination::waiting(Index provider) const {
  return provider < waiting_.size() ? waiting_[provider].size() : 0;
}

void WorkerTermination::end_instances(Index index, std::vector<WorkerRef> instances,
                                      std::string reason) {
  const ProviderId& provider = providers_[index].id;
  TerminateRequest request{.owner = identity_.owner_of(provider),
                           .workers = std::move(instances),
                           .reason = std::move(reason)};
  calls_.ask(AskTermination{provider, std::move(request)}, {.provider = index});
}

void WorkerTermination::end_duplicate(Index worker, const Instance& instance, bool told) {
  if (instance.state == InstanceState::stopped || instance.state == InstanceState::stopping) return;
  if (told)
    outbox_.pool_error(workers_[worker], "provider-error", "was launched twice",
                       "the provider made " + instance.worker_id.str() + " and " +
                           workers_[worker].worker_id + " for one launch; the former is ended");
  end_instances(workers_[worker].provider,
                {{instance.worker_group, instance.worker_id, instance.provider_data}},
                "the provider launched it twice");
}

void WorkerTermination::send(Index index) {
  const ProviderState& provider = providers_[index];
  if (!provider.up || waiting(index) == 0) return;
  std::vector<std::int64_t>& numbers = waiting_[index];
  while (!numbers.empty()) {
    TerminateRequest request{.owner = identity_.owner_of(provider.id), .workers = {}, .reason = {}};
    PendingCall call{.provider = index};
    const std::size_t count = std::min(numbers.size(), terminations_in_one_call);
    for (std::size_t i = 0; i < count; ++i) {
      const Index found = table_.find(numbers[i]);
      if (found == no_index) continue;
      const Worker& worker = workers_[found];
      json::object data;
      if (auto parsed = json::parse_object(worker.provider_data)) data = std::move(*parsed);
      request.workers.push_back({WorkerGroup(registry_.group_name(worker.group)),
                                 WorkerId(worker.worker_id), std::move(data)});
      if (request.reason.empty()) request.reason = worker.reason;
      call.workers.push_back(worker.number);
    }
    numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count));
    if (!request.workers.empty())
      calls_.ask(AskTermination{provider.id, std::move(request)}, std::move(call));
  }
}

// The provider promised: they are stopping or gone, and the next listing shows which.
void WorkerTermination::answered(const PendingCall& call, const Result<Termination>& answer) {
  if (answer)
    registry_.provider_fine(call.provider);
  else
    registry_.provider_trouble(call.provider, answer.error().message, clock_.now());
  std::set<Index> failed;
  if (answer)
    for (const Termination::Failure& failure : answer->failures)
      if (const Index index =
              table_.lookup(call.provider, failure.worker_group.str(), failure.worker_id.str());
          index != no_index && failed.insert(index).second && is_alive(workers_[index]))
        outbox_.pool_error(workers_[index], "termination-error", "cannot be terminated",
                           failure.error.message);
  for (const std::int64_t number : call.workers) {
    const Index found = table_.find(number);
    if (found == no_index || !is_alive(workers_[found])) continue;
    WorkerEdit worker(table_, found);
    worker->terminating = false;
    worker->since = clock_.now();
    if (worker->attempts < 200) ++worker->attempts;
    if (!answer || failed.contains(found) || worker->state != WorkerState::stopping) continue;
    worker->ends = true;
    agenda_.wake(worker->pool);  // it has room for another
  }
  if (answer) list_soon(call.provider);
}

}  // namespace muster::fleet
