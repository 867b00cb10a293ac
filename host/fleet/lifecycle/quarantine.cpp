#include "host/fleet/lifecycle/quarantine.hpp"

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/words.hpp"

namespace muster::fleet {

void Quarantine::on_lapse(Index index) {
  const Worker& worker = workers_[index];
  const char* const title = "did not register again";
  const std::string why = "its credentials expired and it did not ask for new ones in time";
  if (worker.drain == Drain::removed) return termination_.stop(index, worker.reason);
  if (worker.drain == Drain::outdated) {
    if (worker.persists_when_absent() && pools_[worker.pool].spec)
      return set_aside(index, "outdated: " + worker.reason);
    return termination_.stop(index, "outdated: " + worker.reason);
  }
  if (!worker.persists_when_absent())
    return termination_.stop_with_error(index, "reregistration-timeout", title, why);
  if (worker.credentials_expire != Time{})
    outbox_.pool_error(
        worker, "reregistration-timeout", title, why,
        {{"workerGroup", registry_.group_name(worker.group)}, {"workerId", worker.worker_id}});
  draining_.start(index, Drain::absent, std::string(title) + ": " + why);
}

void Quarantine::follow_newest(Index index) {
  const Index before = workers_[index].launch_config;
  const Index newest = registry_.newest_launch_config(workers_[index]);
  if (newest != before) WorkerEdit(table_, index)->launch_config = newest;
  if (workers_[index].drain == Drain::outdated && !launch_configs_[newest].outdated)
    draining_.end(index, "it has registered and conforms");
}

void Quarantine::set_aside(Index index, std::string reason) {
  const Worker& worker = workers_[index];
  if (worker.drain == Drain::nonconformant && worker.reason == reason) return;
  draining_.start(index, Drain::nonconformant, std::move(reason));
  report("worker-quarantined", worker, worker.reason, {{"reason", worker.reason}});
}

void Quarantine::not_conformant(const WorkerName& name, const ProviderId& provider,
                                const std::string& reason) {
  const Index index = table_.lookup(name);
  if (index == no_index || providers_[workers_[index].provider].id != provider) return;
  const Worker& worker = workers_[index];
  if (worker.state == WorkerState::requested)
    return termination_.stop_with_error(index, "not-conformant", "is not as its pool wants it",
                                        shortened(reason));
  if (worker.state == WorkerState::running && worker.drain != Drain::interrupted)
    set_aside(index, shortened(reason));
}

Result<void> Quarantine::set(const WorkerName& name, Time until, const std::string& reason) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state != WorkerState::running)
    return Error::invalid(in_words(name) + " does not run: only a running worker is quarantined");
  const std::string because = reason.empty() ? "" : ": " + reason;
  const bool release = until <= clock_.now();
  const bool was_in = worker.in_quarantine_until() > clock_.now();
  WorkerEdit(table_, *index)->quarantined_until = release ? Time{} : until;
  if (release) {
    if (worker.drain == Drain::quarantined || worker.drain == Drain::nonconformant) {
      if (worker.drain == Drain::nonconformant) follow_newest(*index);
      draining_.end(*index, "it was released" + because);
    }
    if (was_in) report("worker-released", worker, "released" + because, {{"reason", reason}});
    return {};
  }
  const std::string text = "quarantined until " + format_time(until) + because;
  // The others end anyway and for good, or wait for more than the time.
  if (!worker.ends_with_credentials() && worker.drain != Drain::interrupted &&
      worker.drain != Drain::nonconformant)
    draining_.start(*index, Drain::quarantined, text);
  report("worker-quarantined", worker, text, {{"reason", reason}, {"until", format_time(until)}});
  return {};
}

Result<void> Quarantine::drain(const WorkerName& name, const std::string& reason) {
  const auto index = table_.known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.declared())
    return Error::invalid(in_words(name) +
                          " is a machine that its owner declared, and would come back: quarantine "
                          "it instead");
  if (worker.state == WorkerState::stopping || worker.state == WorkerState::stopped) return {};
  if (worker.state == WorkerState::requested) {
    termination_.stop(*index, reason);
    return {};
  }
  if (worker.is_draining_out() && worker.drain != Drain::surplus) return {};  // it ends anyway
  draining_.start(*index, Drain::removed, reason);
  report("worker-draining", worker, reason, {{"reason", reason}});
  return {};
}

void Quarantine::expire(Index index) {
  WorkerEdit(table_, index)->quarantined_until = Time{};
  if (workers_[index].drain != Drain::quarantined) return;
  report("worker-released", workers_[index], "the quarantine is over", {});
  draining_.end(index, "the quarantine is over");
}

// An event, and an entry in the journal of the pool.
void Quarantine::report(const char* kind, const Worker& worker, const std::string& text,
                        json::object details) {
  outbox_.journal(
      pools_[worker.pool], "lifecycle",
      "worker " + registry_.group_name(worker.group) + "/" + worker.worker_id + ": " + text,
      details, {});
  outbox_.emit_event(kind, worker, text, std::move(details));
}

}  // namespace muster::fleet
