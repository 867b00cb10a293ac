// The holds of all providers, with their rows and events: what is not tried for a while, and the
// canary launches that find out whether it works again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/fleet/holds/hold_ledger.hpp"
#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

class ProviderHolds : Stage {
 public:
  explicit ProviderHolds(const StageContext& context) : Stage(context) {}

  bool empty() const { return ledger_.empty(); }
  std::vector<bidding::Hold> all() const { return ledger_.all(); }
  // The hold in force that covers launches from it; null: it may be tried.
  const bidding::Hold* find(const LaunchConfigState& launch_config) const;
  // The hold under which a launch from it would be the canary; null: none.
  const bidding::Hold* find_probed(const LaunchConfigState& launch_config) const;
  // False: there is a canary already.
  bool begin_probe(const bidding::Hold& hold) { return ledger_.begin_probe(hold); }

  // An error of a launch from the launch configuration, or of a bid for it.
  void hold(Index provider, const Error& error);
  // The error with a scope that covers the launch configuration.
  Error narrowed(Error error, Index launch_config) const;

  // Of a worker that is being edited: its launch works, or says nothing about the hold.
  void canary_succeeded(Worker& worker);
  void canary_ended(Worker& worker);

  // See Fleet::release_holds.
  Result<std::vector<bidding::Hold>> release(const ProviderId& provider,
                                             const std::optional<std::string>& scope);
  void forget_before(Time then);
  void clock_was_set();

  void write_everything(store::Batch& out) const;
  Result<void> load(const store::Store& store);

 private:
  void write(const bidding::Hold& hold);
  void end(const bidding::Hold& hold);
  void wake_all_of(Index provider);

  bidding::HoldLedger ledger_;
};

}  // namespace muster::fleet
