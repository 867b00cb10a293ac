// Why something is where it is: what is known about requests, pools and launch configurations, for
// host/verdict to judge.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/fleet/bidding/launch_limits.hpp"
#include "host/fleet/queue_link/queue_link.hpp"
#include "host/verdict/verdict.hpp"

namespace muster::queue {
struct Request;
}  // namespace muster::queue

namespace muster::fleet {

// See Fleet for the promises of each.
class VerdictInputs : Stage {
 public:
  VerdictInputs(const StageContext& context, const QueueLink& link, const LaunchLimits& limits)
      : Stage(context), link_(link), limits_(limits) {}

  verdict::Verdict verdict_of(const queue::Request& request, Time now) const;
  verdict::Verdict verdict_of(const Pool& pool, Time now) const;
  verdict::Verdict verdict_of(Index launch_config, const Weights& weights, Time now) const;
  std::map<std::pair<verdict::Kind, std::string>, std::int64_t> count_verdicts(Time now) const;

 private:
  template <class Room>
  void add_launches(const Pool& pool, std::vector<verdict::RoomSource>& coming,
                    const Room& room) const;
  std::vector<Index> could_launch_for(const queue::Request& request) const;
  verdict::RequestSituation situation_of(const queue::Request& request, Time now) const;
  const Worker* find_worker(std::int64_t number) const;

  const QueueLink& link_;
  const LaunchLimits& limits_;
};

}  // namespace muster::fleet
