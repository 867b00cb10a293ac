// Tells listeners what changes at plugins and their instances, without anybody asking again and
// again.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/json.hpp>

#include "host/plugin_loader/plugin_status.hpp"

namespace muster::plugin_loader {

// One version of a plugin, or a file in a plugin folder that is none.
struct VersionState {
  std::string plugin_id;  // "provider/simulated", or the file's path
  std::string version;
  std::string sha256;
  PluginState state = PluginState::checking;
  std::string reason = {};

  friend bool operator==(const VersionState&, const VersionState&) = default;
};

// One lane of an instance; an instance without `concurrency` has one.
struct InstanceState {
  std::string plugin_id;
  std::string instance_id;                  // as configured
  std::string lane_id;                      // the same, or "ec2#2"
  PluginState state = PluginState::active;  // active, stuck (being restarted), quarantined, or
                                            // rejected: it could not be started
  std::string reason = {};
  std::string version = {};                              // of the plugin, with its content's hash
  std::shared_ptr<const json::object> description = {};  // what that version says of itself

  friend bool operator==(const InstanceState&, const InstanceState&) = default;
};

struct PluginSnapshot {
  std::map<std::pair<std::string, std::string>, VersionState> versions;    // plugin id, sha256
  std::map<std::pair<std::string, std::string>, InstanceState> instances;  // plugin id, lane id
};

template <class State>
struct Change {
  std::optional<State> before;  // nothing: it is new
  State now;
};

// What is new or different, and the instances that are gone, as they were. A version that is gone
// is only missing in the snapshot.
struct PluginChanges {
  std::vector<Change<VersionState>> versions;
  std::vector<Change<InstanceState>> instances;
  std::vector<InstanceState> removed_instances;

  bool empty() const { return versions.empty() && instances.empty() && removed_instances.empty(); }
};

// THREADS: all calls come from one thread of the catalog, which has no other work. They may last,
// and may use the catalog. A state that is over before its turn comes is not told.
class PluginListener {
 public:
  virtual ~PluginListener() = default;
  // The first call: how things are.
  virtual void plugins_are(const PluginSnapshot& now) = 0;
  // What has changed since the call before; never nothing.
  virtual void plugins_changed(const PluginSnapshot& now, const PluginChanges& changes) = 0;
};

// The listener is called while this lives. Its destruction waits for a call that is under way,
// unless the listener itself destroys it; then no further call comes. May outlive the catalog.
class PluginSubscription {
 public:
  PluginSubscription() = default;
  ~PluginSubscription() { end(); }
  PluginSubscription(PluginSubscription&&) = default;
  PluginSubscription& operator=(PluginSubscription&& other) noexcept {
    end();
    listening_ = std::move(other.listening_);
    return *this;
  }

 private:
  friend class PluginChangeFeed;
  struct Listening;
  explicit PluginSubscription(std::shared_ptr<Listening> listening)
      : listening_(std::move(listening)) {}
  void end();

  std::shared_ptr<Listening> listening_;
};

// THREADS: every method from any, but stop() and the destructor not from a listener.
class PluginChangeFeed {
 public:
  // `take_snapshot` is called on the feed's thread.
  explicit PluginChangeFeed(std::function<PluginSnapshot()> take_snapshot);
  ~PluginChangeFeed();
  PluginChangeFeed(const PluginChangeFeed&) = delete;
  PluginChangeFeed& operator=(const PluginChangeFeed&) = delete;

  // `listener` is borrowed for as long as the subscription lives. THREADS: any.
  [[nodiscard]] PluginSubscription subscribe(PluginListener& listener);

  // Something has changed, or may have. Returns at once; may be called with any lock held.
  void changed();

  // Waits for a call that is under way; then no listener is called any more. IDEMPOTENT.
  void stop();

 private:
  void run();

  const std::function<PluginSnapshot()> take_snapshot_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool dirty_ = false, leaving_ = false;
  std::vector<std::weak_ptr<PluginSubscription::Listening>> listeners_;
  std::thread thread_;
};

// For those who may outlive the feed.
inline void note_change(const std::weak_ptr<PluginChangeFeed>& feed) {
  if (const auto alive = feed.lock()) alive->changed();
}

}  // namespace muster::plugin_loader
