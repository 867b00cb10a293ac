// Looks at the fleet every two seconds, for the plots and the live pages of the dashboard, and
// keeps what it saw in the store.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/fleet/service.hpp"
#include "host/history/history_keeper.hpp"

namespace muster {

// THREADS: one of its own, from construction to destruction. Borrows the fleet and its store, which
// outlive it.
class HistorySampler {
 public:
  static constexpr std::chrono::seconds interval{2};

  HistorySampler(fleet::Service& fleet, const store::Store& store,
                 std::shared_ptr<history::History> history, Log log);
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
  void load();
  void keep(bool last);

  fleet::Service& fleet_;
  const store::Store& store_;
  const Log log_;
  const std::shared_ptr<State> state_;
  history::HistoryKeeper keeper_;  // of the thread alone
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace muster
