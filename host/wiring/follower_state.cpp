#include "host/wiring/follower_state.hpp"

#include <algorithm>
#include <array>

#include "host/auth/client_row.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/times.hpp"
#include "host/queue/rows.hpp"
#include "host/store/row.hpp"
#include "host/wiring/host_auth.hpp"

namespace muster {

using std::chrono::milliseconds;

postgres::FollowedTables followed_tables() {
  using store::table_of;
  static constexpr std::array<const store::Table*, 13> tables{
      &table_of<fleet::HostRow>,   &table_of<fleet::ApiPoolRow>,
      &table_of<fleet::PoolRow>,   &table_of<fleet::LaunchConfigRow>,
      &table_of<fleet::WorkerRow>, &table_of<fleet::WorkerFactsRow>,
      &table_of<fleet::HoldRow>,   &table_of<fleet::PoolErrorRow>,
      &table_of<fleet::TimesRow>,  &table_of<queue::RequestRow>,
      &table_of<queue::TeamRow>,   &table_of<queue::TeamPoolRow>,
      &table_of<auth::ClientRow>};
  return tables;
}

Result<void> WarmStore::commit(const store::Batch&) {
  return Error::unsupported("a copy takes no changes");
}

Result<void> WarmStore::scan(const store::Scan& scan, const store::RowSink& sink) const {
  const auto tables = followed_tables();
  const bool followed =
      std::ranges::find(tables, scan.table->name, &store::Table::name) != tables.end();
  return followed ? copy_.scan(scan, sink) : database_.scan(scan, sink);
}

Result<void> WarmStore::backup(const std::string& file) const {
  return database_.backup(file);
}

FollowerState::FollowerState(Parts parts)
    : parts_(std::move(parts)),
      replica_(std::make_unique<postgres::Replica>(parts_.database, followed_tables())),
      thread_([this] { run(); }) {}

FollowerState::~FollowerState() {
  end_thread();
}

void FollowerState::end_thread() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::optional<milliseconds> FollowerState::lag() const {
  const std::lock_guard guard(mutex_);
  if (!complete_) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(parts_.clock->steady() - *complete_);
}

std::string FollowerState::problem() const {
  const std::lock_guard guard(mutex_);
  return problem_;
}

std::unique_ptr<postgres::Replica> FollowerState::finish() {
  end_thread();
  const auto followed = follow();
  {
    const std::lock_guard guard(mutex_);
    complete_.reset();
    problem_.clear();
  }
  if (followed && replica_->loaded()) return std::move(replica_);
  if (!followed)
    parts_.log.info("the copy of the state is not used", {{"reason", followed.error().message}});
  return nullptr;
}

void FollowerState::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const milliseconds pause = step();
    lock.lock();
    changed_.wait_for(lock, pause, [&] { return stopping_; });
  }
}

milliseconds FollowerState::step() {
  const SteadyTime asked = parts_.clock->steady();
  const auto followed = follow();
  if (followed) {
    complete_as_of(asked);
  } else if (followed.error().code == postgres::Replica::gap && asked >= next_load_) {
    load();
  }
  return parts_.look_every;
}

Result<void> FollowerState::follow() {
  for (;;) {
    const auto followed = replica_->follow();
    if (!followed) return followed.error();
    if (*followed != postgres::Replica::Followed::more) return {};
  }
}

void FollowerState::load() {
  const SteadyTime began = parts_.clock->steady();
  const auto loaded = replica_->load();
  const SteadyTime ended = parts_.clock->steady();
  next_load_ = ended + std::max<SteadyTime::duration>(parts_.load_every, 9 * (ended - began));
  if (!loaded)
    return parts_.log.debug("the state cannot be copied yet", {{"error", loaded.error().message}});
  complete_as_of(began);
}

void FollowerState::complete_as_of(SteadyTime asked) {
  const auto fits = HostAuth::check_key(replica_->store(), parts_.data_directory);
  const std::lock_guard guard(mutex_);
  complete_ = asked;
  problem_ = fits ? "" : fits.error().message;
}

}  // namespace muster
