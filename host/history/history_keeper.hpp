// The history in the store, so that it outlives a restart and follows the lead to another host.
//
// One row has what has changed since the row before it, of all pools: a fleet in which nothing
// happens writes nothing, and ten thousand pools that all change are one row a minute.
#pragma once

#include <deque>
#include <unordered_map>

#include <muster/codec.hpp>

#include "host/history/history.hpp"
#include "host/store/store.hpp"

namespace muster::history {

struct HistoryRow {
  static constexpr std::string_view table = "history";
  static constexpr std::size_t key_columns = 2;
  std::int64_t step = 0;  // seconds between rows of this kind
  Time at{};
  json::object figures;  // by pool, "" for the fleet: the members of Figures in their order

  static constexpr auto fields(auto visit) {
    return visit(required("step", &HistoryRow::step), required("at", &HistoryRow::at),
                 required("figures", &HistoryRow::figures));
  }
};

// Rows of one kind.
struct Retention {
  std::chrono::seconds step{};
  std::chrono::seconds kept{};
  std::size_t most_bytes = 32 << 20;  // together; the oldest go first
};

// THREADS: one.
class HistoryKeeper {
 public:
  // Minutes for a day, quarters of an hour for a week.
  static std::vector<Retention> usual_retention();

  explicit HistoryKeeper(std::vector<Retention> retention = usual_retention());

  // Puts what the store has into the history. Once, before the first rows().
  Result<void> load(const store::Store& store, History& history);

  // What is to be written, if a step is over: `latest` is how things are at that time. `last`: the
  // host stops, and does not wait for the end of a step.
  store::Batch rows(Time now, const History::Sample& latest, bool last = false);

 private:
  struct Kept {
    Time at{};
    std::size_t bytes = 0;
  };
  struct Step {
    Retention retention;
    std::deque<Kept> rows = {};  // oldest first
    std::size_t bytes = 0;
    std::int64_t seen = -1;  // the number of the step for which rows were made last
    // As the rows say.
    std::unordered_map<std::string, Figures> figures = {};
  };

  void add_row(Step& step, Time now, const History::Sample& latest, store::Batch& batch);
  static void drop_old(Step& step, Time now, store::Batch& batch);
  Result<void> load(Step& step, const store::Store& store, History& history,
                    std::optional<Time> before);

  std::vector<Step> steps_;  // the finest first
};

}  // namespace muster::history
