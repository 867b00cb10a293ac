// Times at which something indexed is due, the earliest first. A timer that was set again stays in
// the heap: its owner knows the time that counts and drops the others.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "host/fleet/model/state.hpp"

namespace muster::fleet {

class Timers {
 public:
  struct Timer {
    Time at;
    Index index;
    friend bool operator>(const Timer& a, const Timer& b) {
      return std::pair(a.at, a.index) > std::pair(b.at, b.index);
    }
  };

  void set(Time at, Index index) {
    heap_.push_back({at, index});
    std::ranges::push_heap(heap_, std::greater{});
  }
  bool is_due(Time now) const { return !heap_.empty() && heap_.front().at <= now; }
  Timer take() {
    const Timer timer = heap_.front();
    std::ranges::pop_heap(heap_, std::greater{});
    heap_.pop_back();
    return timer;
  }
  // Time::max(): none is set.
  Time next() const { return heap_.empty() ? Time::max() : heap_.front().at; }

 private:
  std::vector<Timer> heap_;
};

}  // namespace muster::fleet
