// How launches went in the last hour, by place, type and market.
#pragma once

#include <deque>
#include <map>
#include <string>

#include <muster/context.hpp>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

// THREADS: one at a time. Bounded: what is older than an hour is forgotten.
class LaunchHistory {
 public:
  void launched(const Machine& machine, std::int64_t count, Time now);
  void failed(const Machine& machine, std::int64_t count, Time now);

  // 0 to 1: how likely a launch succeeds and its machine stays.
  double reliability(const Machine& machine, Time now);

 private:
  struct Entry {
    Time at{};
    std::int64_t launched = 0, failed = 0;
  };
  void add(const std::string& key, Entry entry);

  std::map<std::string, std::deque<Entry>> entries_;
};

}  // namespace muster::cloud
