// The rows of task outcomes.
#include <muster/enum_name.hpp>

#include "host/fleet/outcomes/task_outcomes.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using outcome_health::PoolOutcomes;
using outcome_health::SubjectKey;
using outcome_health::SubjectKind;

constexpr auto written_every = 1min;
constexpr const char* of_pool = "pool";  // the kind of the row of the pool itself

OutcomeHealthRow row_of(const WorkerPoolId& id, const PoolOutcomes& pool) {
  return {.worker_pool_id = id, .kind = of_pool, .subject = "", .state = pool.to_json()};
}

OutcomeHealthRow row_of(const WorkerPoolId& id, const SubjectKey& key,
                        const outcome_health::Subject& subject) {
  return {.worker_pool_id = id,
          .kind = name_of(key.kind),
          .subject = key.name,
          .state = PoolOutcomes::to_json(subject)};
}

std::optional<SubjectKind> kind_from(const std::string& name) {
  for (const SubjectKind kind :
       {SubjectKind::worker, SubjectKind::image, SubjectKind::launch_config})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

}  // namespace

void TaskOutcomes::prune() {
  for (auto at = pools_outcomes_.begin(); at != pools_outcomes_.end();) {
    auto& [id, pool] = *at;
    pool.forget_stale(clock_.now());
    if (registry_.find_pool_index(id) != no_index) {
      ++at;
      continue;
    }
    std::set<SubjectKey> gone = pool.take_changed();
    for (const auto& [key, subject] : pool.subjects()) gone.insert(key);
    outbox_.change(store::erase<OutcomeHealthRow>({id.str(), of_pool, ""}));
    for (const SubjectKey& key : gone)
      outbox_.change(store::erase<OutcomeHealthRow>({id.str(), name_of(key.kind), key.name}));
    at = pools_outcomes_.erase(at);
  }
}

void TaskOutcomes::write_rows(store::Batch& out) {
  const bool due = clock_.now() >= written_ + written_every || clock_.now() < written_;
  if (!decided_ && !due) return;
  decided_ = false;
  written_ = clock_.now();
  for (auto& [id, pool] : pools_outcomes_) {
    if (!pool.has_changed()) continue;
    out.emplace_back(store::put(row_of(id, pool)));
    for (const SubjectKey& key : pool.take_changed()) {
      if (const outcome_health::Subject* subject = pool.find(key))
        out.emplace_back(store::put(row_of(id, key, *subject)));
      else
        out.emplace_back(store::erase<OutcomeHealthRow>({id.str(), name_of(key.kind), key.name}));
    }
  }
}

void TaskOutcomes::write_everything(store::Batch& out) const {
  for (const auto& [id, pool] : pools_outcomes_) {
    out.emplace_back(store::put(row_of(id, pool)));
    for (const auto& [key, subject] : pool.subjects())
      out.emplace_back(store::put(row_of(id, key, subject)));
  }
}

Result<void> TaskOutcomes::load(const store::Store& store) {
  auto read = store::read_rows<OutcomeHealthRow>(store, [&](OutcomeHealthRow row) -> Result<void> {
    if (row.kind == of_pool) {
      pools_outcomes_[row.worker_pool_id].restore(row.state);
      return {};
    }
    const auto kind = kind_from(row.kind);
    if (!kind) return Error::invalid("its kind " + row.kind + " is not known");
    pools_outcomes_[row.worker_pool_id].restore({*kind, row.subject}, row.state);
    return {};
  });
  // What is no longer launched until then is to be looked at again then.
  for (const auto& [id, pool] : pools_outcomes_)
    if (const Index index = registry_.find_pool_index(id); index != no_index)
      for (const auto& [key, subject] : pool.subjects())
        if (key.kind != SubjectKind::worker && subject.in_quarantine(clock_.now()))
          agenda_.set_timer(index, subject.quarantined_until);
  return read;
}

}  // namespace muster::fleet
