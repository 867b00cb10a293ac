#include "host/history/history_keeper.hpp"

#include <algorithm>

#include "host/store/row.hpp"

namespace muster::history {
namespace {

using namespace std::chrono_literals;

json::array written(const Figures& figures) {
  return {figures.pending,  figures.requested, figures.running, figures.busy,
          figures.draining, figures.stopping,  figures.max,     figures.price_per_hour};
}

// Nothing if it is not whole.
std::optional<Figures> read_figures(const json::value& value) {
  const json::array* list = value.if_array();
  if (!list || list->size() != 8) return std::nullopt;
  std::array<double, 8> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!(*list)[i].is_number()) return std::nullopt;
    numbers[i] = (*list)[i].to_number<double>();
  }
  const auto whole = [&](std::size_t at) {
    return static_cast<std::int32_t>(std::clamp<double>(numbers[at], 0, INT32_MAX));
  };
  return Figures{whole(0), whole(1), whole(2), whole(3),
                 whole(4), whole(5), whole(6), static_cast<float>(numbers[7])};
}

std::int64_t number_of_step(Time at, std::chrono::seconds step) {
  return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch() / step;
}

std::size_t bytes_of(const json::object& figures) {
  return json::write(json::value(figures)).size();
}

}  // namespace

std::vector<Retention> HistoryKeeper::usual_retention() {
  return {{.step = 1min, .kept = 25h}, {.step = 15min, .kept = 8 * 24h}};
}

HistoryKeeper::HistoryKeeper(std::vector<Retention> retention) {
  for (const Retention& each : retention) steps_.push_back({.retention = each});
}

Result<void> HistoryKeeper::load(const store::Store& store, History& history) {
  // Coarse rows first, up to where finer ones begin.
  for (std::size_t at = steps_.size(); at-- > 0;) {
    std::optional<Time> before;
    for (std::size_t finer = 0; finer < at && !before; ++finer) {
      const store::Scan first{.table = &store::table_of<HistoryRow>,
                              .prefix = {std::int64_t{steps_[finer].retention.step.count()}},
                              .limit = 1};
      const auto read = store::read_rows<HistoryRow>(
          store, [&](HistoryRow row) { before = row.at; }, first);
      if (!read) return read.error();
    }
    if (const auto loaded = load(steps_[at], store, history, before); !loaded) return loaded;
  }
  return {};
}

Result<void> HistoryKeeper::load(Step& step, const store::Store& store, History& history,
                                 std::optional<Time> before) {
  const store::Scan scan{.table = &store::table_of<HistoryRow>,
                         .prefix = {std::int64_t{step.retention.step.count()}}};
  return store::read_rows<HistoryRow>(
      store,
      [&](HistoryRow row) {
        History::Sample changed;
        for (const auto& [pool, value] : row.figures)
          if (const auto figures = read_figures(value)) {
            changed.emplace_back(pool, *figures);
            step.figures[pool] = *figures;
          }
        if (!before || row.at < *before) history.restore(row.at, changed);
        step.rows.push_back({row.at, bytes_of(row.figures)});
        step.bytes += step.rows.back().bytes;
        step.seen = number_of_step(row.at, step.retention.step);
      },
      scan);
}

store::Batch HistoryKeeper::rows(Time now, const History::Sample& latest, bool last) {
  store::Batch batch;
  for (Step& step : steps_) {
    const auto number = number_of_step(now, step.retention.step);
    // A clock that was set back writes over nothing.
    if (!last && number == step.seen) continue;
    if (!step.rows.empty() && now <= step.rows.back().at) continue;
    step.seen = number;
    add_row(step, now, latest, batch);
    drop_old(step, now, batch);
  }
  return batch;
}

void HistoryKeeper::add_row(Step& step, Time now, const History::Sample& latest,
                            store::Batch& batch) {
  // Once a day all pools, so that one that never changes outlives the row that had it.
  const bool whole =
      step.rows.empty() || number_of_step(step.rows.back().at, 24h) != number_of_step(now, 24h);
  HistoryRow row{.step = step.retention.step.count(), .at = now, .figures = {}};
  std::unordered_map<std::string, Figures> figures;
  for (const auto& [pool, current] : latest) {
    const auto before = step.figures.find(pool);
    if (whole || before == step.figures.end() || !(before->second == current))
      row.figures[pool] = written(current);
    figures.emplace(pool, current);
  }
  step.figures = std::move(figures);
  if (row.figures.empty()) return;
  step.rows.push_back({now, bytes_of(row.figures)});
  step.bytes += step.rows.back().bytes;
  batch.push_back(store::put(row));
}

void HistoryKeeper::drop_old(Step& step, Time now, store::Batch& batch) {
  while (step.rows.size() > 1 && (step.rows.front().at < now - step.retention.kept ||
                                  step.bytes > step.retention.most_bytes)) {
    batch.push_back(
        store::erase<HistoryRow>({std::int64_t{step.retention.step.count()},
                                  std::int64_t{step.rows.front().at.time_since_epoch().count()}}));
    step.bytes -= step.rows.front().bytes;
    step.rows.pop_front();
  }
}

}  // namespace muster::history
