// All machines of an owner, in all zones at once; ending them; and those that Google takes away.
#pragma once

#include <map>
#include <string>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/notice_board.hpp"
#include "plugins/provider/google/launches.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// Five hundred machines in a call, whatever zones they are in. A zone that Google cannot reach is a
// problem with the zone as its scope: what is there is not gone. Machines that have stopped are
// deleted: they are no workers any more, and their disks cost money.
Result<Listing> list_instances(const Owner& owner, const Settings& settings, Api& api,
                               Launches& launches, const Context& context);

// Several deletions at a time, as many as there is time for. What Google does not know has ended,
// unless its launch is still under way.
Termination terminate_instances(const TerminateRequest& request, Api& api, Launches& launches,
                                const Context& context);

// THREADS: one at a time. All references are borrowed.
class Preemptions {
 public:
  explicit Preemptions(Api& api) : api_(api) {}

  // The operations by which Google has taken machines since the last time. One call for each five
  // hundred of them.
  Result<Notices> collect(const Context& context);

 private:
  Api& api_;
  cloud::NoticeBoard board_;
  Time seen_until_{};
};

}  // namespace muster::google
