// Looks at the fleet every two seconds, for the plots and the live pages of the dashboard.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/fleet/service.hpp"
#include "host/history/history.hpp"

namespace muster {

// THREADS: one of its own, from construction to destruction. Borrows the fleet, which outlives it.
class HistorySampler {
 public:
  static constexpr std::chrono::seconds interval{2};

  HistorySampler(fleet::Service& fleet, std::shared_ptr<history::History> history);
  ~HistorySampler();
  HistorySampler(const HistorySampler&) = delete;
  HistorySampler& operator=(const HistorySampler&) = delete;

 private:
  // What a pool's workers cost, which is summed up only when its totals have changed.
  struct Cost {
    fleet::Totals totals;
    double price = 0;
  };
  struct State {
    explicit State(std::shared_ptr<history::History> to) : history(std::move(to)) {}
    const std::shared_ptr<history::History> history;
    std::map<std::string, Cost> costs;
  };
  static void sample(State& state, const fleet::Fleet& fleet, fleet::Now now);
  void run();

  fleet::Service& fleet_;
  const std::shared_ptr<State> state_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace muster
