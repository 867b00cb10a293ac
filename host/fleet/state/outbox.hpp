// What a decision hands out: rows for the store, events, the journal of pools and their errors. It
// gives numbers to all of them.
#pragma once

#include <string>
#include <vector>

#include "host/events/model/event.hpp"
#include "host/fleet/state/error_ledger.hpp"
#include "host/fleet/state/fleet_clock.hpp"
#include "host/fleet/state/host_identity.hpp"
#include "host/fleet/state/registry.hpp"
#include "host/store/store.hpp"

namespace muster::fleet {

class Outbox {
 public:
  Outbox(const HostIdentity& identity, const FleetClock& clock, const Registry& registry)
      : identity_(identity), clock_(clock), registry_(registry) {}

  // Never given twice, also not by a host that starts after this one.
  std::int64_t next_number();
  // The number that next_number() would give; grows from time to time.
  std::int64_t coming_number() const { return next_number_; }

  void change(store::Change change) { changes_.push_back(std::move(change)); }
  // A row of the table host.
  void note_of_host(const char* name, std::string value);
  store::Batch& changes() { return changes_; }

  // The event gets its number and the time of the decision.
  void record(events::Event event);
  void emit_event(const char* kind, const Worker& worker, std::string text,
                  json::object details = {});
  void emit_event(const char* kind, const LaunchConfigState& launch_config, std::string text);
  void emit_event(const char* kind, const Pool& pool, std::string text, json::object details = {});
  void emit_event(const char* kind, const ProviderState& provider, std::string text,
                  json::object details = {});

  // Whether the worker may report an error now: error_ledger.hpp.
  Result<void> admit_report(const WorkerName& worker, const json::object& extra) {
    return ledger_.admit(worker, extra, clock_.now());
  }
  // An error that the owner of the worker's pool is shown, with its event. The oldest ones of the
  // pool go when there are too many.
  PoolErrorRow pool_error(const Worker& worker, const char* kind, std::string title,
                          std::string description, json::object extra = {});
  // Likewise, where no worker has a part in it.
  void pool_error(const Pool& pool, const char* kind, std::string title, std::string description,
                  json::object extra = {});
  // A decision about the pool, for `muster log`.
  void journal(const Pool& pool, const char* kind, std::string reason, const json::object& inputs,
               const json::object& outputs);
  // Likewise, of inputs and outputs that are JSON objects as text.
  void journal_text(const Pool& pool, const char* kind, std::string reason,
                    const std::string& inputs, const std::string& outputs);

  store::Batch take_changes() { return std::exchange(changes_, {}); }
  std::vector<events::Event> take_events() { return std::exchange(events_, {}); }

  // Erases what is older than that from the store.
  void erase_before(Time journal, Time events);
  void write_numbers(store::Batch& out) const;
  // No number below it is given any more.
  void skip_numbers_below(std::int64_t number);
  // Numbers go on behind those, and behind the newest event in the store.
  Result<void> load(const store::Store& store, std::int64_t next_number, std::int64_t next_event);

 private:
  void keep(const PoolErrorRow& row);

  const HostIdentity& identity_;
  const FleetClock& clock_;
  const Registry& registry_;
  std::int64_t next_number_ = 1, reserved_ = 1;
  std::int64_t next_event_ = 1;
  ErrorLedger ledger_;
  store::Batch changes_;
  std::vector<events::Event> events_;
};

}  // namespace muster::fleet
