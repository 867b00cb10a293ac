#include "host/demand/combine.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::demand {
namespace {

bool is_stale(const Report& report, const Count& count, Time now) {
  return report.stale_after && now - count.at > *report.stale_after;
}

void add_note(fleet::PoolDemand& demand, const std::string& note) {
  demand.note += (demand.note.empty() ? "" : "; ") + note;
}

std::string because(const std::string& error) {
  return error.empty() ? "" : ": " + error;
}

void add(fleet::PoolDemand& demand, const Count& count) {
  demand.pending = std::min(demand.pending + count.pending, max_pending);
  if (count.claimed)
    demand.claimed = std::min(demand.claimed.value_or(0) + *count.claimed, max_pending);
}

}  // namespace

fleet::Demand combine(const std::vector<Report>& reports, const std::vector<WorkerPoolId>& pools,
                      Time now) {
  fleet::Demand demand;
  for (const Report& report : reports) {
    for (const WorkerPoolId& pool : pools) {
      const auto error = report.pool_errors.find(pool);
      const std::string& why = error == report.pool_errors.end() ? report.error : error->second;
      const auto count = report.counts.find(pool);
      if (count == report.counts.end()) {
        if (!why.empty())
          add_note(demand[pool], report.source + " has not answered yet" + because(why));
      } else if (is_stale(report, count->second, now)) {
        add_note(demand[pool],
                 report.source + " is stale since " + format_time(count->second.at) + because(why));
      } else if (count->second.pending > 0 || count->second.claimed) {
        add(demand[pool], count->second);
      }
    }
  }
  return demand;
}

std::optional<Time> next_stale(const std::vector<Report>& reports, Time now) {
  std::optional<Time> next;
  for (const Report& report : reports) {
    if (!report.stale_after) continue;
    for (const auto& [pool, count] : report.counts) {
      const Time at = count.at + *report.stale_after + std::chrono::milliseconds(1);
      if (at > now && (!next || at < *next)) next = at;
    }
  }
  return next;
}

bool same(const fleet::Demand& a, const fleet::Demand& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.pending == y.second.pending &&
           x.second.claimed == y.second.claimed && x.second.note == y.second.note;
  });
}

void forgive_gaps(Report& report, TimeWatch& watch, Time now) {
  if (!report.stale_after) return;
  for (auto& [pool, count] : report.counts)
    count.at = std::min(now, watch.deadline(count.at, *report.stale_after) - *report.stale_after);
}

}  // namespace muster::demand
