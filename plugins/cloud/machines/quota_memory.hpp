// Quotas that several types share: what one launch was told counts for the others, too.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <muster/context.hpp>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

// Remembers for a minute only: that is enough for every launch configuration of the quota to be
// asked for a bid and held by the host, and an operator who has raised the quota and ended the
// holds does not wait. THREADS: one at a time.
class QuotaMemory {
 public:
  // `quota` is its name, the same for all machines that count against it.
  void used_up(const std::string& region, const std::string& quota, Error error, Time now);

  bool empty() const { return entries_.empty(); }
  // The error, about this machine's type; nothing if the quota is not known to be used up. For
  // BidSources::room.
  std::optional<Error> find(const Machine& machine, const std::string& quota, Time now);

 private:
  struct Entry {
    Error error;
    Time at{};
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace muster::cloud
