// From the store back to the state, and the other way round.
#include <algorithm>
#include <charconv>
#include <map>

#include "host/fleet/fleet.hpp"
#include "host/fleet/fleet_parts.hpp"
#include "host/fleet/workers/worker_rows.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

constexpr const char* heard_until = "heardUntil";  // milliseconds since 1970
// That a clock which was wrong can have said.
constexpr auto farthest_future = std::chrono::hours(24 * 366 * 100);

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<std::unique_ptr<Fleet>> Fleet::load(const store::Store& store, Settings settings,
                                           const std::string& host_id, Now now) {
  store.set_aside().clear();
  std::map<std::string, std::string> host;
  auto read =
      store::read_rows<HostRow>(store, [&](const HostRow& row) { host[row.name] = row.value; });
  if (!read) return read.error();
  // As another host it would take all instances for another's, and launch them again.
  if (store.set_aside().size() > 0)
    return Error::internal(
        "a row of the table host cannot be read: " + store.set_aside().list().front().reason +
        "; without it nobody knows which instances are this host's. Put back a "
        "backup, or write the row anew with sqlite3");
  settings.list_before_launches |= host[HostRow::lists_awaited] == "yes";
  // A store that was set back to an older copy has an old epoch, and providers have seen newer
  // ones: the clock is ahead of any of them.
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.wall.time_since_epoch()).count();
  // If the store lost changes, epochs of the last hour may have been used that it does not know:
  // several starts in a second, or a clock that was set back.
  const std::int64_t unknown = settings.list_before_launches ? 3600 : 0;
  // Where hosts share a store the lead's epoch counts, and no host's own clock.
  const std::int64_t by_clock = settings.least_epoch > 0 ? settings.least_epoch : seconds;
  const std::int64_t epoch = std::max(number_in(host["epoch"]) + 1, by_clock + unknown);
  auto fleet = std::make_unique<Fleet>(
      std::move(settings), host.contains("hostId") ? host["hostId"] : host_id, epoch, now);
  if (const auto numbers = fleet->parts_->outbox.load(store, number_in(host["nextNumber"]),
                                                      number_in(host["nextEvent"]));
      !numbers)
    return numbers.error();
  if (host.contains(heard_until)) {
    const Time noted{std::chrono::milliseconds(number_in(host[heard_until]))};
    fleet->parts_->heard_noted = std::clamp(noted, Time{}, now.wall + farthest_future);
    fleet->parts_->clock.heard_before_start(fleet->parts_->heard_noted);
  }
  if (const auto parts = fleet->load_parts(store); !parts) return parts.error();
  fleet->skip_known_numbers();
  fleet->clock_was_set({});  // it may have been set while no host ran
  for (Index pool = 0; pool < fleet->pools().size(); ++pool) fleet->parts_->agenda.wake(pool, true);
  return fleet;
}

Result<void> Fleet::load_parts(const store::Store& store) {
  Parts& parts = *parts_;
  if (const auto read = parts.registry.load(store); !read) return read;
  for (const LaunchConfigState& launch_config : parts.registry.launch_configs())
    if (launch_config.paused_until != Time{})
      parts.agenda.set_timer(launch_config.pool, launch_config.paused_until);
  if (const auto read = parts.pool_configuration.load(store); !read) return read;
  if (const auto read = parts.measurements.load(store); !read) return read;
  if (const auto read = parts.queue_link.load_reported(store); !read) return read;
  if (const auto read = load_workers(store); !read) return read;
  if (const auto read = parts.holds.load(store); !read) return read;
  if (const auto read = parts.task_outcomes.load(store); !read) return read;
  return parts.queue_link.load_queue(store);
}

// A number is given once, also if the row that says which is next was lost.
void Fleet::skip_known_numbers() {
  std::int64_t next = parts_->registry.protected_rows().next_number();
  for (const Worker& worker : workers()) next = std::max(next, worker.number + 1);
  for (const queue::Request& request : queue().requests())
    next = std::max(next, request.number + 1);
  parts_->outbox.skip_numbers_below(next);
}

Result<void> Fleet::load_workers(const store::Store& store) {
  Registry& registry = parts_->registry;
  std::map<std::pair<Index, LaunchConfigId>, Index> launch_configs;
  for (Index at = 0; at < registry.launch_configs().size(); ++at)
    launch_configs.emplace(
        std::pair(registry.launch_configs()[at].pool,
                  registry.launch_configs()[at].spec->launch_config.launch_config_id),
        at);
  auto read = store::read_rows<WorkerRow>(store, [&](WorkerRow row) -> Result<void> {
    const Index pool = registry.find_pool_index(row.worker_pool_id);
    const auto found = launch_configs.find({pool, row.launch_config_id});
    if (pool == no_index || found == launch_configs.end())
      return Error::internal("its launch configuration " + row.launch_config_id.str() +
                             " of worker pool " + row.worker_pool_id.str() + " is not there");
    LaunchConfigState& launch_config = registry.launch_configs()[found->second];
    const std::int64_t tasks = row.busy;
    const Index group =
        row.worker_id.empty() ? no_index : registry.index_of_group(row.worker_group.str());
    Worker worker = worker_from(std::move(row));
    worker.pool = pool;
    worker.launch_config = found->second;
    worker.provider = launch_config.provider;
    worker.group = group;
    worker.busy = parts_->queue_link.capacity_at_work(worker, tasks);
    worker.claimed = worker.busy > 0 || worker.idle_since != Time{};
    // They stay outdated until their documents are judged again.
    if (worker.drain == Drain::outdated && worker.state == WorkerState::running)
      launch_config.outdated = worker.reason;
    const bool boots = worker.state == WorkerState::requested && has_instance(worker);
    const Index index = parts_->table.restore(std::move(worker));
    if (boots) launch_config.unregistered.push_back(index);
    return {};
  });
  registry.protect(ProtectedRows(store.set_aside()));
  return read;
}

void Fleet::change_row(store::Change change, const store::SetAside& left) {
  parts_->outbox.change(std::move(change));
  parts_->registry.protect(ProtectedRows(left));
}

HostRow Fleet::heard_row() const {
  return {heard_until, std::to_string(parts_->heard_noted.time_since_epoch().count())};
}

store::Batch Fleet::everything() const {
  store::Batch rows;
  rows.emplace_back(store::put(HostRow{"hostId", host_id()}));
  rows.emplace_back(store::put(HostRow{"epoch", std::to_string(epoch())}));
  if (parts_->heard_noted != Time{}) rows.emplace_back(store::put(heard_row()));
  if (parts_->reconciliation.awaits_lists())
    rows.emplace_back(store::put(HostRow{HostRow::lists_awaited, "yes"}));
  parts_->outbox.write_numbers(rows);
  parts_->pool_configuration.write_everything(rows);
  parts_->registry.write_everything(rows);
  parts_->measurements.write_everything(rows);
  parts_->table.write_everything(rows);
  parts_->holds.write_everything(rows);
  parts_->task_outcomes.write_everything(rows);
  parts_->queue_link.write_everything(rows);
  return rows;
}

}  // namespace muster::fleet
