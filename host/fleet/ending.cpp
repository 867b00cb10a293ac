// A worker's end: it is stopped, its provider is asked to terminate it, and it is gone.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"

namespace muster::fleet {
namespace {

constexpr std::size_t terminations_in_one_call = 100;

}  // namespace

Result<void> Fleet::remove_worker(const WorkerName& name, const std::string& reason, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (!is_alive(worker) || worker.state == WorkerState::stopping) return {};
  const std::string why = reason.empty() ? "removed" : reason;
  // Of one that was to end anyway the reason for that says more.
  const bool drains = worker.state == WorkerState::running && worker.drain != Drain::none;
  stop(*index, drains ? worker.reason + " (" + why + ")" : why);
  return {};
}

// A worker whose instance is not known (yet) is stopping, too: a listing tells its end.
void Fleet::stop(Index index, std::string reason) {
  if (!is_alive(workers_[index]) || workers_[index].state == WorkerState::stopping) return;
  const bool never_called =
      workers_[index].phase == LaunchPhase::intended && !workers_[index].called;
  {
    WorkerEdit worker(*this, index);
    if (worker->canary) canary_ended(*worker);
    worker->state = WorkerState::stopping;
    worker->since = now_.wall;
    worker->attempts = 0;
    worker->reason = std::move(reason);
  }
  emit_event("worker-stopping", workers_[index], workers_[index].reason,
             {{"reason", workers_[index].reason}});
  if (never_called || workers_[index].declared())
    stopped(index, workers_[index].reason);
  else if (has_instance(workers_[index]))
    ask_termination(index);
  else
    list_soon(workers_[index].provider);
  wake(workers_[index].pool);
}

void Fleet::stop_with_error(Index index, const char* kind, const char* title,
                            const std::string& description) {
  const Worker& worker = workers_[index];
  launch_configs_[worker.launch_config].health.failed_later(now_.wall, ErrorClass::internal);
  touch(worker.launch_config);
  ++pools_[worker.pool].failed;
  pool_error(worker, kind, title, description,
             {{"workerGroup", worker.group == no_index ? "" : groups_[worker.group]},
              {"workerId", worker.worker_id}});
  stop(index, std::string(title) + ": " + description);
}

void Fleet::never_registered(Index index) {
  const auto timeout = lifecycle_of(workers_[index]).registration_timeout.count();
  stop_with_error(index, "registration-timeout", "never registered",
                  "it was launched and did not register within " + std::to_string(timeout) + " s");
}

void Fleet::stopped(Index index, std::string reason) {
  if (workers_[index].state == WorkerState::stopped) return;
  {
    WorkerEdit worker(*this, index);
    if (worker->canary) canary_ended(*worker);
    worker->state = WorkerState::stopped;
    worker->since = now_.wall;
    worker->lost = false;
    worker->reason = std::move(reason);
  }
  Worker& worker = workers_[index];
  take_from_pool(pools_[worker.pool].workers, worker);
  put_in_pool(worker, index);
  bid_data_.erase(worker.number);
  emit_event("worker-stopped", worker, worker.reason, {{"reason", worker.reason}});
  wake(worker.pool);
}

void Fleet::ask_termination(Index index) {
  Worker& worker = workers_[index];
  if (worker.terminating) return;
  worker.terminating = true;
  providers_[worker.provider].to_terminate.push_back(worker.number);
}

void Fleet::terminate_waiting(Index index) {
  ProviderState& provider = providers_[index];
  if (!provider.up) return;
  while (!provider.to_terminate.empty()) {
    TerminateRequest request{.owner = owner_of(provider), .workers = {}, .reason = {}};
    PendingCall open{.provider = index};
    const std::size_t count = std::min(provider.to_terminate.size(), terminations_in_one_call);
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = by_number_.find(provider.to_terminate[i]);
      if (found == by_number_.end()) continue;
      const Worker& worker = workers_[found->second];
      json::object data;
      if (auto parsed = json::parse_object(worker.provider_data)) data = std::move(*parsed);
      request.workers.push_back(
          {WorkerGroup(groups_[worker.group]), WorkerId(worker.worker_id), std::move(data)});
      if (request.reason.empty()) request.reason = worker.reason;
      open.workers.push_back(worker.number);
    }
    provider.to_terminate.erase(provider.to_terminate.begin(),
                                provider.to_terminate.begin() + static_cast<std::ptrdiff_t>(count));
    if (!request.workers.empty())
      ask(AskTermination{provider.id, std::move(request)}, std::move(open));
  }
}

// The provider promised: they are stopping or gone, and the next listing shows which.
void Fleet::terminated(const PendingCall& open, Result<Termination> answer) {
  if (answer)
    provider_fine(open.provider);
  else
    provider_trouble(open.provider, answer.error());
  for (const std::int64_t number : open.workers) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end() || !is_alive(workers_[found->second])) continue;
    WorkerEdit worker(*this, found->second);
    worker->terminating = false;
    worker->since = now_.wall;
    if (worker->attempts < 200) ++worker->attempts;
  }
  if (!answer) return;
  for (const Termination::Failure& failure : answer->failures) {
    const Index index = lookup(open.provider, failure.worker_group.str(), failure.worker_id.str());
    if (index != no_index && is_alive(workers_[index]))
      pool_error(workers_[index], "termination-error", "cannot be terminated",
                 failure.error.message);
  }
  list_soon(open.provider);
}

Owner Fleet::owner_of(const ProviderState& provider) const {
  return {host_id_, provider.id, epoch_};
}

}  // namespace muster::fleet
