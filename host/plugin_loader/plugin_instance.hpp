// One configured instance of a plugin, whichever version runs it and however often it had to be
// started again. This is the Channel that the rest of the host holds.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <muster/channel.hpp>

#include "host/plugin_loader/instance_record.hpp"
#include "host/plugin_loader/plugin_status.hpp"
#include "host/plugin_loader/retirement.hpp"
#include "host/plugin_loader/supervision.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/file_descriptor.hpp"
#include "lib/base/log.hpp"

namespace muster::plugin_loader {

// How to make a backend of one version of the plugin.
struct Recipe {
  std::string version;
  std::string sha256;
  Isolation isolation = Isolation::process;
  std::chrono::milliseconds deadline{0};  // no call takes longer, whatever its caller allows
  std::function<Result<std::shared_ptr<Backend>>(Isolation)> make;
};

class PluginInstance final : public Channel {
 public:
  // `state_changed` is called with a lock held, so it must return at once and not call back.
  PluginInstance(std::string instance_id, std::string plugin_id, SupervisionPolicy policy,
                 std::shared_ptr<const Clock> clock, const Log& log,
                 std::shared_ptr<InstanceRecord> record, std::shared_ptr<Retirement> retirement,
                 std::function<void()> state_changed);
  ~PluginInstance() override;

  // Waits for a restart that is under way, if the deadline allows; so a crash costs the call that
  // it hit and no other.
  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context& context) override;
  void answer_was_wrong(std::string_view method, const std::string& why) noexcept override;

  // From now on calls go to this backend; those under way end on the old one. Ends a quarantine.
  // Returns the old one, so that its draining can be watched.
  std::weak_ptr<Backend> serve(Recipe recipe, std::shared_ptr<Backend> backend);

  // Every call from now on fails; those under way may end. Idempotent.
  void stop();

  InstanceStatus status() const;
  // active, stuck (being restarted) or quarantined.
  PluginState state() const;

 private:
  struct Running {
    std::shared_ptr<Backend> backend;
    Isolation isolation;
  };

  std::chrono::milliseconds deadline() const;
  Result<Running> running_by(SteadyTime deadline, const Context& context);
  // All with the lock held.
  PluginState state_now() const;
  void note_outcome(const std::shared_ptr<Backend>& backend, Incident incident,
                    const std::string& what);
  void react(const Reaction& reaction);
  void supervise();
  void restart();
  void wake_supervisor();
  // To the host's log and to the instance's own.
  void note(LogLevel level, const std::string& what, const std::string& reason) const;

  const std::string instance_id_, plugin_id_;
  const SupervisionPolicy policy_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  const std::shared_ptr<InstanceRecord> record_;
  const std::shared_ptr<Retirement> retirement_;
  const std::function<void()> state_changed_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Recipe recipe_;
  std::shared_ptr<Backend> backend_;  // null: being restarted, quarantined, or never served
  Supervision supervision_;
  std::optional<SteadyTime> restart_at_;
  std::string quarantined_;  // the reason, if it is
  std::string last_failure_;
  std::int64_t calls_ = 0, failed_calls_ = 0;
  bool leaving_ = false;

  FileDescriptor
      wake_;  // an eventfd that the supervising thread waits for, beside the backend's lost_fd
  std::thread supervisor_;
};

}  // namespace muster::plugin_loader
