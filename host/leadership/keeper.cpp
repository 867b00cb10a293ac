#include "host/leadership/keeper.hpp"

#include <algorithm>

namespace muster::leadership {

using std::chrono::milliseconds;

std::string_view to_string(Role role) {
  switch (role) {
    case Role::following:
      return "following";
    case Role::leading:
      return "leading";
    case Role::lost:
      return "lost";
    case Role::neither:
      break;
  }
  return "neither";
}

Keeper::Keeper(Parts parts)
    : parts_(std::move(parts)),
      competes_from_(parts_.clock() + parts_.stand_back),
      thread_([this] { run(); }) {}

Keeper::~Keeper() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

View Keeper::view() const {
  const std::lock_guard guard(mutex_);
  return view_;
}

bool Keeper::may_act() const {
  return parts_.clock().count() < relied_until_.load();
}

Result<std::vector<HostEntry>> Keeper::hosts() {
  const std::lock_guard guard(table_mutex_);
  return parts_.table->hosts();
}

void Keeper::stop_acting(const std::string& why) {
  relied_until_ = 0;
  set_role(Role::lost, why);
}

void Keeper::release() {
  std::int64_t epoch = 0;
  {
    const std::lock_guard guard(mutex_);
    epoch = view_.lead.epoch;
  }
  const std::lock_guard guard(table_mutex_);
  if (const auto released = parts_.table->release(epoch); !released)
    parts_.log.warning("the lead could not be given back; it ends by itself",
                       {{"error", released.error().message}});
}

void Keeper::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && view_.role != Role::lost) {
    lock.unlock();
    const milliseconds pause = step();
    lock.lock();
    if (view_.role == Role::lost) break;
    changed_.wait_for(lock, std::max(pause, milliseconds(1)), [&] { return stopping_; });
  }
}

milliseconds Keeper::step() {
  return holding_.holds ? keep() : follow();
}

milliseconds Keeper::follow() {
  if (parts_.describe) parts_.describe(parts_.self);
  const std::lock_guard guard(table_mutex_);
  const auto lead = parts_.table->look(parts_.self);
  if (!lead) {
    set_role(Role::neither, lead.error().message);
    return parts_.times.look_every();
  }
  const bool free = should_ask(lead->left);
  {
    const std::lock_guard lock(mutex_);
    view_.lead = *lead;
  }
  const std::string& problem = parts_.self.problem;
  if (!free)
    set_role(Role::following, problem.empty() ? "" : "this host cannot lead: " + problem);
  else
    set_role(Role::neither,
             "no host leads" + (problem.empty() ? "" : ", and this one cannot: " + problem));
  if (!free) return next_look(parts_.times, lead->left);
  if (!problem.empty() || parts_.clock() < competes_from_) return parts_.times.look_every();
  const BootTime asked = parts_.clock();
  const auto epoch = parts_.table->acquire(parts_.self, parts_.times.length);
  if (!epoch) {
    set_role(Role::neither, epoch.error().message);
    return parts_.times.look_every();
  }
  if (!*epoch) return milliseconds(1);  // another host was quicker
  epoch_ = **epoch;
  holding_ = renewed(parts_.times, asked);
  relied_until_ = holding_.relied_until.count();
  {
    const std::lock_guard lock(mutex_);
    view_.lead = {.epoch = epoch_,
                  .holder = parts_.self.name,
                  .address = parts_.self.address,
                  .left = parts_.times.length,
                  .number = lead->number};
  }
  set_role(Role::leading);
  return parts_.times.renew_every();
}

milliseconds Keeper::keep() {
  const BootTime asked = parts_.clock();
  if (!is_over(holding_, asked)) {
    const std::lock_guard guard(table_mutex_);
    const auto granted = parts_.table->renew(epoch_, parts_.times.length);
    if (granted && !*granted) {
      relied_until_ = 0;
      set_role(Role::lost, "another host leads");
      return {};
    }
    if (granted) {
      if (parts_.describe) parts_.describe(parts_.self);
      (void)parts_.table->look(parts_.self);  // that this host is there
    } else
      parts_.log.warning("the lead could not be renewed", {{"error", granted.error().message}});
    holding_ = granted ? renewed(parts_.times, asked)
                       : not_renewed(parts_.times, holding_, parts_.clock());
  }
  const BootTime now = parts_.clock();
  if (is_over(holding_, now)) {
    relied_until_ = 0;
    set_role(Role::lost, "the lead could not be renewed in time");
    return {};
  }
  const std::lock_guard lock(mutex_);
  if (view_.role == Role::leading) relied_until_ = holding_.relied_until.count();
  return std::min(holding_.next_renewal, holding_.relied_until) - now;
}

void Keeper::set_role(Role role, const std::string& problem) {
  bool same = false;
  {
    const std::lock_guard lock(mutex_);
    if (view_.role == Role::lost) return;  // for good
    same = view_.role == role;
    if (same && view_.problem == problem) return;
    view_.role = role;
    view_.problem = problem;
    if (!same) changed_.notify_all();
  }
  parts_.log.info("this host is now " + std::string(to_string(role)), {{"reason", problem}});
  if (!same && parts_.role_changed) parts_.role_changed();
}

}  // namespace muster::leadership
