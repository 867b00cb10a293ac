#include "host/plugin_loader/plugin_changes.hpp"

namespace muster::plugin_loader {

struct PluginSubscription::Listening {
  std::recursive_mutex calling;  // held during a call, which may end its own subscription
  PluginListener* listener = nullptr;
  std::shared_ptr<const PluginSnapshot> last;

  void tell(const std::shared_ptr<const PluginSnapshot>& now);
};

namespace {

template <class Key, class State>
std::vector<Change<State>> new_or_different(const std::map<Key, State>& before,
                                            const std::map<Key, State>& now) {
  std::vector<Change<State>> found;
  for (const auto& [key, state] : now) {
    const auto known = before.find(key);
    if (known == before.end())
      found.push_back({std::nullopt, state});
    else if (known->second != state)
      found.push_back({known->second, state});
  }
  return found;
}

PluginChanges changes_between(const PluginSnapshot& before, const PluginSnapshot& now) {
  PluginChanges changes{new_or_different(before.versions, now.versions),
                        new_or_different(before.instances, now.instances),
                        {}};
  for (const auto& [key, state] : before.instances)
    if (!now.instances.contains(key)) changes.removed_instances.push_back(state);
  return changes;
}

}  // namespace

void PluginSubscription::Listening::tell(const std::shared_ptr<const PluginSnapshot>& now) {
  const std::lock_guard lock(calling);
  if (!listener) return;
  const auto before = std::exchange(last, now);
  if (!before) return listener->plugins_are(*now);
  const PluginChanges changes = changes_between(*before, *now);
  if (!changes.empty()) listener->plugins_changed(*now, changes);
}

void PluginSubscription::end() {
  if (!listening_) return;
  {
    const std::lock_guard lock(listening_->calling);
    listening_->listener = nullptr;
  }
  listening_.reset();
}

PluginChangeFeed::PluginChangeFeed(std::function<PluginSnapshot()> take_snapshot)
    : take_snapshot_(std::move(take_snapshot)), thread_([this] { run(); }) {}

PluginChangeFeed::~PluginChangeFeed() {
  stop();
}

void PluginChangeFeed::stop() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

PluginSubscription PluginChangeFeed::subscribe(PluginListener& listener) {
  auto listening = std::make_shared<PluginSubscription::Listening>();
  listening->listener = &listener;
  {
    const std::lock_guard lock(mutex_);
    listeners_.push_back(listening);
  }
  changed();
  return PluginSubscription(std::move(listening));
}

void PluginChangeFeed::changed() {
  {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
  }
  wake_.notify_all();
}

void PluginChangeFeed::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return dirty_ || leaving_; });
    if (leaving_) return;
    dirty_ = false;
    std::erase_if(listeners_, [](const auto& listening) { return listening.expired(); });
    const auto listeners = listeners_;
    lock.unlock();
    if (!listeners.empty()) {
      const auto now = std::make_shared<const PluginSnapshot>(take_snapshot_());
      for (const auto& weak : listeners)
        if (const auto listening = weak.lock()) listening->tell(now);
    }
    lock.lock();
  }
}

}  // namespace muster::plugin_loader
