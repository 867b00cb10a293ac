#include "host/fleet/reconciliation/absent_workers.hpp"

#include <algorithm>

#include "host/fleet/reconciliation/absence.hpp"
#include "host/fleet/reconciliation/listing_scope.hpp"

namespace muster::fleet {

const std::string& AbsentWorkers::region_of(const Worker& worker) const {
  return region_of_launch(launch_configs_[worker.launch_config].spec->launch_config);
}

void AbsentWorkers::follow(Index provider, const Seen& seen, const Listing& listing, Time began) {
  const Found found = collect(provider, seen, listing, began);
  for (const Index at : found.ended) termination_.stopped(at, workers_[at].reason);
  doubt(provider, found.shares, !listing.problems.empty());
  for (const Index at : found.unsure) never_launched(at, began);
  for (const Index at : found.missing) judge(at, seen, began);
}

// All that the listing lacks and could have shown.
AbsentWorkers::Found AbsentWorkers::collect(Index index, const Seen& seen, const Listing& listing,
                                            Time began) const {
  Found found;
  for (Index at = 0; at < seen.listed.size(); ++at) {
    const Worker& worker = workers_[at];
    if (!is_alive(worker) || worker.provider != index ||
        (worker.declared() && worker.origin != Origin::listing))
      continue;
    const LaunchConfig& launch_config = launch_configs_[worker.launch_config].spec->launch_config;
    const std::string& group =
        worker.group == no_index ? worker.worker_id : registry_.group_name(worker.group);
    if (hides(listing, group, launch_config)) continue;  // nothing is known
    if (!has_instance(worker)) {
      if (worker.phase == LaunchPhase::uncertain && !worker.called && worker.since < began)
        found.unsure.push_back(at);
      continue;
    }
    const bool absent = !seen.listed[at] && worker.since < began;
    if (worker.state == WorkerState::stopping) {  // it is meant to disappear
      if (absent && worker.ends) found.ended.push_back(at);
      continue;
    }
    const bool taken = worker.interruption != Time{} && worker.interruption <= began;
    const bool lacked = absent && !taken && !seen.stopped[at];
    found.shares[""].count(lacked);
    if (const std::string& region = region_of(worker); !region.empty())
      found.shares[region].count(lacked);
    if (absent) found.missing.push_back(at);
  }
  return found;
}

// Nothing is launched where it is not known what is there, and the provider is asked again: soon,
// and then less and less often.
void AbsentWorkers::doubt(Index index, const Shares& shares, bool has_problems) {
  std::map<std::string, std::string> doubts;
  if (has_problems)  // of what it could not show it says nothing new
    for (const auto& [region, why] : providers_[index].doubts)
      if (!shares.contains(region)) doubts.emplace(region, why);
  for (const auto& [region, share] : shares)
    if (is_large_share(share.missing, share.expected))
      doubts[region] = "its list lacks " + std::to_string(share.missing) + " of " +
                       std::to_string(share.expected) + " workers" +
                       (region.empty() ? "" : " in " + region) +
                       ", which is not believed: nothing is launched there until it is clear "
                       "what is left";
  ProviderState& provider = providers_[index];
  if (index >= doubtful_.size()) doubtful_.resize(index + 1);
  doubtful_[index] = doubts.empty() ? 0 : std::min(doubtful_[index] + 1, 10);
  if (!doubts.empty())
    registry_.list_by(index, clock_.now() + settings_.list_soon * (1 << (doubtful_[index] - 1)));
  const bool began = provider.doubts.empty() && !doubts.empty();
  const bool ended = !provider.doubts.empty() && doubts.empty();
  if (began) provider.doubted_since = clock_.now();
  if (began)
    outbox_.emit_event("listing-doubted", provider,
                       "provider " + provider.id.str() + ": " + doubts.begin()->second,
                       {{"reason", doubts.begin()->second}});
  if (ended) provider.doubted_since = {};
  if (ended)
    outbox_.emit_event("listing-believed", provider,
                       "the lists of provider " + provider.id.str() + " are believed again");
  const bool changed =
      (provider.doubts.empty() != doubts.empty()) ||
      !std::ranges::equal(
          provider.doubts, doubts, {}, [](const auto& doubt) { return doubt.first; },
          [](const auto& doubt) { return doubt.first; });
  provider.doubts = std::move(doubts);
  if (!changed) return;
  for (const LaunchConfigState& launch_config : launch_configs_)
    if (!launch_config.removed() && launch_config.provider == index)
      agenda_.wake(launch_config.pool);
}

void AbsentWorkers::judge(Index index, const Seen& seen, Time began) {
  const Worker& worker = workers_[index];
  const Time heard = std::max(worker.last_active, worker.registered);
  const int listings = std::min(worker.missing + 1, 255);
  const Time since = worker.missing == 0 ? began : std::min(worker.missing_since, began);
  table_.note_missing(index, listings, since);
  Absence absence{.stated = seen.stopped[index],
                  .taken = worker.interruption != Time{} && worker.interruption <= began,
                  .declared = worker.declared(),
                  .registered = worker.state == WorkerState::running,
                  .reports = worker.working >= 0,
                  .heard_since = heard >= began,
                  .may_judge = clock_.may_judge(),
                  .doubted = doubt_about(providers_[worker.provider], region_of(worker)) != nullptr,
                  .listings = listings,
                  .missing = clock_.now() - since,
                  .silent = clock_.now() - heard};
  // Time in which the host could not hear is no silence.
  const milliseconds needed = needed_silence(absence);
  if (clock_.now() < clock_.deadline(heard, needed))
    absence.silent = std::min(absence.silent, needed - milliseconds(1));
  if (is_gone(absence) && absence.declared) return termination_.stop(index, why_gone(absence));
  if (is_gone(absence)) return termination_.vanished(index, why_gone(absence));
  if (listings < listings_to_be_gone)
    list_soon(worker.provider);
  else if (absence.declared && absence.missing < unregistered_missing)
    registry_.list_by(worker.provider, since + unregistered_missing);
}

// A call that had no answer yet when the listing began may still launch something.
bool AbsentWorkers::may_take_effect(const Worker& worker, Time began) const {
  if (worker.epoch != identity_.epoch)
    return clock_.both().steady - started_ < settings_.give_up_older_after;
  return began < clock_.deadline(worker.since, settings_.give_up_after);
}

// No answer came, and listings that began later do not have it. A worker that nobody knows and that
// wants to register may be it.
void AbsentWorkers::never_launched(Index index, Time began) {
  const Worker& worker = workers_[index];
  if (deadlines_.retries(worker) && worker.state == WorkerState::requested)
    return;  // its key is tried again first
  const Pool& pool = pools_[worker.pool];
  const Time now = clock_.now();
  const bool stranger = pool.stranger_at > worker.created && pool.stranger_at <= now &&
                        now < worker.since + registry_.lifecycle_of(worker).registration_timeout;
  const bool doubted = doubt_about(providers_[worker.provider], region_of(worker)) != nullptr;
  const bool again = worker.missing + 1 >= listings_to_be_gone;
  table_.note_missing(index, std::min(worker.missing + 1, 255), began);
  if (!again || stranger || doubted || may_take_effect(worker, began)) return;
  if (worker.state == WorkerState::requested) {
    launch_configs_[worker.launch_config].health.failed(now, ErrorClass::transient);
    registry_.touch(worker.launch_config);
    ++pools_[worker.pool].failed;
  }
  termination_.stopped(index,
                       "it was never launched: no answer came, and the provider does not list it");
}

}  // namespace muster::fleet
