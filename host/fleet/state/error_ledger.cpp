#include "host/fleet/state/error_ledger.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>

namespace muster::fleet {
namespace {

// So many names are remembered before those that have no report on their account are forgotten.
constexpr std::size_t many_names = 10'000;
constexpr std::size_t bytes_of_a_row = 200;  // without its texts

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

Error too_often(const std::string& who, int at_once, std::chrono::milliseconds each) {
  return Error::throttle(who + " has reported too many errors; it may report " +
                         std::to_string(at_once) + " at once and then one every " +
                         std::to_string(each.count() / 1000) + " seconds. This one is not kept")
      .hold_for(std::chrono::ceil<std::chrono::seconds>(each));
}

}  // namespace

double ErrorLedger::Allowance::spent_at(Time now, std::chrono::milliseconds each) const {
  const auto passed = std::max<std::int64_t>(0, (now - at).count());
  return std::max(0.0, spent - static_cast<double>(passed) / static_cast<double>(each.count()));
}

void ErrorLedger::make_room(Allowances& allowances, Time now, std::chrono::milliseconds each) {
  if (allowances.size() < many_names) return;
  std::erase_if(allowances,
                [&](const auto& entry) { return entry.second.spent_at(now, each) == 0; });
}

Result<void> ErrorLedger::admit(const WorkerName& worker, const json::object& extra, Time now) {
  if (const std::size_t bytes = json::write(extra).size(); bytes > limits_.extra_bytes)
    return Error::invalid("`extra` has " + std::to_string(bytes) +
                          " bytes as JSON, and a report may have " +
                          std::to_string(limits_.extra_bytes) +
                          "; put what is long into a log, and its address here");
  const std::string& pool = worker.worker_pool_id.str();
  const std::string name = worker.worker_group.str() + "/" + worker.worker_id.str();
  make_room(of_workers_, now, limits_.each_of_worker);
  make_room(of_pools_, now, limits_.each_of_pool);
  Allowance& own = of_workers_[pool + " " + name];
  Allowance& shared = of_pools_[pool];
  const double own_spent = own.spent_at(now, limits_.each_of_worker);
  const double shared_spent = shared.spent_at(now, limits_.each_of_pool);
  if (own_spent + 1 > limits_.at_once_of_worker)
    return too_often("the worker " + name, limits_.at_once_of_worker, limits_.each_of_worker);
  if (shared_spent + 1 > limits_.at_once_of_pool)
    return too_often("the worker pool " + pool, limits_.at_once_of_pool, limits_.each_of_pool);
  own = {own_spent + 1, now};
  shared = {shared_spent + 1, now};
  return {};
}

std::size_t ErrorLedger::bytes_of(const PoolErrorRow& row) {
  return bytes_of_a_row + row.kind.size() + row.title.size() + row.description.size() +
         json::write(row.extra).size();
}

std::size_t ErrorLedger::worker_of(const PoolErrorRow& row) {
  const std::string group = text_in(row.extra, "workerGroup"), id = text_in(row.extra, "workerId");
  return id.empty() ? 0 : std::hash<std::string>()(group + "/" + id) | 1;
}

ErrorLedger::Dropped ErrorLedger::add(const PoolErrorRow& row) {
  Kept& kept = kept_[row.worker_pool_id];
  const Entry entry{row.number, row.at, bytes_of(row), worker_of(row)};
  Dropped dropped;
  const auto drop = [&](const auto& at) {
    dropped.push_back(at->number);
    kept.bytes -= at->bytes;
    kept.entries.erase(at);
  };
  // A worker that reports much takes the place of its own reports before that of others.
  const auto is_own = [&](const Entry& each) { return each.worker == entry.worker; };
  if (entry.worker != 0 && static_cast<std::size_t>(std::ranges::count_if(kept.entries, is_own)) >=
                               limits_.kept_of_worker)
    drop(std::ranges::find_if(kept.entries, is_own));
  while (!kept.entries.empty() && (kept.entries.size() >= limits_.kept_of_pool ||
                                   kept.bytes + entry.bytes > limits_.bytes_of_pool))
    drop(kept.entries.begin());
  kept.bytes += entry.bytes;
  kept.entries.push_back(entry);
  return dropped;
}

void ErrorLedger::forget_before(Time bound) {
  for (auto at = kept_.begin(); at != kept_.end();) {
    Kept& kept = at->second;
    std::erase_if(kept.entries, [&](const Entry& each) {
      if (each.at >= bound) return false;
      kept.bytes -= each.bytes;
      return true;
    });
    at = kept.entries.empty() ? kept_.erase(at) : std::next(at);
  }
}

}  // namespace muster::fleet
