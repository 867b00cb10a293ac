#include "host/fleet/holds/provider_holds.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

HoldRow to_row(const bidding::Hold& hold) {
  return {.provider_id = hold.provider_id,
          .scope = hold.scope_text(),
          .error_class = std::string(to_string(hold.error.error_class)),
          .region = hold.error.scope.region,
          .zone = hold.error.scope.zone,
          .instance_type = hold.error.scope.instance_type,
          .launch_config_id = hold.error.scope.launch_config_id,
          .message = hold.error.message,
          .code = hold.error.code,
          .since = hold.since,
          .until = hold.until,
          .strikes = hold.strikes,
          .probing = hold.probing};
}

bidding::Hold from_row(const HoldRow& row) {
  bidding::Hold hold;
  hold.provider_id = row.provider_id;
  hold.error.error_class = error_class_from(row.error_class).value_or(ErrorClass::internal);
  hold.error.message = row.message;
  hold.error.code = row.code;
  hold.error.scope = {row.region, row.zone, row.instance_type, row.launch_config_id};
  hold.since = row.since;
  hold.until = row.until;
  hold.strikes = row.strikes;
  return hold;
}

}  // namespace

const bidding::Hold* ProviderHolds::find(const LaunchConfigState& launch_config) const {
  return ledger_.find(providers_[launch_config.provider].id, launch_config.spec->launch_config,
                      clock_.now());
}

const bidding::Hold* ProviderHolds::find_probed(const LaunchConfigState& launch_config) const {
  return ledger_.probed(providers_[launch_config.provider].id, launch_config.spec->launch_config,
                        clock_.now());
}

// An error that concerns a document and names no scope concerns this document, not the whole
// provider. One that names a scope elsewhere would hold nothing, and be repeated without a pause.
Error ProviderHolds::narrowed(Error error, Index launch_config) const {
  const LaunchConfigState& state = launch_configs_[launch_config];
  const bool of_document =
      error.error_class == ErrorClass::config || error.error_class == ErrorClass::invalid ||
      error.error_class == ErrorClass::not_found || error.error_class == ErrorClass::unsupported;
  const ProviderId& provider = providers_[state.provider].id;
  const bool elsewhere = !bidding::covers({.provider_id = provider, .error = error}, provider,
                                          state.spec->launch_config);
  if (elsewhere || (of_document && error.scope.whole_provider()))
    error.scope = {{}, {}, {}, state.spec->launch_config.launch_config_id.str()};
  return error;
}

void ProviderHolds::hold(Index provider, const Error& error) {
  const bidding::Hold* held = ledger_.add(providers_[provider].id, error, clock_.now());
  if (!held) return;
  write(*held);
  outbox_.emit_event("hold-began", providers_[provider], held->in_words(),
                     {{"scope", held->scope_text()},
                      {"class", std::string(to_string(held->error.error_class))},
                      {"until", format_time(held->until)}});
}

void ProviderHolds::write(const bidding::Hold& hold) {
  outbox_.change(store::put(to_row(hold)));
}

void ProviderHolds::end(const bidding::Hold& hold) {
  outbox_.change(store::erase<HoldRow>({hold.provider_id.str(), hold.scope_text()}));
  outbox_.emit_event("hold-ended", providers_[registry_.index_of_provider(hold.provider_id)],
                     "no longer held back: " + hold.scope_text(), {{"scope", hold.scope_text()}});
}

Result<std::vector<bidding::Hold>> ProviderHolds::release(const ProviderId& provider,
                                                          const std::optional<std::string>& scope) {
  auto released = ledger_.release(provider, scope);
  if (released.empty())
    return Error::not_found("nothing of provider " + provider.str() + " is held back" +
                            (scope ? " in that scope" : "") + "; see: muster holds");
  const Index index = registry_.index_of_provider(provider);
  for (const bidding::Hold& hold : released) end(hold);
  for (Index pool = 0; pool < pools_.size(); ++pool)
    if (std::ranges::any_of(pools_[pool].launch_configs,
                            [&](Index at) { return launch_configs_[at].provider == index; }))
      agenda_.wake(pool, true);
  return released;
}

void ProviderHolds::canary_succeeded(Worker& worker) {
  worker.canary = false;
  for (const bidding::Hold& over :
       ledger_.succeeded(providers_[worker.provider].id,
                         launch_configs_[worker.launch_config].spec->launch_config)) {
    end(over);
    wake_all_of(worker.provider);
  }
}

void ProviderHolds::canary_ended(Worker& worker) {
  worker.canary = false;
  ledger_.probe_ended(providers_[worker.provider].id,
                      launch_configs_[worker.launch_config].spec->launch_config);
}

// Those that were held with it may launch as many as they want now.
void ProviderHolds::wake_all_of(Index provider) {
  for (Index pool = 0; pool < pools_.size(); ++pool)
    if (pools_[pool].want > 0 && std::ranges::any_of(pools_[pool].launch_configs, [&](Index at) {
          return launch_configs_[at].provider == provider;
        }))
      agenda_.wake(pool);
}

void ProviderHolds::forget_before(Time then) {
  for (const bidding::Hold& hold : ledger_.forget_before(then)) end(hold);
}

void ProviderHolds::clock_was_set() {
  for (const bidding::Hold& hold : ledger_.clock_was_set(clock_.now())) write(hold);
}

void ProviderHolds::write_everything(store::Batch& out) const {
  for (const bidding::Hold& hold : ledger_.all()) out.emplace_back(store::put(to_row(hold)));
}

Result<void> ProviderHolds::load(const store::Store& store) {
  return store::read_rows<HoldRow>(store,
                                   [&](const HoldRow& row) { ledger_.restore(from_row(row)); });
}

}  // namespace muster::fleet
