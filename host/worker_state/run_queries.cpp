// What is read from the table of runs.
#include <algorithm>
#include <charconv>

#include "host/store/row.hpp"
#include "host/worker_state/run_table.hpp"

namespace muster::worker_state {
namespace {

Counts sum(Counts counts, const ForgottenRunsRow& forgotten) {
  counts.completed += forgotten.completed;
  counts.failed += forgotten.failed;
  counts.exception += forgotten.exception;
  return counts;
}

// "<started in ms>/<taskId>/<runId>" of the last one on a page.
struct Position {
  Time started{};
  PackedTaskId task;
  std::uint16_t run_id = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<Position> parse_position(std::string_view text) {
  const std::size_t first = text.find('/'), last = text.rfind('/');
  std::int64_t started = 0;
  Position position;
  if (first != std::string_view::npos && first < last &&
      read_number(text.substr(0, first), started) &&
      read_number(text.substr(last + 1), position.run_id))
    if (const auto task = PackedTaskId::pack(text.substr(first + 1, last - first - 1))) {
      position.started = Time(std::chrono::milliseconds(started));
      position.task = *task;
      return position;
    }
  return Error::invalid("`after` is what `next` of the page before said");
}

std::string to_text(const TaskRunRow& row) {
  return std::to_string(row.started.time_since_epoch().count()) + "/" + row.task_id + "/" +
         std::to_string(row.run_id);
}

}  // namespace

TaskRunRow RunTable::row_of(const Run& run) const {
  const Worker& worker = workers_[run.worker];
  return {.task_id = run.task.text(),
          .run_id = run.run_id,
          .worker_pool_id = worker.pool->forgotten.worker_pool_id,
          .worker_group = WorkerGroup(worker.group),
          .worker_id = WorkerId(worker.id),
          .launch_config_id = worker.launch_config ? worker.launch_config->forgotten.name : "",
          .worker_configuration = worker.configuration ? worker.configuration->forgotten.name : "",
          .outcome = run.outcome,
          .reason = run.reason,
          .started = run.started,
          .resolved = store::known_time(run.resolved)};
}

ResolvedRun RunTable::resolved_of(const Run& run) const {
  TaskRunRow row = row_of(run);
  return {.task_id = std::move(row.task_id),
          .run_id = row.run_id,
          .worker_pool_id = std::move(row.worker_pool_id),
          .worker_group = std::move(row.worker_group),
          .worker_id = std::move(row.worker_id),
          .launch_config_id = std::move(row.launch_config_id),
          .worker_configuration = std::move(row.worker_configuration),
          .outcome = run.outcome,
          .reason = run.reason,
          .started = run.started,
          .resolved = run.resolved};
}

Counts RunTable::counts(Scope scope, const WorkerPoolId& pool, std::string_view name) const {
  if (scope != Scope::worker) {
    const Group* group = find_group(scope, pool.str(), name);
    return group ? sum(group->kept, group->forgotten) : Counts();
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {};
  const auto found = activity({pool, WorkerGroup(std::string(name.substr(0, slash))),
                               WorkerId(std::string(name.substr(slash + 1)))});
  return found ? found->counts : Counts();
}

Counts RunTable::all_counts() const {
  Counts all;
  for (const auto& [key, group] : groups_) {
    if (std::get<0>(key) != Scope::pool) continue;
    const Counts counts = sum(group.kept, group.forgotten);
    all.running += counts.running;
    all.completed += counts.completed;
    all.failed += counts.failed;
    all.exception += counts.exception;
  }
  return all;
}

WorkerActivity RunTable::activity_of(const Worker& worker) const {
  WorkerActivity activity;
  activity.first_claim = runs_[worker.runs.front()].started;
  for (const Slot at : worker.runs) {
    const Run& run = runs_[at];
    activity.last_active = std::max({activity.last_active, run.started, run.resolved});
    ++activity.counts.of(run.outcome);
  }
  activity.running = activity.counts.running;
  const std::size_t first = worker.runs.size() - std::min(most_recent, worker.runs.size());
  for (std::size_t i = first; i < worker.runs.size(); ++i)
    activity.recent.push_back(row_of(runs_[worker.runs[i]]));
  if (!worker.forgotten) return activity;
  activity.counts = sum(activity.counts, *worker.forgotten);
  activity.first_claim =
      std::min(activity.first_claim, worker.forgotten->first_claim.value_or(activity.first_claim));
  return activity;
}

std::optional<WorkerActivity> RunTable::activity(const WorkerKey& key) const {
  const Slot at = find_worker(key);
  if (at == no_slot) return std::nullopt;
  return activity_of(workers_[at]);
}

Result<RunPage> RunTable::page(const RunFilter& filter, const std::string& after,
                               std::size_t limit) const {
  std::optional<Position> behind;
  if (!after.empty()) {
    const auto parsed = parse_position(after);
    if (!parsed) return parsed.error();
    behind = *parsed;
  }
  const auto fits = [](const std::string& wanted, const std::string& text) {
    return wanted.empty() || wanted == text;
  };
  const auto name_of_group = [](const Group* group) -> const std::string& {
    static const std::string none;
    return group ? group->forgotten.name : none;
  };
  std::vector<Slot> chosen;
  for (const Worker& worker : workers_) {
    if (!worker.pool || !fits(filter.worker_pool_id, worker.pool->forgotten.worker_pool_id.str()) ||
        !fits(filter.worker_group, worker.group) || !fits(filter.worker_id, worker.id) ||
        !fits(filter.launch_config_id, name_of_group(worker.launch_config)) ||
        !fits(filter.worker_configuration, name_of_group(worker.configuration)))
      continue;
    for (const Slot at : worker.runs) {
      const Run& run = runs_[at];
      if (behind && !(Position{run.started, run.task, run.run_id} < *behind)) break;
      if (!filter.outcome || run.outcome == *filter.outcome) chosen.push_back(at);
    }
  }
  const std::size_t shown = std::min(limit, chosen.size());
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(shown),
                    chosen.end(), [this](Slot a, Slot b) { return began_before(b, a); });
  RunPage page;
  for (std::size_t i = 0; i < shown; ++i) page.runs.push_back(row_of(runs_[chosen[i]]));
  if (shown > 0 && shown < chosen.size()) page.next = to_text(page.runs.back());
  return page;
}

std::vector<TaskRunRow> RunTable::running(const WorkerPoolId& pool) const {
  std::vector<TaskRunRow> running;
  for (const Worker& worker : workers_)
    if (worker.pool && worker.pool->forgotten.worker_pool_id == pool)
      for (const Slot at : worker.runs)
        if (runs_[at].outcome == Outcome::running) running.push_back(row_of(runs_[at]));
  return running;
}

}  // namespace muster::worker_state
