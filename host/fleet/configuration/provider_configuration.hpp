// Providers come up and go down.
#pragma once

#include <string>

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/lifecycle/renewal.hpp"
#include "host/fleet/reconciliation/reconciliation.hpp"

namespace muster::fleet {

class ProviderConfiguration : Stage {
 public:
  ProviderConfiguration(const StageContext& context, Renewal& renewal, Dispatcher& dispatcher,
                        Reconciliation& reconciliation)
      : Stage(context),
        renewal_(renewal),
        dispatcher_(dispatcher),
        reconciliation_(reconciliation) {}

  // It answers, with these settings.
  void up(const ProviderUp& up);
  void down(const ProviderId& id, const std::string& why);

 private:
  Renewal& renewal_;
  Dispatcher& dispatcher_;
  Reconciliation& reconciliation_;
};

}  // namespace muster::fleet
