// How much waits in the queue and how much of what is there is used, by team and by pool.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/ids.hpp>

#include "host/queue/model.hpp"

namespace muster::fleet {

class Fleet;

// Requests that wait. What a team may not hold for now is not among them: no worker would help.
struct WaitingLoad {
  std::int64_t requests = 0;
  double capacity = 0;  // of workers, that they would take
  std::optional<Time> oldest = {};

  void add(std::int64_t more_requests, double more_capacity, Time since);
};

struct ResourceLoad {
  std::string name;
  std::int64_t has = 0, used = 0;

  double utilisation() const;  // from 0 to 1
};

struct PoolLoad {
  // Each request for one pool: see Fleet::assign_demand. Those that no pool could serve are here if
  // they name this one.
  WaitingLoad waiting = {};
  double unserved = 0;  // of waiting.capacity: what no worker of it could serve
  std::int64_t workers = 0;
  queue::Resources has{0, {}}, used{0, {}};  // of its workers, also by work from elsewhere
  double bound = 0;  // capacity that is used, by what each worker has the least left of

  std::vector<ResourceLoad> resources() const;  // that its workers have
  // Its size if nobody had to wait, as far as size can help.
  std::int64_t would_be() const;
};

struct QueueLoad {
  std::vector<std::optional<Time>> oldest_of_team;  // beside Queue::teams(): all that wait
  std::optional<Time> oldest;
  // That have workers, are dedicated to teams, or are waited for.
  std::map<WorkerPoolId, PoolLoad> pools;
  WaitingLoad unserved;  // what no pool could serve, those that name one included
};

// 0 for a time that a clock, which was set back since, has yet to reach.
std::int64_t seconds_since(Time time, Time now);

// Pure. Looks at each line and each worker once, and at requests only where a line has requests of
// several priorities or sizes.
QueueLoad load_of(const Fleet& fleet);

}  // namespace muster::fleet
