// The parts of Fleet that its own files share.
#pragma once

#include <algorithm>

#include "host/fleet/fleet.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {

struct Fleet::PendingCall {
  Index pool = no_index, provider = no_index, launch_config = no_index;
  std::vector<std::int64_t> workers = {};  // by number: a slot may have another tenant by then
  json::value bid = {};
  Time began{};
};

// The only way to change a worker: takes it out of all sums, and puts it back as it is at the end,
// with its timer set and its row due. Never two at once for the same worker.
class Fleet::WorkerEdit {
 public:
  WorkerEdit(Fleet& fleet, Index index) : fleet_(fleet), index_(index) {
    fleet_.count(fleet_.workers_[index], -1);
  }
  ~WorkerEdit() {
    Worker& worker = fleet_.workers_[index_];
    fleet_.count(worker, +1);
    worker.last_modified = fleet_.now_.wall;
    fleet_.set_timer(index_);
    if (worker.dirty) return;
    worker.dirty = true;
    fleet_.dirty_workers_.push_back(index_);
  }
  WorkerEdit(const WorkerEdit&) = delete;
  WorkerEdit& operator=(const WorkerEdit&) = delete;

  Worker* operator->() { return &fleet_.workers_[index_]; }
  Worker& operator*() { return fleet_.workers_[index_]; }

 private:
  Fleet& fleet_;
  Index index_;
};

template <class Ask>
CallId Fleet::ask(Ask question, PendingCall open) {
  const CallId id = next_call_++;
  open.began = now_.wall;
  open_.emplace(id, std::move(open));
  outcome_.questions.push_back({id, std::move(question)});
  return id;
}

// When a strategy that failed, or an auction that came to nothing, is tried again.
inline constexpr auto try_strategy_again = std::chrono::seconds(15);

// Names a decision's inputs: 16 hexadecimal digits of SHA-256.
std::string short_digest(const std::string& bytes);

// One of its problems: what is missing there is not gone.
bool hides(const Listing& listing, const std::string& group, const LaunchConfig& launch_config);

inline bool is_alive(const Worker& worker) {
  return worker.number != 0 && worker.state != WorkerState::stopped;
}

// An instance is known, which can be terminated.
inline bool has_instance(const Worker& worker) {
  return !worker.worker_id.empty();
}

}  // namespace muster::fleet
