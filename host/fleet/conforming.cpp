// Workers that are there and may not work: their credentials lapsed, they are not in the state that
// their pool wants, or an operator said so.
#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"

namespace muster::fleet {

// -------------------------------------------------------------------------------------------------
// Credentials that lapse

bool Fleet::has_lapsed(const Worker& worker) const {
  return worker.credentials_expire == Time{} ||
         (worker.credentials_expire <= now_.wall && now_.wall >= grace_until_);
}

// When the end of its credentials matters; never if it does not.
Time Fleet::lapse(const Worker& worker) const {
  const Time outdated_ends = worker.credentials_expire + settings_.after_credentials;
  if (!worker.persists_when_absent()) {
    if (worker.credentials_expire == Time{}) return Time::max();
    return worker.drain == Drain::outdated ? outdated_ends : worker.credentials_expire;
  }
  if (worker.drain == Drain::none) return worker.credentials_expire;
  return worker.drain == Drain::outdated ? outdated_ends : Time::max();
}

void Fleet::on_lapse(Index index) {
  const Worker& worker = workers_[index];
  const char* const title = "did not register again";
  const std::string why = "its credentials expired and it did not ask for new ones in time";
  if (worker.drain == Drain::outdated) {
    if (worker.persists_when_absent() && pools_[worker.pool].spec)
      return set_aside(index, "outdated: " + worker.reason);
    return stop(index, "outdated: " + worker.reason);
  }
  if (!worker.persists_when_absent())
    return stop_with_error(index, "reregistration-timeout", title, why);
  if (worker.credentials_expire != Time{})
    pool_error(worker, "reregistration-timeout", title, why,
               {{"workerGroup", groups_[worker.group]}, {"workerId", worker.worker_id}});
  start_drain(index, Drain::absent, std::string(title) + ": " + why);
}

Result<void> Fleet::sign_off(const WorkerName& name, const std::string& reason, Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (!worker.persists_when_absent() || worker.state != WorkerState::running)
    return remove_worker(name, reason, now);
  {
    WorkerEdit changing(*this, *index);
    changing->credentials_expire = Time{};
    changing->secret = changing->next_secret = Sha256{};
  }
  if (worker.drain == Drain::none || worker.drain == Drain::interrupted)
    start_drain(*index, Drain::absent, reason);
  return {};
}

// -------------------------------------------------------------------------------------------------
// The state that a pool wants

// The one that took the place of its own, if that is archived.
Index Fleet::newest_launch_config(const Worker& worker) const {
  const LaunchConfigState& own = launch_configs_[worker.launch_config];
  if (own.status == LaunchConfigStatus::archived)
    for (const Index sibling : pools_[worker.pool].launch_configs) {
      const LaunchConfigState& other = launch_configs_[sibling];
      // Where a declared machine stands is not for configurations to say.
      if (other.status != LaunchConfigStatus::archived && other.provider == own.provider &&
          (worker.declared() ||
           other.spec->launch_config.placement == own.spec->launch_config.placement))
        return sibling;
    }
  return worker.launch_config;
}

std::shared_ptr<const LaunchConfigSpec> Fleet::place_for(const WorkerName& name,
                                                         const ProviderId& provider) const {
  const Worker* worker = find_worker(name);
  if (worker && is_alive(*worker)) return launch_configs_[newest_launch_config(*worker)].spec;
  const auto place = place_of(name.worker_pool_id, provider);
  return place ? launch_configs_[*place].spec : nullptr;
}

// Whoever registers has shown that it is in the state that the newest document wants.
void Fleet::stand_under_newest(Index index) {
  const Index before = workers_[index].launch_config;
  const Index newest = newest_launch_config(workers_[index]);
  if (newest != before) {
    WorkerEdit(*this, index)->launch_config = newest;
    --launch_configs_[before].rows;
    ++launch_configs_[newest].rows;
  }
  if (workers_[index].drain == Drain::outdated && !launch_configs_[newest].outdated)
    end_drain(index, "it has registered and conforms");
}

// It waits until somebody has put it right.
void Fleet::set_aside(Index index, std::string reason) {
  const Worker& worker = workers_[index];
  if (worker.drain == Drain::nonconformant && worker.reason == reason) return;
  start_drain(index, Drain::nonconformant, std::move(reason));
  tell_quarantine("worker-quarantined", worker, worker.reason, {{"reason", worker.reason}});
}

void Fleet::not_conformant(const WorkerName& name, const ProviderId& provider,
                           const std::string& reason, Now now) {
  begin(now);
  const Index index = lookup(name);
  if (index == no_index || providers_[workers_[index].provider].id != provider) return;
  const Worker& worker = workers_[index];
  if (worker.state == WorkerState::requested)
    return stop_with_error(index, "not-conformant", "is not as its pool wants it",
                           shortened(reason));
  if (worker.state == WorkerState::running && worker.drain != Drain::interrupted)
    set_aside(index, shortened(reason));
}

// -------------------------------------------------------------------------------------------------
// An operator's word

Result<void> Fleet::quarantine(const WorkerName& name, Time until, const std::string& reason,
                               Now now) {
  begin(now);
  const auto index = known(name);
  if (!index) return index.error();
  const Worker& worker = workers_[*index];
  if (worker.state != WorkerState::running)
    return Error::invalid(in_words(name) + " does not run: only a running worker is quarantined");
  const std::string because = reason.empty() ? "" : ": " + reason;
  const bool release = until <= now.wall;
  const bool was_in = worker.in_quarantine_until() > now.wall;
  WorkerEdit(*this, *index)->quarantined_until = release ? Time{} : until;
  if (release) {
    if (worker.drain == Drain::quarantined || worker.drain == Drain::nonconformant) {
      if (worker.drain == Drain::nonconformant) stand_under_newest(*index);
      end_drain(*index, "it was released" + because);
    }
    if (was_in)
      tell_quarantine("worker-released", worker, "released" + because, {{"reason", reason}});
    return {};
  }
  const std::string text = "quarantined until " + format_time(until) + because;
  // The others end anyway and for good, or wait for more than the time.
  if (worker.drain != Drain::outdated && worker.drain != Drain::interrupted &&
      worker.drain != Drain::nonconformant)
    start_drain(*index, Drain::quarantined, text);
  tell_quarantine("worker-quarantined", worker, text,
                  {{"reason", reason}, {"until", format_time(until)}});
  return {};
}

// To those who listen, and to those who read the journal of the pool.
void Fleet::tell_quarantine(const char* kind, const Worker& worker, const std::string& text,
                            json::object details) {
  journal(pools_[worker.pool], "lifecycle",
          "worker " + groups_[worker.group] + "/" + worker.worker_id + ": " + text, details, {});
  emit_event(kind, worker, text, std::move(details));
}

}  // namespace muster::fleet
