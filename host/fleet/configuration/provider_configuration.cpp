#include "host/fleet/configuration/provider_configuration.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::fleet {

void ProviderConfiguration::up(const ProviderUp& up) {
  const Index index = registry_.index_of_provider(up.provider_id);
  ProviderState& provider = providers_[index];
  const bool was_up = provider.up;
  provider.up = true;
  provider.settings = up.settings;
  provider.has_notices = up.has_notices;
  provider.declares_machines = up.declares_machines;
  registry_.provider_fine(index);
  dispatcher_.provider_up(index, up.settings, was_up);
  if (!was_up)
    outbox_.emit_event("provider-up", provider, "provider " + provider.id.str() + " answers");
  if (!was_up) reconciliation_.provider_up(index);
  provider.field_classes = up.field_classes;
  provider.classes_known = true;
  for (Index pool = 0; pool < pools_.size(); ++pool) {
    if (pools_[pool].removed()) continue;
    renewal_.judge_conformance(pool);
    agenda_.wake(pool);
  }
}

void ProviderConfiguration::down(const ProviderId& id, const std::string& why) {
  const Index index = registry_.index_of_provider(id);
  if (providers_[index].up)
    outbox_.emit_event("provider-down", providers_[index], why, {{"reason", why}});
  providers_[index].up = false;
  if (providers_[index].trouble_since == Time{}) providers_[index].trouble_since = clock_.now();
  if (providers_[index].trouble != why)
    for (const Pool& pool : pools_)
      if (pool.spec && std::ranges::find(pool.spec->providers, id) != pool.spec->providers.end())
        outbox_.pool_error(pool, "provider-error", "provider " + id.str() + " does not run", why,
                           {{"providerId", id.str()}});
  providers_[index].trouble = why;
  dispatcher_.provider_down(index, why);
}

}  // namespace muster::fleet
