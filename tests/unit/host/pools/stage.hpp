// A running service over a fixture and a source that a test changes.
#pragma once

#include <condition_variable>
#include <fstream>

#include <gmock/gmock.h>

#include "host/pools/service.hpp"
#include "lib/base/fake_clock.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

inline const WorkerPoolId build_pool("worker-manager/build");

// A service over a fixture that the test changes from another thread.
class Stage {
 public:
  // `kept`: where the service keeps what served; `has_pools`: whether the fleet has some already.
  explicit Stage(std::unique_ptr<Source> source, fs::path kept = {}, bool has_pools = false) {
    auto started = Service::start(
        {std::move(source), [this] { return provider_context(); },
         [this](const ProviderId& id, const ExpandRequest& request) { return expand(id, request); },
         [this](std::shared_ptr<const fleet::Configuration> next) { accept(std::move(next)); },
         std::make_shared<FakeClock>(), Log(log, LogLevel::debug, LogFormat::text),
         [this](const Status& status) { note(status); }, std::move(kept),
         [has_pools] { return has_pools; }},
        {1h, 20ms, 5ms, {}});
    service = std::move(started.value());
  }

  ~Stage() { service.reset(); }  // its thread uses all of this
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void change_quietly(const std::function<void(Fixture&)>& act) {
    const std::lock_guard lock(mutex_);
    act(fixture_);
  }
  void change(const std::function<void(Fixture&)>& act) {
    change_quietly(act);
    service->providers_changed();
  }

  // The nth configuration that was accepted; waits for it.
  std::shared_ptr<const fleet::Configuration> accepted(std::size_t number) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [&] { return accepted_.size() >= number; }))
      throw std::runtime_error("no configuration in 20 seconds");
    return accepted_[number - 1];
  }
  // The nth status that was told; waits for it.
  Status told(std::size_t number) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [&] { return told_.size() >= number; }))
      throw std::runtime_error("no status in 20 seconds");
    return told_[number - 1];
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return accepted_.size();
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  // Waits until the status is so.
  Status status_when(const std::function<bool(const Status&)>& so) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    for (;;) {
      Status status = service->status();
      if (so(status)) return status;
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("never so");
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, 2ms);
    }
  }

  std::shared_ptr<testing::RecordedLog> log = std::make_shared<testing::RecordedLog>();
  std::unique_ptr<Service> service;

 private:
  ProviderContext provider_context() {
    const std::lock_guard lock(mutex_);
    ++asked_;
    return fixture_.provider_context;
  }
  Result<Expansion> expand(const ProviderId& id, const ExpandRequest& request) {
    const std::lock_guard lock(mutex_);
    return fixture_.expand()(id, request);
  }
  void accept(std::shared_ptr<const fleet::Configuration> next) {
    const std::lock_guard lock(mutex_);
    accepted_.push_back(std::move(next));
    changed_.notify_all();
  }
  void note(const Status& status) {
    const std::lock_guard lock(mutex_);
    told_.push_back(status);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Fixture fixture_;
  int asked_ = 0;  // the providers, for what they offer
  std::vector<std::shared_ptr<const fleet::Configuration>> accepted_;
  std::vector<Status> told_;
};

inline void write(const fs::path& file, const std::string& text) {
  std::ofstream(file.string() + "~") << text;
  fs::rename(file.string() + "~", file);
}

}  // namespace muster::pools
