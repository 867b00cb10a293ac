// What lasts, who was told of it, and what is still to be sent. Decides; sends nothing.
//
//   ledger.observe(conditions, settings, now);
//   for (const Message& message : ledger.due(settings, now))
//     send(message) ? ledger.delivered(message.recipient, now)
//                   : ledger.failed(message.recipient, problem, settings, now);
//
// No storms: a recipient gets one message in `digestEvery`, all owners of pools together get
// `mostPerHour`, what comes in between is collected, and a condition that comes and goes stays one
// condition.
#pragma once

#include <deque>
#include <map>
#include <span>

#include <muster/json.hpp>

#include "host/config/notification_settings.hpp"
#include "host/notifications/condition.hpp"

namespace muster::notifications {

// A value. THREADS: one at a time.
class Ledger {
 public:
  using Settings = config::NotificationSettings;

  // All that is the case now; what is not among them is over when it has stayed away for a while.
  void observe(std::span<const Condition> conditions, const Settings& settings, Time now);

  // What may be sent now. It stays pending until delivered() or failed() was called.
  std::vector<Message> due(const Settings& settings, Time now);
  // `problem`: who of several addresses did not get it.
  void delivered(const std::string& recipient, Time now, const std::string& problem = {});
  // It is tried again after a minute, two, four, ... at most an hour; what is older than
  // `giveUpAfter` then is dropped.
  void failed(const std::string& recipient, const std::string& problem, const Settings& settings,
              Time now);

  struct Known {
    Condition condition;
    Time since{}, seen{}, told_at{};
    std::vector<std::string> told;  // recipients; none: nobody was told yet

    static constexpr auto fields(auto visit) {
      return visit(required("condition", &Known::condition), required("since", &Known::since),
                   optional("toldAt", &Known::told_at), optional("told", &Known::told));
    }
  };
  struct Recipient {
    std::vector<Item> pending;
    std::int64_t left_out = 0;
    Time last_sent{}, not_before{};
    std::int64_t sent = 0, failures = 0;  // failures in a row
    std::string problem;  // of the last attempt, if it failed or reached not everybody

    static constexpr auto fields(auto visit) {
      return visit(
          optional("pending", &Recipient::pending), optional("leftOut", &Recipient::left_out),
          optional("lastSent", &Recipient::last_sent),
          optional("notBefore", &Recipient::not_before), optional("sent", &Recipient::sent),
          optional("failures", &Recipient::failures), optional("problem", &Recipient::problem));
    }
  };
  using Key = std::pair<std::string, std::string>;  // cause and subject

  const std::map<Key, Known>& known() const { return known_; }
  const std::map<std::string, Recipient>& recipients() const { return recipients_; }
  std::int64_t dropped() const { return dropped_; }

  // For a host that starts again: nobody is told twice. What was known counts as seen at `now`.
  json::object to_json() const;
  static Ledger from_json(const json::object& document, Time now);

 private:
  void tell(Known& known, ItemKind kind, const std::vector<std::string>& recipients, Time now);
  void forget_idle_recipients(Time now);
  static void add(Recipient& recipient, Item item);

  std::map<Key, Known> known_;
  std::map<std::string, Recipient> recipients_;
  std::deque<Time> sent_;  // to owners, in the last hour
  std::int64_t dropped_ = 0;
};

}  // namespace muster::notifications
