// How launches went and which machines the cloud took back in the last hour, by place, type and
// market.
#pragma once

#include <deque>
#include <map>
#include <string>

#include <muster/context.hpp>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

// Machines of one region, counted by place, type and market.
class MachineCounts {
 public:
  // `place` is the zone, or the region where the cloud has none; `kind` is type_and_market().
  void add(const std::string& place, const std::string& kind) { ++counts_[{place, kind}]; }
  std::int64_t of(const Machine& machine) const;

 private:
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
};

// THREADS: one at a time. Bounded: what is older than an hour is forgotten.
class LaunchHistory {
 public:
  void launched(const Machine& machine, std::int64_t count, Time now);
  void failed(const Machine& machine, std::int64_t count, Time now);

  // What the last list of the region has: those that are there.
  void set_running(const std::string& region, MachineCounts counts);
  // Those that the cloud took back in the last hour, as the cloud says now.
  void set_interrupted(const std::string& region, MachineCounts counts);

  // 0 to 1: how likely a launch succeeds and its machine stays.
  double reliability(const Machine& machine, Time now) const;

 private:
  struct Entry {
    Time at{};
    std::int64_t launched = 0, failed = 0;
  };
  struct Lately {
    MachineCounts running, interrupted;
  };
  void add(const Machine& machine, Entry entry);

  std::map<std::string, std::deque<Entry>> entries_;
  std::map<std::string, Lately> lately_;  // by region
};

}  // namespace muster::cloud
