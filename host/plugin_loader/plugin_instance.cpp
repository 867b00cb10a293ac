#include "host/plugin_loader/plugin_instance.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace muster::plugin_loader {
namespace {

using Steady = std::chrono::steady_clock;

// The caller's context, but with no more time than the instance allows.
class CappedContext final : public Context {
 public:
  CappedContext(const Context& inner, std::chrono::milliseconds cap)
      : inner_(inner), end_(Steady::now() + cap) {}

  bool cancelled() const noexcept override { return inner_.cancelled(); }
  std::chrono::milliseconds time_left() const noexcept override {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Steady::now());
    return std::max(std::min(left, inner_.time_left()), std::chrono::milliseconds(0));
  }
  Time now() const noexcept override { return inner_.now(); }
  void log(LogLevel level, std::string_view line) const noexcept override {
    inner_.log(level, line);
  }

 private:
  const Context& inner_;
  const Steady::time_point end_;
};

bool is_lost(Incident incident) {
  return incident == Incident::stuck || incident == Incident::ended;
}

}  // namespace

PluginInstance::PluginInstance(std::string instance_id, std::string plugin_id,
                               SupervisionPolicy policy, std::shared_ptr<const Clock> clock,
                               const Log& log, std::shared_ptr<InstanceRecord> record,
                               std::shared_ptr<Retirement> retirement,
                               std::function<void()> state_changed)
    : instance_id_(std::move(instance_id)),
      plugin_id_(std::move(plugin_id)),
      policy_(policy),
      clock_(std::move(clock)),
      log_(log.with({{"plugin", plugin_id_}, {"instance", instance_id_}})),
      record_(std::move(record)),
      retirement_(std::move(retirement)),
      state_changed_(std::move(state_changed)),
      supervision_(policy),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      supervisor_([this] { supervise(); }) {}

PluginInstance::~PluginInstance() {
  stop();
}

void PluginInstance::stop() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    backend_.reset();
  }
  changed_.notify_all();
  wake_supervisor();
  if (supervisor_.joinable()) supervisor_.join();
}

Result<PluginInstance::Running> PluginInstance::running_by(SteadyTime deadline,
                                                           const Context& context) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!quarantined_.empty())
      return Error::transient("the plugin " + plugin_id_ + " is quarantined: " + quarantined_ +
                              "; install a corrected version or run: muster plugin rollback " +
                              plugin_id_);
    if (leaving_) return Error::cancelled("the host is stopping");
    if (backend_) return Running{backend_, recipe_.isolation};
    const auto now = Steady::now();
    if (now >= deadline || context.cancelled())
      return Error::transient("the plugin " + plugin_id_ + " is being restarted" +
                              (last_failure_.empty() ? "" : " after: " + last_failure_));
    changed_.wait_until(lock, std::min(deadline, now + cancel_poll));
  }
}

std::chrono::milliseconds PluginInstance::deadline() const {
  const std::lock_guard lock(mutex_);
  return recipe_.deadline;
}

Result<std::string> PluginInstance::call(std::string_view method, std::string_view request,
                                         const Context& caller) {
  const CappedContext context(caller, deadline());
  const auto running = running_by(Steady::now() + context.time_left(), context);
  if (!running) return running.error();
  const auto began = Steady::now();
  Outcome outcome = running->backend->call(method, request, context);
  record_->add_call(method, Steady::now() - began, !outcome.result);
  const std::string failure = outcome.result ? std::string() : outcome.result.error().message;
  {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (!outcome.result) ++failed_calls_;
    note_outcome(running->backend, outcome.incident, failure);
  }
  return std::move(outcome.result);
}

void PluginInstance::answer_was_wrong(std::string_view method, const std::string& why) noexcept
    try {
  const std::lock_guard lock(mutex_);
  ++failed_calls_;
  last_failure_ = std::string(method) + ": " + why;
  if (backend_) react(supervision_.after_wrong_answer());
} catch (...) {  // out of memory: the caller has the error all the same
}

void PluginInstance::note_outcome(const std::shared_ptr<Backend>& backend, Incident incident,
                                  const std::string& what) {
  if (incident != Incident::none) last_failure_ = what;
  if (backend != backend_) return;  // an older version, or lost already: noted before
  const Reaction reaction = supervision_.after_call(incident, recipe_.isolation, clock_->steady());
  if (is_lost(incident)) {
    backend_.reset();
    note(LogLevel::warning, "the instance is lost", what);
    state_changed_();
  }
  react(reaction);
}

void PluginInstance::react(const Reaction& reaction) {
  switch (reaction.kind) {
    case Reaction::Kind::go_on:
      return;
    case Reaction::Kind::quarantine:
      quarantined_ =
          reaction.reason + (last_failure_.empty() ? "" : " (last: " + last_failure_ + ")");
      restart_at_.reset();
      backend_.reset();
      note(LogLevel::error, "the plugin is quarantined", quarantined_);
      state_changed_();
      break;
    case Reaction::Kind::restart_in_cell:
      recipe_.isolation = Isolation::process;
      log_.warning("hung too often in the host's process and runs in a cell from now on");
      [[fallthrough]];
    case Reaction::Kind::restart:
      restart_at_ = reaction.when;
  }
  changed_.notify_all();
  wake_supervisor();
}

std::weak_ptr<Backend> PluginInstance::serve(Recipe recipe, std::shared_ptr<Backend> backend) {
  std::shared_ptr<Backend> old;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(backend_, retirement_->adopt(std::move(backend)));
    recipe_ = std::move(recipe);
    supervision_ = Supervision(policy_);
    restart_at_.reset();
    quarantined_.clear();
    last_failure_.clear();
    state_changed_();
  }
  changed_.notify_all();
  wake_supervisor();
  return old;
}

PluginState PluginInstance::state_now() const {
  if (!quarantined_.empty()) return PluginState::quarantined;
  return backend_ ? PluginState::active : PluginState::stuck;
}

PluginState PluginInstance::state() const {
  const std::lock_guard lock(mutex_);
  return state_now();
}

InstanceStatus PluginInstance::status() const {
  const std::lock_guard lock(mutex_);
  InstanceStatus status{.instance_id = instance_id_,
                        .state = state_now(),
                        .version = recipe_.version,
                        .isolation = std::string(to_string(recipe_.isolation)),
                        .restarts = supervision_.restarts(),
                        .calls = calls_,
                        .failed_calls = failed_calls_,
                        .last_failure = last_failure_};
  if (status.state == PluginState::quarantined) status.reason = quarantined_;
  if (status.state == PluginState::stuck) status.reason = "being restarted";
  if (backend_) {
    if (const auto pid = backend_->pid()) status.pid = *pid;
  }
  return status;
}

// Waits for the backend's loss, for the time of a restart, or for being woken.
void PluginInstance::supervise() {
  while (true) {
    std::shared_ptr<Backend> watched;
    int timeout = -1;
    {
      const std::lock_guard lock(mutex_);
      if (leaving_) return;
      watched = backend_;
      if (restart_at_) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(*restart_at_ - clock_->steady()).count();
        timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
      }
    }
    pollfd entries[2] = {{wake_.get(), POLLIN, 0}, {watched ? watched->lost_fd() : -1, POLLIN, 0}};
    ::poll(entries, 2, timeout);
    std::uint64_t woken = 0;
    [[maybe_unused]] const auto ignored = ::read(wake_.get(), &woken, sizeof woken);
    if (entries[1].revents != 0) {
      const auto how = watched->how_lost();
      const std::lock_guard lock(mutex_);
      note_outcome(watched, Incident::ended,
                   "the plugin's process ended between calls, " + how.value_or("unknown how"));
    }
    watched.reset();
    restart();
  }
}

void PluginInstance::restart() {
  Recipe recipe;
  {
    const std::lock_guard lock(mutex_);
    if (leaving_ || !restart_at_ || clock_->steady() < *restart_at_) return;
    recipe = recipe_;
  }
  auto made = recipe.make(recipe.isolation);
  const std::lock_guard lock(mutex_);
  if (leaving_ || !restart_at_ || recipe_.sha256 != recipe.sha256)
    return;  // another version serves by now
  restart_at_.reset();
  if (!made) {
    last_failure_ = made.error().message;
    note(LogLevel::warning, "the instance could not be started again", last_failure_);
    return react(supervision_.after_failed_restart(last_failure_, clock_->steady()));
  }
  backend_ = retirement_->adopt(std::move(*made));
  log_.info("the instance is back", {{"restarts", supervision_.restarts()}});
  record_->add_line(clock_->now(), LogLevel::info, "the instance is back");
  state_changed_();
  changed_.notify_all();
}

void PluginInstance::note(LogLevel level, const std::string& what,
                          const std::string& reason) const {
  log_.write(level, what, {{"reason", reason}});
  record_->add_line(clock_->now(), level, what + ": " + reason);
}

void PluginInstance::wake_supervisor() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace muster::plugin_loader
