// What not to try for a while: the errors of providers, by scope, shared by all pools.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/launch_types.hpp>

namespace muster::bidding {

struct Hold {
  ProviderId provider_id;
  Error error;  // its class, scope and message
  Time since{};
  Time until{};
  std::int64_t strikes = 1;  // how often in a row
  bool probing = false;      // the time is over; one canary launch decides

  // "us-east-1a/m5.large": the key among the provider's holds.
  std::string scope_text() const;
  // "capacity in zone us-east-1a until 2026-01-02T03:04:05Z (try 2): no m5.large left"
  std::string in_words() const;
};

// How long an error of this class keeps others from trying, if the provider does not say.
std::chrono::seconds default_hold(ErrorClass error_class);

// Whether an error is worth a hold at all: one that only concerns the request itself is not.
bool is_held(ErrorClass error_class);

bool covers(const Hold& hold, const ProviderId& provider, const LaunchConfig& launch_config);

// One hold for each provider and scope. Each further error of the same scope doubles the time, up
// to an hour (five minutes for what passes by itself), or a day where the provider itself asks for
// more. An error of another class replaces a hold in force only if it lasts longer. When the time
// is over a hold begins to probe: one launch may try, and its outcome ends or renews the hold.
class HoldLedger {
 public:
  // What changed, for the store; null if the error is none that is held.
  const Hold* add(const ProviderId& provider, const Error& error, Time now);

  // The first hold in force that covers it; null if it may be tried. Holds whose time is over
  // probe.
  const Hold* find(const ProviderId& provider, const LaunchConfig& launch_config, Time now) const;
  // The hold under which a launch would be the canary; null if none.
  const Hold* probed(const ProviderId& provider, const LaunchConfig& launch_config, Time now) const;

  // A canary is on its way: until it is back, no other may go. False: there is one already.
  bool begin_probe(const Hold& hold);
  // A launch within these scopes succeeded: returns the holds that are over, which are gone then.
  std::vector<Hold> succeeded(const ProviderId& provider, const LaunchConfig& launch_config);
  // The canary came to nothing that says something about the scope: another one may go.
  void probe_ended(const ProviderId& provider, const LaunchConfig& launch_config);

  // Whatever its time: of the provider, in that scope (Hold::scope_text) or in all. Returns the
  // holds that are gone then.
  std::vector<Hold> release(const ProviderId& provider, const std::optional<std::string>& scope);

  // Holds that were over long ago and that nobody probed, such as of a vanished configuration.
  std::vector<Hold> forget_before(Time then);

  // Holds that began in the future are of a clock that was wrong: they begin now and last as long.
  // Returns those.
  std::vector<Hold> clock_was_set(Time now);

  void restore(Hold hold);
  std::vector<Hold> all() const;
  bool empty() const { return holds_.empty(); }
  // When the next hold's time is over; Time::max() if none waits.
  Time next_end(Time now) const;

 private:
  using Key = std::pair<ProviderId, std::string>;
  std::map<Key, Hold> holds_;
};

}  // namespace muster::bidding
