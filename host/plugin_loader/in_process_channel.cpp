#include "host/plugin_loader/in_process_channel.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "host/plugin_loader/call_state.hpp"
#include "host/plugin_loader/deadline_mutex.hpp"
#include "lib/base/deadline_context.hpp"

namespace muster::plugin_loader {
namespace {

using Steady = CallState::Steady;

constexpr std::chrono::seconds destroy_budget{5};

// One piece of work for the instance's thread, with a place for its outcome. Shared by both sides:
// either may be the last to let it go.
struct Task {
  Task(std::string_view method, std::string_view request, Steady::time_point deadline,
       const HostServices& services)
      : state(method, request, deadline, services) {}
  CallState state;
  std::optional<Outcome> outcome;
};

// Everything that the thread touches, so that an abandoned one can go on touching it.
struct Worker {
  Worker(std::shared_ptr<const Library> opened, HostServices host,
         std::shared_ptr<CrashRecord> crashes, std::string name)
      : library(std::move(opened)),
        services(std::move(host)),
        crash_record(std::move(crashes)),
        label(std::move(name)) {}

  const std::shared_ptr<const Library> library;  // declared first, let go last
  const HostServices services;
  const std::shared_ptr<CrashRecord> crash_record;
  const std::string label;
  void* instance = nullptr;  // touched by the thread alone

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Task> task;  // given to the thread
  bool creating = true;
  bool leaving = false;
  bool left = false;

  Outcome perform(Task& work) {
    const CrashRecord::Running running(crash_record.get(), label);
    const muster_plugin& plugin = library->plugin();
    return work.state.run([&] {
      return creating ? plugin.create(&work.state.raw(), &instance)
                      : plugin.call(instance, &work.state.raw());
    });
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return leaving || (task && !task->outcome); });
      if (leaving) break;
      const auto work = task;
      lock.unlock();
      Outcome outcome = perform(*work);
      lock.lock();
      work->outcome = std::move(outcome);
      creating = false;
      changed.notify_all();
    }
    lock.unlock();
    destroy();
    lock.lock();
    left = true;
    changed.notify_all();
  }

  void destroy() {
    if (instance == nullptr) return;
    const CrashRecord::Running running(crash_record.get(), label);
    CallState destroying("destroy", "", Steady::now(), services);
    destroying.run([&] { return library->plugin().destroy(instance), MUSTER_OK; });
  }
};

class InProcessChannel final : public Backend {
 public:
  explicit InProcessChannel(std::shared_ptr<Worker> worker)
      : worker_(std::move(worker)), thread_([worker = worker_] { worker->run(); }) {}

  // Waits for destroy(), within reason; a thread that does not come back is abandoned.
  ~InProcessChannel() override {
    bool left = false;
    {
      std::unique_lock lock(worker_->mutex);
      worker_->leaving = true;
      worker_->changed.notify_all();
      left = !stuck_ && worker_->changed.wait_until(lock, Steady::now() + destroy_budget,
                                                    [&] { return worker_->left; });
    }
    left ? thread_.join() : thread_.detach();
  }

  Outcome call(std::string_view method, std::string_view request, const Context& context) override {
    const auto deadline = Steady::now() + context.time_left();
    const DeadlineMutex::Lock lock(calling_, deadline);
    if (!lock)
      return {
          Error::transient("the deadline passed while earlier calls of the instance were served")};
    if (stuck_)
      return {Error::transient("the instance is stuck in an earlier call"), Incident::stuck};
    const auto task = std::make_shared<Task>(method, request, deadline, worker_->services);
    return wait_for(task, deadline, context);
  }

  std::optional<std::string> how_lost() override {
    return stuck_ ? std::optional<std::string>("stuck in a call") : std::nullopt;
  }

 private:
  Outcome wait_for(const std::shared_ptr<Task>& task, Steady::time_point deadline,
                   const Context& context) {
    std::unique_lock lock(worker_->mutex);
    worker_->task = task;
    worker_->changed.notify_all();
    auto give_up = deadline + grace;
    bool cancel_sent = false;
    while (!task->outcome && Steady::now() < give_up) {
      worker_->changed.wait_until(lock, std::min(give_up, Steady::now() + cancel_poll),
                                  [&] { return task->outcome.has_value(); });
      if (task->outcome || cancel_sent || !context.cancelled()) continue;
      cancel_sent = true;
      task->state.cancel();
      give_up = std::min(give_up, Steady::now() + std::max(grace, std::chrono::milliseconds(1000)));
    }
    worker_->task = nullptr;
    if (task->outcome) return std::move(*task->outcome);
    stuck_ = true;
    return {Error::transient(
                "the deadline passed and the plugin did not return; the instance is abandoned"),
            Incident::stuck};
  }

  const std::shared_ptr<Worker> worker_;
  DeadlineMutex calling_;
  std::atomic<bool> stuck_{false};
  std::thread thread_;
};

}  // namespace

Result<std::shared_ptr<Backend>> open_in_process(std::shared_ptr<const Library> library,
                                                 std::string_view config, HostServices services,
                                                 std::chrono::milliseconds create_budget,
                                                 std::shared_ptr<CrashRecord> crash_record,
                                                 std::string label) {
  auto worker = std::make_shared<Worker>(std::move(library), std::move(services),
                                         std::move(crash_record), std::move(label));
  auto channel = std::make_shared<InProcessChannel>(std::move(worker));
  const Outcome created = channel->call("create", config, DeadlineContext(create_budget));
  if (!created.result) return created.result.error();
  return std::shared_ptr<Backend>(std::move(channel));
}

}  // namespace muster::plugin_loader
