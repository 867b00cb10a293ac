// Workers that a listing does not show: which of them are gone, and whether the listing is to be
// believed at all.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "host/fleet/lifecycle/termination.hpp"

namespace muster::fleet {

// What a listing says of the workers, by index.
struct Seen {
  std::vector<bool> listed;   // it is there
  std::vector<bool> stopped;  // it was there, and has stopped
};

class AbsentWorkers : Stage {
 public:
  AbsentWorkers(const StageContext& context, WorkerTermination& termination)
      : Stage(context), termination_(termination), started_(context.clock.both().steady) {}

  // `began`: when the listing was asked for. What happened since then it need not know.
  void follow(Index provider, const Seen& seen, const Listing& listing, Time began);

 private:
  // Of one region, or of all together.
  struct Share {
    std::size_t expected = 0, missing = 0;
    void count(bool lacked) {
      ++expected;
      missing += lacked;
    }
  };
  using Shares = std::map<std::string, Share>;  // by region; "": all
  // Workers by index: those that the listing lacks, those that ended as they should, and those
  // whose launch has no known outcome.
  struct Found {
    std::vector<Index> missing, ended, unsure;
    Shares shares;
  };

  Found collect(Index provider, const Seen& seen, const Listing& listing, Time began) const;
  void doubt(Index provider, const Shares& shares, bool has_problems);
  void judge(Index worker, const Seen& seen, Time began);
  void never_launched(Index worker, Time began);
  bool may_take_effect(const Worker& worker, Time began) const;
  const std::string& region_of(const Worker& worker) const;

  WorkerTermination& termination_;
  const std::chrono::milliseconds started_;
  std::vector<int> doubtful_;  // by provider: listings in a row that are doubted
};

}  // namespace muster::fleet
