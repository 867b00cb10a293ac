// Quotas that several types share: what one launch was told counts for the others, too.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include <muster/context.hpp>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

// Each type is told once, and within a minute: the host holds it then. An operator who has raised
// the quota and ended the holds does not meet the old error again. THREADS: one at a time.
class QuotaMemory {
 public:
  // A launch of the machine was told so. `quota` is its name, the same for all machines that count
  // against it.
  void used_up(const Machine& machine, const std::string& quota, Error error, Time now);

  bool empty() const { return entries_.empty(); }
  // The error, about this machine's type; nothing if the quota is not known to be used up, or if
  // the type was told. For BidSources::room.
  std::optional<Error> tell(const Machine& machine, const std::string& quota, Time now);

 private:
  void forget(Time now);

  struct Entry {
    Error error;
    Time at{};
    std::set<std::string> told;  // types with their markets
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace muster::cloud
