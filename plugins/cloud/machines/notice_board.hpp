// Machines that the cloud is about to take away. Notices are delivered again until the machine has
// ended, for ten minutes after its end at most.
#pragma once

#include <map>

#include <muster/provider_types.hpp>

namespace muster::cloud {

// THREADS: one at a time.
class NoticeBoard {
 public:
  // True if the machine has had no notice yet.
  bool add(Notices::Notice notice);
  void ended(const WorkerGroup& group, const WorkerId& id);
  Notices notices(Time now);

 private:
  using Key = std::pair<WorkerGroup, WorkerId>;
  std::map<Key, Notices::Notice> known_;
};

}  // namespace muster::cloud
