// Follows launches that Azure has accepted to their end, so that a failure is known soon and with
// its reason.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/provider/azure/error_reading.hpp"
#include "plugins/provider/azure/late_failures.hpp"
#include "plugins/provider/azure/settings.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {

// THREADS: one at a time. All references are borrowed.
class LaunchFollower {
 public:
  LaunchFollower(const Settings& settings, Api& api, LateFailures& late)
      : settings_(settings), api_(api), late_(late) {}

  // `answer` is the one to the launch: where its operation can be asked for, and how soon.
  void follow(const Instance& instance, const Answer& answer, const ErrorScope& about, Time now);

  // Asks about the launches that are due: a few by their own operations, many by one list of each
  // resource group. Nothing that is under way costs more calls with more workers.
  void check(const Context& context);

  // Who tells the host why. If a list says first that the worker has stopped, the host heeds no
  // notice of it any more.
  enum class Teller { notice, bid };

  // A list shows a machine that was not made. Known failures stay as they are.
  void failed(const VirtualMachine& machine, Teller teller, const Context& context);
  // A deployment that failed, by its own document.
  void failed(const Instance& instance, const json::object& error, Teller teller,
              const Context& context);
  // It is there, or gone: nothing more is asked about it.
  void settled(const WorkerId& worker) { followed_.erase(worker); }

  // What the host has not heard of, once.
  std::vector<Notices::FailedLaunch> take_failures();

 private:
  struct Followed {
    IdempotencyKey key;
    std::string operation;
    ErrorScope about;
    Time began{}, ask_at{};
  };

  void ask(const WorkerId& worker, const Context& context);
  void ask_lists(const Context& context);
  std::optional<cloud::CloudError> reason_of(const Followed& followed, const Context& context);
  Followed launch_of(const Instance& instance) const;
  void report(const WorkerId& worker, const Followed& launch, const cloud::CloudError& said,
              Teller teller, Time now);

  const Settings& settings_;
  Api& api_;
  LateFailures& late_;
  const ErrorReader errors_;
  std::map<WorkerId, Followed> followed_;
  std::map<WorkerId, Time> reported_;
  std::vector<Notices::FailedLaunch> failures_;
};

}  // namespace muster::azure
